"""Reads the integrator's books during a test, whenever the service changes the state of an order.

Advances of the clock stop at each timer. An order is late if books and ledger differ for longer than the tolerated
time.
"""

from __future__ import annotations

from collections.abc import Callable

from simulator.engine.text.json import JsonObject
from simulator.exploration.judgement.evidence import evidence_of
from simulator.exploration.judgement.judging import Orders, Problem, books_disagree
from simulator.exploration.runs.armed import ArmedWorld
from simulator.exploration.runs.tasks import Document
from simulator.kernel.clock import format_timestamp, parse_duration, parse_timestamp


class Watch:
    """Checks the integrator's books against one world's ledger. `books`: returns the books, or None if they are
    unreadable.
    """

    def __init__(self, one: ArmedWorld, books: Callable[[], list[Document] | None], tolerated_ms: int) -> None:
        self.late: dict[str, Problem] = {}
        self._one = one
        self._books = books
        self._tolerated_ms = tolerated_ms
        self._since: dict[str, int] = {}
        """The time since which an order's books have disagreed, in simulated milliseconds."""
        self._states: list[object] = []

    def rows(self) -> list[Document]:
        """Return the late orders, for the verdict on the run."""
        return [one.row for one in self.late.values()]

    def advance(self, advance: Callable[[Document], JsonObject], body: Document) -> JsonObject:
        """Advance the clock as the request body specifies, by `advance`, and check the books at each timer and whenever
        a difference has lasted too long. Return the result of the whole advance.
        """
        self.look()
        target = self._target(body)
        if target is None:
            receipt = advance(body)
            self.look()
            return receipt
        receipts: list[JsonObject] = []
        while not receipts or self._now_ms() < target:
            receipts.append(advance({"to": format_timestamp(min(target, self._next_ms() or target))}))
            self.look()
        return _joined(receipts)

    def look(self) -> None:
        """Compare the books with the ledger, if an order has changed or a difference has lasted too long."""
        resources = self._one.world.control("GET", "/resources")["data"]
        states: list[object] = [(row["id"], row["status"]) for row in resources if row.get("status")]
        now = self._now_ms()
        waiting = [since for order, since in self._since.items() if order not in self.late]
        is_due = any(now >= since + self._tolerated_ms for since in waiting)
        if states == self._states and not is_due:
            return
        self._states = states
        evidence = {**evidence_of([self._one]), "books": self._books()}
        found = {one.order: one for one in books_disagree(Orders(evidence))}
        self._since = {order: self._since.get(order, now) for order in found}
        for order, since in self._since.items():
            if now - since >= self._tolerated_ms:
                note = f"{found[order].note}, since {format_timestamp(since)}"
                self.late.setdefault(order, found[order]._replace(verdict="late", note=note))

    def _now_ms(self) -> int:
        return parse_timestamp(self._one.world.control("GET", "/clock")["now"])

    def _target(self, body: Document) -> int | None:
        """Return the time at which an advance ends, or None if only the service knows it."""
        if body.get("by") is not None:
            return self._now_ms() + parse_duration(body["by"])
        return None if body.get("to") is None else parse_timestamp(body["to"])

    def _next_ms(self) -> int | None:
        """Return when the next timer fires or a difference will have lasted too long, whichever is earlier."""
        now = self._now_ms()
        timer = self._one.world.control("GET", "/clock")["next_timer_at"]
        times = [since + self._tolerated_ms for order, since in self._since.items() if order not in self.late]
        times += [] if timer is None else [parse_timestamp(timer)]
        return min((time for time in times if time > now), default=None)


def _joined(receipts: list[JsonObject]) -> JsonObject:
    joined: JsonObject = {**receipts[0], **receipts[-1], "from": receipts[0]["from"]}
    for name in ("fired", "events", "deliveries"):
        if isinstance(joined.get(name), list):
            joined[name] = [item for receipt in receipts for item in receipt[name]]
        elif isinstance(joined.get(name), int):
            joined[name] = sum(receipt[name] for receipt in receipts)
    return joined
