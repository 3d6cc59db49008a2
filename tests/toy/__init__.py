"""A service other than the ramp: a library that lends books. The engine's tests use it when they need a service.

`PROVIDER` is the whole service: rooms with two resources, authentication (`desk`), and webhook signatures (`seal`).
`PLAYBOOK` contains the orders that certify creates for its receivers.
"""

from __future__ import annotations

from simulator.certification.service import Flow, Playbook, Step
from simulator.engine import webhooks
from simulator.engine.rows.provider import Provider
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


LENT = (("book", "/books", {"title": "${reference}"}), ("loan", "/loans", {"book_id": "${book.id}"}))
LENDING = Flow("lending", "loan", LENT, (Step(RETURNED.name, "bring_back"),))
PLAYBOOK = Playbook(
    kind="loan",
    path="/loans/",
    exchange=None,
    order=LENDING.order,
    needed="a loan",
    history=LENDING.steps,
    forged={"status": "returned"},
    altered="book_id",
    flows=(LENDING,),
)
