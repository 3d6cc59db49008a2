"""A standing order behind an examination: two runs that truly happen, minutes of the world's clock apart."""

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
    """One run: its event, and the order that it made with what that delivered."""

    event: JsonObject
    order: JsonObject
    amount: Decimal
    currency: str


@dataclass(frozen=True)
class Schedule:
    """A standing order and its two runs; `reference` is its name in the records of the receiver's application."""

    stage: Stage
    id: str
    reference: str
    runs: Sequence[Run]

    @property
    def amount(self) -> Decimal:
        """Amount that both runs delivered together."""
        return sum((run.amount for run in self.runs), Decimal(0))

    @property
    def currency(self) -> str:
        return self.runs[0].currency

    @property
    def names(self) -> tuple[tuple[str, ...], ...]:
        """Sets of names under each of which records may list both runs."""
        made = [run.order for run in self.runs]
        return ((self.id,), *(tuple(str(one[name]) for one in made) for name in ("reference", "id")))

    def reads(self) -> int:
        """Number of journalled GET calls that name the standing order or an order of it."""
        ids = (self.id, *(str(run.order["id"]) for run in self.runs))
        rows = self.stage.control.get("/requests", method="GET", limit=1000)["data"]
        return sum(any(one in f"{row['path']}?{row['query']}" for one in ids) for row in rows)

    def await_read(self, since: int, seconds: float) -> bool:
        """Wait for a read beyond `since`, the count of earlier ones. Return False when none came in this time."""
        deadline = time.monotonic() + seconds
        while self.reads() == since:
            if time.monotonic() > deadline:
                return False
            time.sleep(_POLL_SECONDS)
        return True


def run_twice(stage: Stage, reference: str) -> Schedule:
    """Make a standing order and let it run twice. NoStage when a run does not succeed, Unplayed without such orders."""
    standing = stage.service.examined.standing
    if standing is None:
        raise Unplayed("the service has no standing orders")
    made = standing.run_twice(stage.call, stage.control, reference)
    events = stage.control.get("/events", type=standing.event, object_id=made)["data"]
    if len(events) != 2:
        raise NoStage(f"of two runs of a {standing.noun} {len(events)} succeeded\n{stage.service.needed_world}")
    orders = (standing.order_of(one["data"]["object"]) for one in events)
    return Schedule(stage, made, reference, [_run(stage, *run) for run in zip(events, orders, strict=True)])


def _run(stage: Stage, event: JsonObject, order_id: str) -> Run:
    order = stage.call("GET", f"{stage.service.examined.path}{order_id}")
    return Run(event, order, *stage.service.delivered(order["type"], order))
