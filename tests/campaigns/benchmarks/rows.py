"""The rows of the table: each has a measured quantity, its unit and its target."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Against = Literal["twin", "value", "growth"]
"""What is held to the bound: the ratio to the twin's figure, the figure itself, or the figure at the largest size as a
multiple of that at the smallest."""


@dataclass(frozen=True)
class Row:
    """One row.

    `scene` is the module of `scenes` that measures it. `sizes` says what the figure is measured at several numbers of.
    `bound_by` says of a row that is not met what bounds it.
    """

    name: str
    what: str
    unit: str
    scene: str
    against: Against
    bound: float
    better: Literal["more", "less"] = "less"
    sizes: str = ""
    bound_by: str = ""

    @property
    def goal(self) -> str:
        """The goal in words."""
        side = "at least" if self.better == "more" else "at most"
        if self.against == "twin":
            return f"{side} {self.bound:g} × the twin's"
        if self.against == "growth":
            return f"{side} {self.bound:g} × that at the smallest"
        return f"{side} {self.bound:,g} {self.unit}"


_STORED = "transactions stored"
_PER_CALL = "ms a call"

ROWS = (
    Row("start", "process start to the first created quote", "s", "start", "twin", 1.35),
    Row("memory-start", "memory after start and the first quote", "MB", "start", "value", 48),
    Row(
        "create",
        "POST /v1/quotes, 16 connections",
        "calls/s",
        "requests",
        "twin",
        0.6,
        "more",
        bound_by="some 430 calls a quote, none above a twelfth",
    ),
    Row(
        "read",
        "GET /v1/quotes/{id}, 16 connections",
        "calls/s",
        "requests",
        "twin",
        0.6,
        "more",
    ),
    Row(
        "deliveries",
        "webhook deliveries to 16 endpoints",
        "deliveries/s",
        "deliveries",
        "twin",
        0.6,
        "more",
        bound_by="a connection for each delivery, as its Connection: close says",
    ),
    Row(
        "deliveries-apart",
        "the same beside a loop that connects each time",
        "deliveries/s",
        "deliveries",
        "twin",
        0.6,
        "more",
    ),
    Row("memory-ramp", "memory per completed ramp, journals full", "KB", "ramps", "value", 6),
    Row("snapshot", "snapshot of 10,000 ramps", "ms", "ramps", "value", 10),
    Row("restore", "restore of 10,000 ramps", "ms", "ramps", "value", 50),
    Row("memory-run", "memory per recurring run", "KB", "stored", "value", 6),
    Row(
        "advance",
        "one advance over 52,000 weekly runs",
        "runs/s",
        "advance",
        "value",
        5_000,
        "more",
        bound_by="some 900 Python calls a run, none above a twelfth",
    ),
    Row("advance-linear", "cost of a run in that advance", "ms a run", "advance", "growth", 1.25, sizes="runs"),
    Row("advance-answer", "worst answer to another call meanwhile", "ms", "advance", "value", 50),
    Row("list-status", "transactions of a status", _PER_CALL, "stored", "growth", 1.5, sizes=_STORED),
    Row("list-sort", "transactions by amount", _PER_CALL, "stored", "growth", 1.5, sizes=_STORED),
    Row("list-nothing", "a list that matches nothing", _PER_CALL, "stored", "growth", 1.5, sizes=_STORED),
    Row("search", "search at 100,000 transactions", _PER_CALL, "stored", "value", 10, sizes=_STORED),
    Row("events", "/_simulator/events?limit=100", _PER_CALL, "stored", "growth", 1.5, sizes="events stored"),
    Row("events-found", "the same by type, by object", _PER_CALL, "stored", "growth", 1.5, sizes="events stored"),
    Row("advice", "/_simulator/advice, journals full", _PER_CALL, "stored", "value", 50, sizes=_STORED),
    Row("coverage", "/_simulator/coverage", _PER_CALL, "stored", "growth", 1.5, sizes=_STORED),
    Row("ledger", "/_simulator/ledger?entries=100", _PER_CALL, "stored", "growth", 1.5, sizes=_STORED),
    Row("growth-create", "POST /v1/quotes", _PER_CALL, "stored", "growth", 1.5, sizes=_STORED),
    Row("growth-confirm", "POST /v1/quotes/{id}/confirm", _PER_CALL, "stored", "growth", 1.5, sizes=_STORED),
    Row("growth-action", "POST /_simulator/actions/payment_arrives", _PER_CALL, "stored", "growth", 1.5, sizes=_STORED),
    Row("growth-read", "GET /v1/transactions/{id}", _PER_CALL, "stored", "growth", 1.5, sizes=_STORED),
    Row("growth-list", "GET /v1/transactions", _PER_CALL, "stored", "growth", 1.5, sizes=_STORED),
    Row("world", "new world over HTTP", "ms", "worlds", "value", 1),
    Row("reset", "reset over HTTP", "ms", "worlds", "value", 1),
    Row("idle-worlds", "memory of 1,000 idle worlds", "MB", "worlds", "value", 40),
    Row("seed", "a history of 90 days with 40 orders each", "s", "worlds", "value", 10),
    Row("memory-calls", "memory after calls that create nothing", "MB", "calls", "growth", 1.05, sizes="calls taken"),
)

SCENES = tuple(dict.fromkeys(row.scene for row in ROWS))
