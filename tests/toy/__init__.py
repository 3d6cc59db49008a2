"""A service that is no ramp: a library that lends books. The engine's tests run on it where they need any service.

`PROVIDER` is all of it: rooms of two resources, who calls (`desk`), and how webhooks are signed (`seal`). `PLAYBOOK` is
what certify plays to its receivers.
"""

from __future__ import annotations

from simulator.certification.service import Ask, Playbook, Step
from simulator.engine import webhooks
from simulator.engine.rows.provider import Provider
from simulator.engine.text.json import JsonObject
from tests.toy.desk import IDENTITY, ROOM
from tests.toy.lending import BOOKS, LOANS, RETURNED
from tests.toy.seal import SIGNING

PROVIDER = Provider(
    "library",
    (ROOM, BOOKS, LOANS, webhooks.ROOM),
    environments={"practice": "/v1", "open": "/open/v1"},
    identity=IDENTITY,
    signing=SIGNING,
)


def _order(call: Ask, reference: str) -> JsonObject:
    return call("POST", "/loans", {"book_id": call("POST", "/books", {"title": reference})["id"]})


PLAYBOOK = Playbook(
    kind="loan",
    path="/loans/",
    sign_in=lambda call, keys: keys["secret_key"],
    order=_order,
    needed="a loan",
    history=(Step(RETURNED.name, "bring_back"),),
    forged={"status": "returned"},
    altered="book_id",
)
