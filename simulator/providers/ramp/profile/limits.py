"""Account limits: the maximum amounts of each KYC level, and their usage in each environment (decision M14).

The fiat amount of each transaction counts, converted into the profile's default currency at the mid rate. Used amounts
are saved by UTC day, month and currency, so a new period starts at zero without a reset.
"""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from functools import lru_cache
from typing import TypeAlias

from simulator.kernel.clock import DAY_MS, to_datetime, to_ms
from simulator.kernel.dataclass import dataclass
from simulator.kernel.money import ZERO, add, subtract
from simulator.kernel.store import TableKey
from simulator.kernel.world import World
from simulator.providers.ramp import reference
from simulator.providers.ramp.profile.records import profile_of
from simulator.providers.ramp.profile.states import AMOUNT_TOO_HIGH

LimitCharge: TypeAlias = tuple[str, Decimal, str, str]
"""An amount that was counted towards the limits: currency, amount, day (2026-01-05) and month (2026-01)."""

LEVEL_CURRENCY = "KES"
PERIODS = ("per_transaction", "daily", "monthly")
LEVEL_MAXIMA: dict[int, tuple[Decimal, Decimal, Decimal]] = {
    1: (Decimal(150_000), Decimal(300_000), Decimal(1_000_000)),
    2: (Decimal(1_000_000), Decimal(3_000_000), Decimal(20_000_000)),
    3: (Decimal(5_000_000), Decimal(15_000_000), Decimal(100_000_000)),
}


@dataclass(frozen=True, slots=True)
class Override:
    """A maximum amount set through `set_limits`, in the currency that was then the profile's default."""

    amount: Decimal
    currency: str


LIMITS = TableKey("limits", Override, per_environment=True)
"""The maximum amounts that were set through `set_limits`, by period."""
USAGE = TableKey("usage", Decimal, per_environment=True)
"""The used amounts, by `period|currency`."""


def maximum(world: World, environment: str, period: str) -> Decimal:
    """Return the maximum amount in the profile's default currency. `period` is per_transaction, daily or monthly."""
    override = world.store[LIMITS.of(environment)].get(period)
    if override is not None:
        return _in_default(world, environment, override.amount, override.currency)
    profile = profile_of(world)
    amount = LEVEL_MAXIMA[profile.kyc_level][PERIODS.index(period)]
    if profile.default_currency == LEVEL_CURRENCY:
        return amount
    return _in_default(world, environment, amount, LEVEL_CURRENCY)


def put_limit(world: World, environment: str, period: str, amount: Decimal, currency: str) -> None:
    """Override the maximum amount for a period."""
    world.store[LIMITS.of(environment)].put(period, Override(amount, currency))


def follow_level(world: World) -> None:
    """Remove all overrides, so that the KYC level's maximum amounts apply again in both environments."""
    for environment in world.environments:
        table = world.store[LIMITS.of(environment)]
        for period in list(table.rows):
            table.delete(period)


def used(world: World, environment: str, period: str) -> Decimal:
    """Return the amount used in the current day or month, in the profile's default currency."""
    day, month = _periods(world)
    prefix = f"{day if period == 'daily' else month}|"
    total = ZERO
    for currency in reference.FIATS:
        amount = world.store[USAGE.of(environment)].get(prefix + currency)
        if amount:
            total = add(total, _in_default(world, environment, amount, currency))
    return total


def remaining(world: World, environment: str, period: str) -> Decimal:
    """Return the limit of the current day or month minus the amount already used, or 0 if more was used."""
    return max(ZERO, subtract(maximum(world, environment, period), used(world, environment, period)))


def resets_at_ms(world: World) -> tuple[int, int]:
    """Return the end of the current day (the next 00:00 UTC) and of the current month (00:00 UTC on the next 1st)."""
    today = to_datetime(world.now_ms).replace(hour=0, minute=0, second=0, microsecond=0)
    next_month = (today.replace(day=1) + timedelta(days=32)).replace(day=1)
    return to_ms(today + timedelta(days=1)), to_ms(next_month)


def check_amount(world: World, environment: str, amount: Decimal, fiat_code: str) -> None:
    """Raise `ApiError` amount_too_high if a fiat amount exceeds the maximum for one transaction."""
    charged = _in_default(world, environment, amount, fiat_code)
    _within(world, environment, "per_transaction", charged, "amount")


def charge_limits(
    world: World, environment: str, amount: Decimal, fiat_code: str, param: str = "amount"
) -> LimitCharge:
    """Check a fiat amount against all limits, add it to the used amounts, and return the charge.

    Pass the charge to `release_limits` if the transaction does not succeed. If the amount exceeds a limit, add nothing
    and raise `ApiError` amount_too_high.
    """
    charged = _in_default(world, environment, amount, fiat_code)
    _within(world, environment, "per_transaction", charged, param)
    for period in ("daily", "monthly"):
        _within(world, environment, period, add(used(world, environment, period), charged), param)
    currency = profile_of(world).default_currency
    day, month = _periods(world)
    _add(world, environment, day, currency, charged)
    _add(world, environment, month, currency, charged)
    return currency, charged, day, month


def would_exceed_monthly(world: World, environment: str, amount: Decimal, fiat_code: str) -> bool:
    """Return True if a fiat amount exceeds the amount that remains this month."""
    return _in_default(world, environment, amount, fiat_code) > remaining(world, environment, "monthly")


def verify(world: World) -> None:
    """Check the limits and usage of a saved world by calculating with them. Raise an error if they are invalid."""
    for environment in world.environments:
        would_exceed_monthly(world, environment, Decimal(1), LEVEL_CURRENCY)


def release_limits(world: World, environment: str, charge: LimitCharge | None) -> None:
    """Subtract an amount from the usage of the day and month in which it was counted, unless `charge` is None."""
    if charge is None:
        return
    currency, amount, day, month = charge
    _add(world, environment, day, currency, -amount)
    _add(world, environment, month, currency, -amount)


def _add(world: World, environment: str, period: str, currency: str, amount: Decimal) -> None:
    table = world.store[USAGE.of(environment)]
    key = f"{period}|{currency}"
    table.put(key, max(ZERO, add(table.get(key) or ZERO, amount)))


def _periods(world: World) -> tuple[str, str]:
    return _day_and_month(world.now_ms // DAY_MS)


@lru_cache(maxsize=64)  # all charges of one day share these strings
def _day_and_month(days: int) -> tuple[str, str]:
    day = to_datetime(days * DAY_MS).strftime("%Y-%m-%d")
    return day, day[:7]


def _in_default(world: World, environment: str, amount: Decimal, fiat_code: str) -> Decimal:
    default = profile_of(world).default_currency
    if fiat_code == default:
        return amount
    source, target = reference.FIATS[fiat_code], reference.FIATS[default]
    return target.round_down(reference.convert_mid(world, environment, amount, source, target))


def _within(world: World, environment: str, period: str, amount: Decimal, param: str) -> None:
    most = maximum(world, environment, period)
    if amount > most:
        shown = f"{most:.2f} {profile_of(world).default_currency}"
        name = period.replace("_", " ")
        raise AMOUNT_TOO_HIGH.error(f"The amount is above the account's {name} limit of {shown}.", param)
