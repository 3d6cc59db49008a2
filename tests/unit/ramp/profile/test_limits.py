"""Account limits (decisions M14 and S25)."""

from __future__ import annotations

from decimal import Decimal

import pytest

from simulator.engine.rows.error import ApiError, ControlError
from simulator.kernel.clock import parse_timestamp
from simulator.kernel.journal import Cause
from simulator.kernel.world import World
from simulator.providers.ramp import profile, reference
from tests.support import advance
from tests.unit.ramp.profile.support import act, fresh, get, patch

KES, TZS = reference.FIATS["KES"], reference.FIATS["TZS"]


def maxima(world: World, environment: str = "sandbox") -> tuple[str, str, str]:
    shown = get(world, "/profile/limits", environment)["limits"]
    return shown["per_transaction"]["max"], shown["daily"]["max"], shown["monthly"]["max"]


def usage(world: World, period: str, environment: str = "sandbox") -> tuple[str, str]:
    shown = get(world, "/profile/limits", environment)["limits"][period]
    return shown["used"], shown["remaining"]


def count(world: World, amount: str, fiat: str = "KES", environment: str = "sandbox") -> profile.LimitCharge:
    with world.change(Cause("request", "test")):
        return profile.charge_limits(world, environment, Decimal(amount), fiat)


def release_limits(world: World, charged: profile.LimitCharge | None) -> None:
    with world.change(Cause("request", "test")):
        profile.release_limits(world, "sandbox", charged)


def at(world: World, moment: str) -> None:
    advance(world, parse_timestamp(moment))


def test_limits_of_a_fresh_account() -> None:
    assert get(fresh(), "/profile/limits") == {
        "currency": "KES",
        "limits": {
            "per_transaction": {"max": "1000000.00"},
            "daily": {"max": "3000000.00", "used": "0.00", "remaining": "3000000.00"},
            "monthly": {"max": "20000000.00", "used": "0.00", "remaining": "20000000.00"},
        },
        "resets_at": {"daily": "2026-01-06T00:00:00.000Z", "monthly": "2026-02-01T00:00:00.000Z"},
    }


@pytest.mark.parametrize(
    ("level", "expected"),
    [
        (1, ("150000.00", "300000.00", "1000000.00")),
        (2, ("1000000.00", "3000000.00", "20000000.00")),
        (3, ("5000000.00", "15000000.00", "100000000.00")),
    ],
)
def test_level_sets_its_limits_in_both_environments(level: int, expected: tuple[str, str, str]) -> None:
    """Decisions M14 and S25: the maxima per KYC level."""
    world = fresh()
    act(world, "set_kyc", status="approved", level=level)
    assert maxima(world) == maxima(world, "production") == expected
    assert get(world, "/profile/kyc")["level"] == level


def test_manual_limits_apply_until_a_level_is_set() -> None:
    """Decision S25: a later `set_limits` overrides the level's maxima."""
    world = fresh()
    done = act(world, "set_limits", per_transaction="500.50", daily="600")
    assert done.resource == get(world, "/profile/limits")
    assert maxima(world) == ("500.50", "600.00", "20000000.00")
    assert maxima(world, "production") == ("1000000.00", "3000000.00", "20000000.00")
    act(world, "set_limits", "production", monthly="700")
    assert maxima(world, "production") == ("1000000.00", "3000000.00", "700.00")
    act(world, "set_kyc", status="approved")
    assert maxima(world) == ("500.50", "600.00", "20000000.00")
    act(world, "set_kyc", status="approved", level=3)
    assert maxima(world) == maxima(world, "production") == ("5000000.00", "15000000.00", "100000000.00")
    act(world, "set_limits", daily="600")
    assert maxima(world) == ("5000000.00", "600.00", "100000000.00")


@pytest.mark.parametrize("value", ["-1", "1.005", "abc", "", 5, "1e3", True])
def test_manual_limits_are_decimal_strings(value: object) -> None:
    world = fresh()
    with pytest.raises(ControlError) as refused:
        act(world, "set_limits", per_transaction="5", daily=value)
    assert (refused.value.status, refused.value.code, refused.value.param) == (400, "invalid_parameter", "daily")
    assert maxima(world)[0] == "1000000.00"


def test_maxima_are_shown_in_the_default_currency_at_mid() -> None:
    world = fresh()
    act(world, "set_limits", monthly="777")
    patch(world, {"default_currency": "TZS"})
    shown = get(world, "/profile/limits")
    assert shown["currency"] == "TZS"

    def worth(amount: int) -> str:
        return TZS.format(TZS.round_down(reference.convert_mid(world, "sandbox", Decimal(amount), KES, TZS)))

    assert maxima(world) == (worth(1_000_000), worth(3_000_000), worth(777))


