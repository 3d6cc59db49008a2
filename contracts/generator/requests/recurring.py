"""Bodies of recurring payments: withdrawals and sends with their sources, and schedules."""

from __future__ import annotations

from collections.abc import Iterator

from contracts.generator.requests.balance import destinations
from contracts.generator.requests.values import DATE, FIATS, counted, identifier, one, placed, stable_assets
from contracts.generator.requests.variants import Narrower, Variant
from simulator.resources import reference
from simulator.wire.spelling import upper

_ZONE = {
    "type": "string",
    "pattern": r"^[A-Z][A-Za-z0-9_+-]+(/[A-Za-z0-9_+-]+)*$",
    "default": "Africa/Nairobi",
    "examples": ["Africa/Nairobi", "Africa/Lagos", "UTC"],
}


def recurring() -> Iterator[Variant]:
    recipient = {"recipient.beneficiary_id": identifier("ben_")}
    for in_fiat in (False, True):
        for code, network in stable_assets():
            counted_in = counted(FIATS) if in_fiat else counted(code, network)
            title = f"Withdraw {code} {upper(network)}, an amount in {'fiat' if in_fiat else code}"
            fields = {**placed(code, network, "source."), **recipient, **counted_in}
            yield Variant("CreateRecurringWithdraw", title, fields)
    for code, network in reference.ASSETS:
        sent: dict[str, Narrower] = {
            **placed(code, network, "source."),
            **counted(code, network),
            "recipient.destination": tuple(destinations(network)),
        }
        yield Variant("CreateRecurringSendToAddress", f"Send {code} {upper(network)}", sent)


def schedule() -> Iterator[Variant]:
    some_runs = {"type": one("after_occurrences"), "occurrences": {"type": "integer", "minimum": 1}}
    ends = (
        Variant("End", "Never", {"type": one("never")}),
        Variant("End", "On a date", {"type": one("on_date"), "date": DATE}, ("date",)),
        Variant("End", "After so many runs", some_runs, ("occurrences",)),
    )
    titles = {"DailySchedule": "Daily", "WeeklySchedule": "Weekly or biweekly", "MonthlySchedule": "Monthly"}
    for model, title in titles.items():
        yield Variant(model, title, {"end": ends, "timezone": _ZONE, "start_date": DATE})


def restart() -> Iterator[Variant]:
    yield Variant("RestartBody", "RestartBody", {"start_date": {**DATE, "type": ["string", "null"]}})
