"""A service that is no ramp: a library that lends books. The engine's tests run on it where they need any service.

`PROVIDER` is all of it: rooms of two resources, who calls (`desk`), and how webhooks are signed (`seal`).
"""

from __future__ import annotations

from simulator.engine import webhooks
from simulator.engine.rows.provider import Provider
from tests.toy.desk import IDENTITY, ROOM
from tests.toy.lending import BOOKS, LOANS
from tests.toy.seal import SIGNING

PROVIDER = Provider(
    "library",
    (ROOM, BOOKS, LOANS, webhooks.ROOM),
    environments={"sandbox": "/v1", "production": "/production/v1"},
    identity=IDENTITY,
    signing=SIGNING,
)
