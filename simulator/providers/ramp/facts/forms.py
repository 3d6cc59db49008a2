"""Checks the form of facts: which are malformed, and which parts of them the simulator does not use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal, InvalidOperation

from simulator.engine.text.json import JsonObject, Shown
from simulator.engine.text.strict import did_you_mean
from simulator.providers.ramp import profile, reference
from simulator.providers.ramp.facts.reading import RATE, RATE_TYPES, spreads

LISTS = {
    "fee_products": (
        "id", "product", "name", "network", "asset", "fiat_currency", "payment_method", "fee_currency", "percentage",
        "fixed", "min_fee", "max_fee", "network_fee", "limits", "status",
    ),
    "assets": (
        "symbol", "network", "name", "decimals", "status", "price", "min_withdraw", "max_withdraw", "send_fees",
        "deposit_fees", "swap_fees", "buy_fees", "slippage", "confirmations",
    ),
    "networks": ("network", "status", "avg_confirmation_seconds", "network_fee", "assets"),
    "rates": (*RATE, "rate"),
}  # fmt: skip
"""The facts that are lists of objects, each with the fields of an object."""
_OBJECTS = ("limits", "precision", "spread", "currencies", "id_prefixes")
_NAMES = (*LISTS, *_OBJECTS, "unfit")


def wrong_fact(facts: Shown) -> tuple[str, str] | None:
    """Return the path of the first fact that is not in the form of an observed file, and the reason. Return None if
    all facts have the correct form.
    """
    for name, fact in facts.items():
        if name not in _NAMES:
            return name, f"there is no such fact{did_you_mean(name, _NAMES)}"
        if name in _OBJECTS and not isinstance(fact, Mapping):
            return name, "it is not a mapping"
        if name not in _OBJECTS and not isinstance(fact, list):
            return name, "it is not a list"
        for index, row in enumerate(fact if name in LISTS else ()):
            if not isinstance(row, Mapping):
                return f"{name}[{index}]", "it is not a mapping"
    return None


def unused(facts: Shown) -> Iterator[str]:
    """Yield one line for each part of the facts that the simulator does not use."""
    for name, known in LISTS.items():
        for field in sorted({str(field) for row in rows_in(facts, name) for field in row} - set(known)):
            yield f"{name}: the simulator has no field {field}"
    for period in sorted(map(str, object_in(facts, "limits").keys() - {"currency", *profile.PERIODS})):
        yield f"limits: the simulator has no limit {period}"
    yield from _precision(facts)
    yield from _spread(facts)


def rows_in(facts: Shown, name: str) -> list[Shown]:
    """Return the objects in a list of facts, or an empty list if there is no such list."""
    rows = facts.get(name)
    return [row for row in rows if isinstance(row, Mapping)] if isinstance(rows, list) else []


def object_in(facts: Shown, name: str) -> Shown:
    """Return a fact, or an empty mapping if it is not a mapping."""
    fact = facts.get(name)
    return fact if isinstance(fact, Mapping) else {}


def _precision(facts: Shown) -> Iterator[str]:
    listed = {f"{row.get('symbol')} {row.get('network')}": row.get("decimals") for row in rows_in(facts, "assets")}
    for name, digits in object_in(facts, "precision").items():
        symbol, _, network = str(name).partition(" ")
        shipped = reference.LISTINGS.get((symbol, network.lower()))
        if name in listed:
            if digits != listed[name]:
                yield f"precision: {name} is {digits}; in assets it is {listed[name]}"
        elif shipped is None:
            yield f"precision: {name} is not in the simulator"
        elif digits != shipped.decimals:
            yield f"precision: {name} is {digits}; in the simulator it is {shipped.decimals}"


def _spread(facts: Shown) -> Iterator[str]:
    rates: list[JsonObject] = [
        dict(row)
        for row in rows_in(facts, "rates")
        if row.get("type") in RATE_TYPES and {*RATE, "rate"} <= row.keys() and isinstance(row["rate"], str)
    ]
    computed = dict(spreads(rates))
    for pair, value in object_in(facts, "spread").items():
        if pair not in computed:
            yield f"spread: {pair} is {value}, but the facts contain no rates of this pair"
        elif finite(value) != Decimal(computed[pair]):
            yield f"spread: {pair} is {value}; the rates result in {computed[pair]}"


def finite(value: object) -> Decimal | None:
    """Read a JSON number or a string as a number. Return None if that is impossible."""
    try:
        number = Decimal(str(value))
    except InvalidOperation:
        return None
    return number if number.is_finite() else None
