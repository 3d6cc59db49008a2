"""Bodies of recurring payments: withdrawals and sends with their sources, and schedules."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from contracts.generator.requests.balance import destinations, side
from contracts.generator.requests.words import (
    DATE,
    FIAT_DECIMALS,
    FIATS,
    amount,
    decimals_of,
    identifier,
    inner,
    narrow,
    one,
    some,
    stable_assets,
)
from contracts.generator.schemas import Components, Schema, any_of, mark
from simulator.resources import reference
from simulator.wire.spelling import upper


def _payout_sides(network_spelled: Callable[[str, str], Mapping[str, Schema]]) -> list[tuple[str, dict[str, Schema]]]:
    """What is withdrawn and which side the amount is on: in the stablecoin, or in a fiat currency."""
    sides: list[tuple[str, dict[str, Schema]]] = []
    for code, network in stable_assets():
        sides.append(
            (
                f"{code} {upper(network)}, an amount in {code}",
                {
                    **network_spelled(code, network),
                    "amount": amount(decimals_of(network)),
                    "amount_currency": one(code),
                },
            )
        )
    for code, network in stable_assets():
        sides.append(
            (
                f"{code} {upper(network)}, an amount in fiat",
                {
                    **network_spelled(code, network),
                    "amount": amount(FIAT_DECIMALS),
                    "amount_currency": some(FIATS),
                },
            )
        )
    return sides


def recurring(components: Components) -> Schema:
    recipient = inner(components, "BeneficiaryRecipient", {"beneficiary_id": identifier("ben_")})
    withdraw = components.of("CreateRecurringWithdraw")

    def source(code: str, network: str) -> Mapping[str, Schema]:
        return {"source": side(components, "Source", code, network), "recipient": recipient}

    variants = [narrow(withdraw, f"Withdraw {title}", fields) for title, fields in _payout_sides(source)]
    send = components.of("CreateRecurringSendToAddress")
    for code, network in reference.ASSETS:
        fields = {
            "source": side(components, "Source", code, network),
            "amount": amount(decimals_of(network)),
            "amount_currency": one(code),
            "recipient": {
                "type": "object",
                "properties": {"destination": mark(destinations(components, network), "Send")},
                "required": ["destination"],
            },
        }
        variants.append(narrow(send, f"Send {code} {upper(network)}", fields))
    return any_of(variants)


_ZONE = {
    "type": "string",
    "pattern": r"^[A-Z][A-Za-z0-9_+-]+(/[A-Za-z0-9_+-]+)*$",
    "default": "Africa/Nairobi",
    "examples": ["Africa/Nairobi", "Africa/Lagos", "UTC"],
}


def schedule(components: Components) -> Schema:
    end = components.of("End")
    marked = components.of("DailySchedule")["properties"]["end"]
    ends = {
        "anyOf": [
            narrow(end, "Never", {"type": one("never")}),
            narrow(end, "On a date", {"type": one("on_date"), "date": DATE}, ("date",)),
            narrow(
                end,
                "After so many runs",
                {"type": one("after_occurrences"), "occurrences": {"type": "integer", "minimum": 1}},
                ("occurrences",),
            ),
        ],
        **{name: member for name, member in marked.items() if name.startswith("x-")},
    }
    titles = {"DailySchedule": "Daily", "WeeklySchedule": "Weekly or biweekly", "MonthlySchedule": "Monthly"}
    fields = {"end": ends, "timezone": _ZONE, "start_date": DATE}
    return any_of([narrow(components.of(name), title, fields) for name, title in titles.items()])


def restart(components: Components) -> Schema:
    return narrow(components.of("RestartBody"), "RestartBody", {"start_date": {**DATE, "type": ["string", "null"]}})
