"""A recurring order that runs twice, a few minutes apart in simulated time."""

from __future__ import annotations

import time
from collections.abc import Sequence
from decimal import Decimal

from simulator.certification.stage import NoStage, Stage, Unplayed
from simulator.engine.text.json import JsonObject
from simulator.kernel.dataclass import dataclass

_POLL_SECONDS = 0.05


@dataclass(frozen=True)
class Run:
    """One run of a recurring order, with its event, the order that it created, and the delivered amount."""

    event: JsonObject
    order: JsonObject
    amount: Decimal
    currency: str


@dataclass(frozen=True)
class Schedule:
    """A recurring order that has run twice."""

    stage: Stage
    id: str
    reference: str
    """The order's name in the application's records."""
    runs: Sequence[Run]

    @property
    def amount(self) -> Decimal:
        """The sum of the amounts that the two runs paid."""
        return sum((run.amount for run in self.runs), Decimal(0))

    @property
    def currency(self) -> str:
        return self.runs[0].currency

    @property
    def names(self) -> tuple[tuple[str, ...], ...]:
        """The names that records may use for the runs: the recurring order's id, both references, or both order ids."""
        made = [run.order for run in self.runs]
        return ((self.id,), *(tuple(str(one[name]) for one in made) for name in ("reference", "id")))

    def reads(self) -> int:
        """Return the number of GET calls for the recurring order or for an order that it created."""
        ids = (self.id, *(str(run.order["id"]) for run in self.runs))
        rows = self.stage.control.get("/requests", method="GET", limit=1000)["data"]
        return sum(any(one in f"{row['path']}?{row['query']}" for one in ids) for row in rows)

    def await_read(self, since: int, seconds: float) -> bool:
        """Wait until `reads()` returns a number other than `since`. Return False after `seconds`."""
        deadline = time.monotonic() + seconds
        while self.reads() == since:
            if time.monotonic() > deadline:
                return False
            time.sleep(_POLL_SECONDS)
        return True


def run_twice(stage: Stage, reference: str) -> Schedule:
    """Create a recurring order and let it run twice.

    Raise `NoStage` if a run fails, and `Unplayed` if the service does not support recurring orders.
    """
    standing = stage.service.playbook.standing
    if standing is None:
        raise Unplayed("the service does not offer standing orders")
    made = standing.run_twice(stage.call, stage.control, reference)
    events = stage.control.get("/events", type=standing.event, object_id=made)["data"]
    if len(events) != 2:
        raise NoStage(f"only {len(events)} of two runs of a {standing.noun} succeeded\n{stage.service.needed_world}")
    orders = (standing.order_of(one["data"]["object"]) for one in events)
    return Schedule(stage, made, reference, [_run(stage, *run) for run in zip(events, orders, strict=True)])


def _run(stage: Stage, event: JsonObject, order_id: str) -> Run:
    order = stage.call("GET", f"{stage.service.playbook.path}{order_id}")
    return Run(event, order, *stage.service.delivered(order["type"], order))
