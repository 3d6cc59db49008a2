"""Rates: fixed mid rates with a spread, swaps at the mid rate, and changes to rates (decisions H8, M1, S25).

Only rates that differ from the fixed rates are saved, for each environment. They have the same digits as in responses,
so clients can recalculate every amount exactly.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal

from simulator.engine.worlds.settings import assumes
from simulator.kernel.dataclass import dataclass
from simulator.kernel.fields import Milliseconds
from simulator.kernel.journal import Cause
from simulator.kernel.money import Currency, add, divide_down, multiply, rate_of
from simulator.kernel.store import TableKey
from simulator.kernel.table import Table
from simulator.kernel.world import World
from simulator.providers.ramp.reference.records import ASSETS, FIAT_FACTS, USD_PRICES

RAMP_TYPES = ("onramp", "offramp")
USD = "USD"
"""Only used for prices in the currency listing. No operation accepts US dollars as a fiat currency."""

_SPREAD = {"onramp": Decimal("1.01"), "offramp": Decimal("0.99")}
_BRIDGE = "USDC"
"""The asset that links one fiat currency to another in conversions."""

SMALLEST_RATE = Decimal("1e-18")
LARGEST_RATE = Decimal("1e18")
"""The limits for all rates. Within these limits, all amounts can be formatted."""


@dataclass(frozen=True, slots=True)
class Rate:
    """A rate that was changed: its published value, and the time of its last change."""

    value: Decimal
    changed_at_ms: Milliseconds


RATES = TableKey("rates", Rate, per_environment=True)


@dataclass(frozen=True, slots=True)
class RateChange:
    """A change of rates: those named in `keys` are set to `value`, or all rates are multiplied by it."""

    keys: tuple[str, ...]
    value: Decimal
    at_ms: Milliseconds
    cause: Cause


CHANGES = TableKey("rates.changes", RateChange, per_environment=True)
"""The latest rate changes, oldest first."""
BEFORE = TableKey("rates.before", Decimal, per_environment=True)
"""The rates before the oldest saved change, if they differed from the fixed rates."""
CHANGES_KEPT = 500


def _swap_key(source: Currency, target: Currency) -> str:
    return f"swap:{source.key}:{target.key}"


def cross_rates(prices: Mapping[str, Decimal]) -> dict[str, Decimal]:
    """Return the swap rates between all assets at the given prices, with the keys of `FIXED`."""
    return {
        _swap_key(source, target): rate_of(divide_down(prices[source.code], prices[target.code]))
        for source in ASSETS.values()
        for target in ASSETS.values()
        if source != target
    }


def _fixed_rates() -> dict[str, Decimal]:
    per_usd = {code: fact.per_usd for code, fact in FIAT_FACTS.items()}
    fixed: dict[str, Decimal] = {}
    for code, price in USD_PRICES.items():
        fixed[f"mid:{code}:{USD}"] = rate_of(price)
        for fiat_code, cost in per_usd.items():
            mid = fixed[f"mid:{code}:{fiat_code}"] = rate_of(multiply(price, cost))
            for type_, spread in _SPREAD.items():
                fixed[f"{type_}:{code}:{fiat_code}"] = rate_of(multiply(mid, spread))
    return {**fixed, **cross_rates(USD_PRICES)}


FIXED = _fixed_rates()
"""All rates of a new world, with keys such as `mid:USDC:KES`, `onramp:…`, `offramp:…`, `swap:USDC.stellar:XLM.stellar`.
"""


def _changed(world: World, environment: str) -> Table[Rate]:
    return world.store[RATES.of(environment)]


def _value(world: World, environment: str, key: str) -> Decimal:
    row = _changed(world, environment).get(key)
    return FIXED[key] if row is None else row.value


def ramp_rate(world: World, environment: str, type: str, asset_code: str, fiat_code: str) -> Decimal:
    """Return the published rate of a direction, as fiat per unit of the asset. Raise `KeyError` for an unknown pair."""
    kind = "mid" if assumes(world, "M1", "no_spread") else type
    return _value(world, environment, f"{kind}:{asset_code}:{fiat_code}")


def mid_rate(world: World, environment: str, asset_code: str, fiat_code: str) -> Decimal:
    """Return the rate without spread, as fiat per unit of the asset. Raise `KeyError` if the pair is unknown."""
    return _value(world, environment, f"mid:{asset_code}:{fiat_code}")


def swap_rate(world: World, environment: str, source: Currency, target: Currency) -> Decimal:
    """Return the published rate of a swap, as target per unit of source. Raise `KeyError` if there is none."""
    return _value(world, environment, _swap_key(source, target))


def changed_at_ms(world: World, environment: str, type: str, asset_code: str, fiat_code: str) -> int:
    """Return the time at which a rate last changed, or the start of the world if it never changed."""
    row = _changed(world, environment).get(f"{type}:{asset_code}:{fiat_code}")
    return world.started_at_ms if row is None else row.changed_at_ms


def swap_changed_at_ms(world: World, environment: str, source: Currency, target: Currency) -> int:
    """Return the time at which a swap rate last changed, or the start of the world if it never changed."""
    row = _changed(world, environment).get(_swap_key(source, target))
    return world.started_at_ms if row is None else row.changed_at_ms


def convert_mid(world: World, environment: str, amount: Decimal, source: Currency, target: Currency) -> Decimal:
    """Convert an amount between any two currencies or assets at the mid rate, without rounding."""
    if source.code == target.code:
        return amount
    if source.network is None and target.network is None:
        bridge = mid_rate(world, environment, _BRIDGE, source.code)
        return divide_down(multiply(amount, mid_rate(world, environment, _BRIDGE, target.code)), bridge)
    if target.network is None:
        return multiply(amount, mid_rate(world, environment, source.code, target.code))
    if source.network is None:
        return divide_down(amount, mid_rate(world, environment, target.code, source.code))
    return multiply(amount, swap_rate(world, environment, source, target))


def _note(world: World, environment: str, keys: tuple[str, ...], value: Decimal) -> None:
    """Add a change to the history, before the rates change. Only the latest changes are saved."""
    saved, before = world.store[CHANGES.of(environment)], world.store[BEFORE.of(environment)]
    if not saved.rows:
        for key, row in _changed(world, environment).items():
            before.put(key, row.value)
    number = world.next_sequence(f"rates.changes.{environment}")
    saved.put(str(number), RateChange(keys, value, world.now_ms, world.cause))
    while len(saved) > CHANGES_KEPT:
        number_of_oldest, oldest = next(iter(saved.items()))
        for key in oldest.keys or FIXED:
            before.put(key, _after(oldest, before.get(key) or FIXED[key]))
        saved.delete(number_of_oldest)


def _after(change: RateChange, value: Decimal) -> Decimal:
    return change.value if change.keys else rate_of(multiply(value, change.value))


def rates_over_time(
    world: World, environment: str, asset_code: str, fiat_code: str
) -> Iterator[tuple[int, Mapping[str, Decimal], Cause | None]]:
    """Yield the published rates of a pair over time, oldest first.

    Each item contains the time of a change in milliseconds, the new rates `mid`, `onramp` and `offramp`, and the cause.
    The first item contains the rates before all saved changes and has no cause.
    """
    no_spread = assumes(world, "M1", "no_spread")
    keys = {kind: f"{'mid' if no_spread else kind}:{asset_code}:{fiat_code}" for kind in ("mid", *RAMP_TYPES)}
    changes, before = world.store[CHANGES.of(environment)], world.store[BEFORE.of(environment)]
    first = next(iter(changes.items()), None)
    if first is None:
        present = {kind: _value(world, environment, key) for kind, key in keys.items()}
        yield changed_at_ms(world, environment, "mid", asset_code, fiat_code), present, None
        return
    values = {kind: before.get(key) or FIXED[key] for kind, key in keys.items()}
    yield world.started_at_ms if first[0] == "1" else first[1].at_ms, values, None
    for change in changes.values():
        met = [kind for kind, key in keys.items() if not change.keys or key in change.keys]
        if met:
            values = {kind: _after(change, value) if kind in met else value for kind, value in values.items()}
            yield change.at_ms, values, change.cause


def pin(world: World, environment: str, asset_code: str, fiat_code: str, rate: Decimal, type: str | None) -> None:
    """Set the published rate of a pair in one direction, or in both and the mid rate if `type` is None."""
    kinds = ("mid", *RAMP_TYPES) if type is None else (type,)
    keys = tuple(f"{kind}:{asset_code}:{fiat_code}" for kind in kinds)
    _note(world, environment, keys, rate)
    for key in keys:
        _changed(world, environment).put(key, Rate(rate, world.now_ms))


def pin_swap(world: World, environment: str, source: Currency, target: Currency, rate: Decimal) -> None:
    """Set the published rate of a swap in one direction."""
    key = _swap_key(source, target)
    _note(world, environment, (key,), rate)
    _changed(world, environment).put(key, Rate(rate, world.now_ms))


def put_rates(world: World, environment: str, values: Mapping[str, Decimal]) -> None:
    """Set rates of a new world. Each key in `values` is a key of `FIXED`."""
    for key, value in values.items():
        _changed(world, environment).put(key, Rate(value, world.now_ms))


def move_all(world: World, environment: str, percent: Decimal) -> None:
    """Multiply all rates by 1 + percent/100. Raise `ValueError` if a rate would be outside the valid range."""
    factor = add(Decimal(1), divide_down(percent, Decimal(100)))
    moved = {key: rate_of(multiply(_value(world, environment, key), factor)) for key in FIXED}
    for value in moved.values():
        if not SMALLEST_RATE <= value <= LARGEST_RATE:
            raise ValueError(f"with this change, a rate would not be between {SMALLEST_RATE} and {LARGEST_RATE}")
    _note(world, environment, (), factor)
    table = _changed(world, environment)
    for key, value in moved.items():
        table.put(key, Rate(value, world.now_ms))
