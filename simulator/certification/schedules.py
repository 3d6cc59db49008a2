"""A recurring payment behind an examination: two runs that truly happen, minutes of the world's clock apart."""

from __future__ import annotations

import time
from collections.abc import Sequence
from decimal import Decimal

from simulator.certification.stage import NEEDED_WORLD, NoStage, Stage
from simulator.engine.text.json import JsonObject
from simulator.kernel.clock import MINUTE_MS, format_timestamp, parse_timestamp
from simulator.kernel.dataclass import dataclass

_SYMBOL, _NETWORK, _AMOUNT = "XLM", "STELLAR", Decimal(1)
_RECIPIENT = {"destination": {"type": "platform_user", "email": "amina@example.test"}}
"""A transfer inside the service is completed at once, so no action has to settle it."""
_POLL_SECONDS = 0.05


@dataclass(frozen=True)
class Run:
    """One run: its event, and the transaction that it made."""

    event: JsonObject
    transaction: JsonObject


@dataclass(frozen=True)
class Schedule:
    """A recurring payment and its two runs; `reference` is its name in the records of the receiver's application."""

    stage: Stage
    id: str
    reference: str
    runs: Sequence[Run]

    @property
    def amount(self) -> Decimal:
        """Amount that both runs delivered together."""
        return sum((Decimal(run.transaction["net_amount"]) for run in self.runs), Decimal(0))

    @property
    def currency(self) -> str:
        return _SYMBOL

    @property
    def names(self) -> tuple[tuple[str, ...], ...]:
        """Sets of names under each of which records may list both runs."""
        made = [run.transaction for run in self.runs]
        return ((self.id,), *(tuple(str(one[name]) for one in made) for name in ("reference", "id")))

    def reads(self) -> int:
        """Number of journalled GET calls that name the recurring payment or a transaction of it."""
        ids = (self.id, *(str(run.transaction["id"]) for run in self.runs))
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
    """Create a recurring payment, let it run twice and pause it. NoStage when a run does not succeed.

    Between the runs the schedule moves by a minute, so the clock of a running world advances by two minutes at most.
    """
    _afford(stage)
    body = {
        "name": "Certify", "type": "send", "source": {"symbol": _SYMBOL, "network": _NETWORK}, "amount": str(_AMOUNT),
        "amount_currency": _SYMBOL, "recipient": _RECIPIENT, "reference": reference,
    }  # fmt: skip
    payment = str(stage.call("POST", "/recurring-payments", body)["id"])
    path = f"/recurring-payments/{payment}"
    for start in ("activate", "restart"):
        _in_a_minute(stage, path)
        due = stage.call("POST", f"{path}/{start}")["next_run_at"]
        stage.control.post("/clock/advance", {"to": due})
        stage.call("POST", f"{path}/pause")
    events = stage.control.get("/events", type="recurring_payment.run_succeeded", object_id=payment)["data"]
    if len(events) != 2:
        raise NoStage(f"of two runs of a recurring payment {len(events)} succeeded\n{NEEDED_WORLD}")
    made = [one["data"]["object"]["run"]["transaction_id"] for one in events]
    runs = [Run(one, stage.call("GET", f"/transactions/{name}")) for one, name in zip(events, made, strict=True)]
    return Schedule(stage, payment, reference, runs)


def _afford(stage: Stage) -> None:
    """Top the balance up to what two runs cost, where it is lower."""
    assets = stage.call("GET", "/wallet/assets?size=100")["data"]
    held = next(Decimal(one["available"]) for one in assets if (one["symbol"], one["network"]) == (_SYMBOL, _NETWORK))
    if held < 2 * _AMOUNT:
        parameters = {"symbol": _SYMBOL, "network": _NETWORK, "amount": str(2 * _AMOUNT)}
        stage.control.post("/actions/set_balance", {"parameters": parameters})


def _in_a_minute(stage: Stage, path: str) -> None:
    """Plan the next run for the next full minute of the world's clock."""
    due = format_timestamp(parse_timestamp(stage.control.get("/clock")["now"]) + MINUTE_MS)
    schedule = {"frequency": "daily", "start_date": due[:10], "time": due[11:16], "timezone": "UTC"}
    stage.call("PUT", f"{path}/schedule", {**schedule, "end": {"type": "never"}})
    stage.call("GET", f"{path}/review")
