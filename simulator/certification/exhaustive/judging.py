"""The application's records of one payment order: their canonical form, and the verdicts on them."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from simulator.certification.sources import Line, read_books, settle, wait_for_queue
from simulator.engine.text.json import JsonObject
from simulator.exploration.judgement.judging import Orders, books_disagree
from simulator.kernel.dataclass import dataclass

APART_SECONDS = 0.2
"""The interval between two reads. If both are equal, background work has finished and the records are final."""
QUEUE_SECONDS = 10.0
"""How long the application's queue may take to become empty."""
Names = tuple[str, ...]
"""The names that the records may use for an order: its reference and its id."""


@dataclass
class Books:
    """The application's records and its reconciliation job."""

    source: str | None
    """The source of the records, or None to judge the responses alone."""
    job: str | None
    variables: Mapping[str, str]
    seconds: float
    """How long to wait for the records to stop changing."""
    quiesce: str | None = None
    """The check whether the application's queue is empty."""
    queue_seconds: float = QUEUE_SECONDS
    is_prompt: bool = False
    """True if the application has finished its work when it responds, so that one read is enough."""

    def read(self) -> list[Line]:
        return [] if self.source is None else read_books(self.source, self.variables)

    def calm(self) -> list[Line]:
        """Return the records after the application's queue is empty. Without `--quiesce`, wait until they no longer
        change.
        """
        if self.quiesce is not None:
            wait_for_queue(self.quiesce, self.variables, self.queue_seconds)
        found = self.read()
        if self.is_prompt or self.quiesce is not None or self.source is None:
            return found
        deadline = time.monotonic() + self.seconds
        while time.monotonic() < deadline:
            time.sleep(APART_SECONDS)
            before, found = found, self.read()
            if found == before:
                break
        return found

    def settle(self) -> None:
        if self.job:
            settle(self.job, self.variables)


def of_order(lines: Sequence[Line], names: Names) -> list[Line]:
    """Return the records whose order has one of these names."""
    return [line for line in lines if line.order in names]


def canonical(lines: Sequence[Line], names: Names) -> str:
    """Return the records of an order as a string without ids, to compare the records of different orders."""
    shown = (f"{line.state} {line.amount.normalize():f} {line.currency}".strip() for line in of_order(lines, names))
    return "; ".join(sorted(shown))


def wrong_with(row: JsonObject, lines: Sequence[Line], names: Names) -> list[tuple[str, str]]:
    """Return the errors in the records of an order, as pairs of a verdict of `rampsim explore` and a note."""
    name = row["reference"]
    books = [
        {"order": name, "state": line.state, "amount": f"{line.amount:f}", "currency": line.currency}
        for line in of_order(lines, names)
    ]
    orders = Orders({"transactions": [row], "standing": [], "books": books})
    return [(one.verdict, one.note.removeprefix(f"{name}: ")) for one in books_disagree(orders)]