def test_charged_amount_counts_until_day_and_month_end() -> None:
    """Decision M14: daily resets at 00:00 UTC, monthly on the 1st."""
    world = fresh()
    count(world, "1000")
    count(world, "250.50")
    assert usage(world, "daily") == ("1250.50", "2998749.50")
    assert usage(world, "monthly") == ("1250.50", "19998749.50")
    assert usage(world, "daily", "production") == ("0.00", "3000000.00")
    at(world, "2026-01-05T23:59:59.999Z")
    assert usage(world, "daily")[0] == "1250.50"
    at(world, "2026-01-06T00:00:00.000Z")
    assert usage(world, "daily") == ("0.00", "3000000.00")
    assert usage(world, "monthly")[0] == "1250.50"
    assert get(world, "/profile/limits")["resets_at"]["daily"] == "2026-01-07T00:00:00.000Z"
    at(world, "2026-02-01T00:00:00.000Z")
    assert usage(world, "monthly") == ("0.00", "20000000.00")


def test_the_year_ends_like_any_month() -> None:
    world = fresh(now="2026-12-31T12:00:00.000Z")
    assert get(world, "/profile/limits")["resets_at"] == {
        "daily": "2027-01-01T00:00:00.000Z",
        "monthly": "2027-01-01T00:00:00.000Z",
    }


def test_other_currencies_are_charged_at_mid() -> None:
    """Decision M14."""
    world = fresh()
    charged = count(world, "24650", "TZS")
    expected = KES.round_down(reference.convert_mid(world, "sandbox", Decimal(24650), TZS, KES))
    assert charged == ("KES", expected, "2026-01-05", "2026-01")
    assert usage(world, "daily")[0] == KES.format(expected)


def test_usage_follows_a_new_default_currency() -> None:
    world = fresh()
    count(world, "1000")
    patch(world, {"default_currency": "TZS"})
    count(world, "500", "TZS")
    thousand = TZS.round_down(reference.convert_mid(world, "sandbox", Decimal(1000), KES, TZS))
    assert usage(world, "daily")[0] == TZS.format(thousand + 500)


@pytest.mark.parametrize(
    ("limits", "name"),
    [({"per_transaction": "100"}, "per transaction"), ({"daily": "100"}, "daily"), ({"monthly": "100"}, "monthly")],
)
def test_each_limit_is_inclusive_and_refuses_what_is_above(limits: dict[str, str], name: str) -> None:
    world = fresh()
    act(world, "set_limits", **limits)
    with pytest.raises(ApiError) as refused:
        count(world, "100.01")
    assert (refused.value.code, refused.value.status, refused.value.param) == ("amount_too_high", 422, "amount")
    assert name in refused.value.message
    assert usage(world, "daily")[0] == usage(world, "monthly")[0] == "0.00"
    count(world, "100")
    assert usage(world, "daily")[0] == "100.00"


@pytest.mark.parametrize("period", ["daily", "monthly"])
def test_daily_and_monthly_limits_look_at_what_is_used(period: str) -> None:
    world = fresh()
    act(world, "set_limits", **{period: "100"})
    count(world, "60")
    profile.check_amount(world, "sandbox", Decimal("60"), "KES")
    with pytest.raises(ApiError):
        count(world, "40.01")
    count(world, "40")
    assert usage(world, period) == ("100.00", "0.00")


def test_a_quote_is_checked_against_the_maximum_per_transaction_only() -> None:
    world = fresh()
    act(world, "set_limits", per_transaction="100", daily="50")
    profile.check_amount(world, "sandbox", Decimal(100), "KES")
    with pytest.raises(ApiError) as refused:
        profile.check_amount(world, "sandbox", Decimal("100.01"), "KES")
    assert (refused.value.code, refused.value.param) == ("amount_too_high", "amount")


def test_exactly_the_maximum_fits_in_another_default_currency_too() -> None:
    world = fresh()
    patch(world, {"default_currency": "TZS"})
    profile.check_amount(world, "sandbox", Decimal(1_000_000), "KES")
    with pytest.raises(ApiError):
        profile.check_amount(world, "sandbox", Decimal("1000000.01"), "KES")


def test_remaining_is_never_negative() -> None:
    world = fresh()
    count(world, "1000")
    act(world, "set_limits", daily="400", monthly="0")
    assert usage(world, "daily") == ("1000.00", "0.00")
    assert usage(world, "monthly") == ("1000.00", "0.00")


def test_released_charge_is_returned_to_its_day_and_month() -> None:
    world = fresh()
    kept, undone = count(world, "300"), count(world, "200")
    release_limits(world, undone)
    assert usage(world, "daily")[0] == usage(world, "monthly")[0] == "300.00"
    release_limits(world, None)
    assert usage(world, "daily")[0] == "300.00"
    at(world, "2026-01-06T08:00:00.000Z")
    count(world, "50")
    release_limits(world, kept)
    assert usage(world, "daily")[0] == "50.00"
    assert usage(world, "monthly")[0] == "50.00"


def test_whether_an_amount_exceeds_what_is_left_of_the_month() -> None:
    world = fresh()
    act(world, "set_limits", monthly="100")
    count(world, "60")
    assert not profile.would_exceed_monthly(world, "sandbox", Decimal(40), "KES")
    assert profile.would_exceed_monthly(world, "sandbox", Decimal("40.01"), "KES")
    assert not profile.would_exceed_monthly(world, "production", Decimal("40.01"), "KES")
