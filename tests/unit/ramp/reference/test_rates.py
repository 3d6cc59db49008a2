"""Rates: fixed mid rates with a spread, pins and moves, conversions, and the responses of `GET /rates` and the
overview.
"""

from __future__ import annotations

from decimal import Decimal
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.engine.rows.error import ApiError, ControlError
from simulator.kernel.money import inverse_of, rate_of
from simulator.kernel.world import World
from simulator.providers.ramp.reference import (
    ASSET_CODES,
    ASSETS,
    FIATS,
    ROOM,
    convert_mid,
    ramp_rate,
    shapes,
    swap_rate,
)
from simulator.providers.ramp.reference.rates import mid_rate
from tests.support import START, act, advance, event_types, find_operation, invoke, make_world

ROOMS = (ROOM,)
RATES = find_operation(ROOMS, "GET", "/rates")
USDC, XLM, BTC = ASSETS["USDC", "stellar"], ASSETS["XLM", "stellar"], ASSETS["BTC", "bitcoin"]
KES, NGN = FIATS["KES"], FIATS["NGN"]
PAIR = {"type": "onramp", "network": "stellar", "asset": "USDC", "fiat_currency": "KES"}


@pytest.fixture
def world() -> World:
    return make_world(ROOM)


def figures(world: World, environment: str = "sandbox") -> dict[str, Decimal]:
    """Every rate by a name of its own."""
    found = {}
    shown: Any = shapes.all_rates(world, environment)
    for kind, rows in shown.items():
        for row in rows:
            names = (row["from"], row["to"]) if kind == "swap" else (row["asset"], row["fiat_currency"])
            found[f"{kind} {names}"] = Decimal(row["rate"])
    return found


def set_rate(world: World, **values: Any) -> Any:
    return act(world, ROOMS, "set_rate", **values).resource


class TestAFreshWorld:
    def test_the_dollar_costs_what_the_table_says(self, world: World) -> None:
        assert mid_rate(world, "sandbox", "USDC", "KES") == Decimal("129.30")

    @pytest.mark.parametrize("code", ASSET_CODES)
    @pytest.mark.parametrize("fiat_code", FIATS)
    def test_the_spread_is_one_percent_to_each_side(self, world: World, code: str, fiat_code: str) -> None:
        """Decision M1."""
        mid = mid_rate(world, "sandbox", code, fiat_code)
        assert ramp_rate(world, "sandbox", "onramp", code, fiat_code) == rate_of(mid * Decimal("1.01"))
        assert ramp_rate(world, "sandbox", "offramp", code, fiat_code) == rate_of(mid * Decimal("0.99"))

    def test_crosses_are_consistent_in_every_fiat_currency(self, world: World) -> None:
        for source, target in permutations(ASSETS.values(), 2):
            rate = swap_rate(world, "sandbox", source, target)
            for fiat_code in FIATS:
                across = mid_rate(world, "sandbox", source.code, fiat_code) / mid_rate(
                    world, "sandbox", target.code, fiat_code
                )
                assert abs(across / rate - 1) < Decimal("1e-8")

    def test_no_rate_has_more_than_ten_significant_digits(self, world: World) -> None:
        assert all(rate_of(rate) == rate for rate in figures(world).values())

    def test_fixed_rates_are_not_stored(self, world: World) -> None:
        figures(world)
        assert world.store.tables() == {}

    def test_the_overview_has_every_pair_and_every_direction(self, world: World) -> None:
        """Decision M1: mid, onramp, offramp and swap rates."""
        shown = shapes.all_rates(world, "sandbox")
        assert len(shown["mid"]) == len(shown["onramp"]) == len(shown["offramp"]) == 30
        assert len(shown["swap"]) == 42
        assert shown["mid"][5] == {"asset": "USDC", "fiat_currency": "KES", "rate": "129.3", "updated_at": START}
        assert shown["swap"][0] == {
            "from": {"symbol": "XLM", "network": "STELLAR"},
            "to": {"symbol": "USDC", "network": "STELLAR"},
            "rate": "0.214",
            "updated_at": START,
        }


class TestConversion:
    def test_converts_at_mid_in_any_direction(self, world: World) -> None:
        def convert(amount: str, source: Any, target: Any) -> Decimal:
            return convert_mid(world, "sandbox", Decimal(amount), source, target)

        assert convert("10", USDC, KES) == 1293
        assert convert("1293", KES, USDC) == 10
        assert convert("129.30", KES, NGN) == Decimal("1438.5")
        assert convert("100", XLM, USDC) == Decimal("21.4")
        assert convert("7", KES, KES) == 7
        assert convert("7", USDC, ASSETS["USDC", "celo"]) == 7
        assert convert("1", BTC, USDC) == 90250

    def test_an_asset_is_worth_the_same_on_every_network(self, world: World) -> None:
        act(world, ROOMS, "move_rates", percent=10)
        assert convert_mid(world, "sandbox", Decimal(7), USDC, ASSETS["USDC", "celo"]) == 7

    def test_follows_a_pinned_mid(self, world: World) -> None:
        set_rate(world, asset="USDC", fiat_currency="KES", rate="200")
        assert convert_mid(world, "sandbox", Decimal(1), USDC, KES) == 200
        assert convert_mid(world, "sandbox", Decimal(200), KES, NGN) == Decimal("1438.5")


class TestGetRates:
    def test_shows_the_rate_that_a_quote_would_lock(self, world: World) -> None:
        assert invoke(world, RATES, query=PAIR) == {
            **PAIR,
            "rate": "130.593",
            "inverse_rate": "0.007657378267",
            "updated_at": START,
        }

    @pytest.mark.parametrize("type_", ["onramp", "offramp"])
    @pytest.mark.parametrize(("network", "codes"), [("stellar", ("XLM", "USDC")), ("celo", ("CELO", "CUSD"))])
    @pytest.mark.parametrize("fiat_code", FIATS)
    def test_the_inverse_is_one_by_the_rate(
        self, world: World, type_: str, network: str, codes: tuple[str, ...], fiat_code: str
    ) -> None:
        for code in codes:
            query = {"type": type_, "network": network, "asset": code, "fiat_currency": fiat_code}
            shown = invoke(world, RATES, query=query)
            assert Decimal(shown["rate"]) == ramp_rate(world, "sandbox", type_, code, fiat_code)
            assert Decimal(shown["inverse_rate"]) == inverse_of(Decimal(shown["rate"]))

    @pytest.mark.parametrize("name", PAIR)
    def test_needs_all_four_parameters(self, world: World, name: str) -> None:
        """Decision H4: `invalid_request` on GET /rates."""
        for query in ({key: value for key, value in PAIR.items() if key != name}, PAIR | {name: ""}):
            with pytest.raises(ApiError) as refusal:
                invoke(world, RATES, query=query)
            assert (refusal.value.code, refusal.value.status, refusal.value.param) == ("invalid_request", 400, name)

    @pytest.mark.parametrize(
        ("change", "code", "param"),
        [
            ({"type": "buy"}, "invalid_request", "type"),
            ({"network": "bitcoin"}, "invalid_request", "network"),
            ({"network": "STELLAR"}, "invalid_request", "network"),
            ({"asset": "CUSD"}, "unsupported_pair", "asset"),
            ({"asset": "BTC"}, "unsupported_pair", "asset"),
            ({"asset": "usdc"}, "unsupported_pair", "asset"),
            ({"fiat_currency": "USD"}, "unsupported_pair", "fiat_currency"),
            ({"fiat_currency": "kes"}, "unsupported_pair", "fiat_currency"),
        ],
    )
    def test_refuses_what_does_not_exist(self, world: World, change: dict[str, str], code: str, param: str) -> None:
        """Decision H5: malformed values and unsupported pairs of GET /rates."""
        with pytest.raises(ApiError) as refusal:
            invoke(world, RATES, query=PAIR | change)
        assert (refusal.value.code, refusal.value.param) == (code, param)
        assert code in RATES.errors


class TestSetRate:
    def test_pins_both_types_and_the_mid_on_every_network(self, world: World) -> None:
        before = figures(world)
        shown = set_rate(world, asset="USDC", fiat_currency="KES", rate="129.41")
        assert shown == {
            "asset": "USDC",
            "fiat_currency": "KES",
            "mid": "129.41",
            "onramp": "129.41",
            "offramp": "129.41",
        }
        for network in ("stellar", "celo"):
            for type_ in ("onramp", "offramp"):
                shown = invoke(world, RATES, query=PAIR | {"network": network, "type": type_})
                assert shown["rate"] == "129.41"
        changed = {name for name, rate in figures(world).items() if rate != before[name]}
        assert changed == {f"{kind} ('USDC', 'KES')" for kind in ("mid", "onramp", "offramp")}
        assert event_types(world) == []

    def test_pins_one_type_alone(self, world: World) -> None:
        before = figures(world)
        set_rate(world, asset="USDC", fiat_currency="KES", rate="131", type="onramp")
        changed = {name: rate for name, rate in figures(world).items() if rate != before[name]}
        assert changed == {"onramp ('USDC', 'KES')": 131}

    def test_pins_one_swap_direction_alone(self, world: World) -> None:
        before = figures(world)
        sides = {"from": {"symbol": "USDC", "network": "STELLAR"}, "to": {"symbol": "BTC", "network": "BITCOIN"}}
        shown = set_rate(world, **sides, rate="0.00002")
        assert shown == {**sides, "rate": "0.00002", "updated_at": START}
        changed = {name: rate for name, rate in figures(world).items() if rate != before[name]}
        assert list(changed.values()) == [Decimal("0.00002")]
        assert swap_rate(world, "sandbox", USDC, BTC) == Decimal("0.00002")

    def test_leaves_the_other_environment_alone(self, world: World) -> None:
        before = figures(world, "production")
        set_rate(world, asset="BTC", fiat_currency="NGN", rate="5")
        assert figures(world, "production") == before

    def test_updates_the_time_of_the_rate(self, world: World) -> None:
        advance(world, world.now_ms + 60_000)
        set_rate(world, asset="USDC", fiat_currency="KES", rate="131", type="onramp")
        assert invoke(world, RATES, query=PAIR)["updated_at"] == "2026-01-05T08:01:00.000Z"
        assert invoke(world, RATES, query=PAIR | {"type": "offramp"})["updated_at"] == START

    def test_more_digits_than_are_printed_do_no_harm_when_they_are_zeros(self, world: World) -> None:
        set_rate(world, asset="USDC", fiat_currency="KES", rate="129.400000000000")
        assert invoke(world, RATES, query=PAIR)["rate"] == "129.4"

    @pytest.mark.parametrize(
        ("values", "code", "param"),
        [
            ({}, "missing_parameter", "rate"),
            ({"rate": "1"}, "missing_parameter", "asset"),
            ({"rate": "1", "asset": "USDC"}, "missing_parameter", "fiat_currency"),
            ({"rate": "1", "from": {"symbol": "USDC", "network": "STELLAR"}}, "missing_parameter", "to"),
            ({"rate": "1", "to": {"symbol": "USDC", "network": "STELLAR"}}, "missing_parameter", "from"),
            ({"rate": "1", "from": {"symbol": "USDC"}}, "missing_parameter", "from.network"),
            ({"rate": 1, "asset": "USDC", "fiat_currency": "KES"}, "invalid_parameter", "rate"),
            ({"rate": "-1", "asset": "USDC", "fiat_currency": "KES"}, "invalid_parameter", "rate"),
            ({"rate": "0.00", "asset": "USDC", "fiat_currency": "KES"}, "invalid_parameter", "rate"),
            ({"rate": "129.40000001", "asset": "USDC", "fiat_currency": "KES"}, "invalid_parameter", "rate"),
            ({"rate": "1", "asset": "DOGE", "fiat_currency": "KES"}, "invalid_parameter", "asset"),
            ({"rate": "1", "asset": "USDC", "fiat_currency": "USD"}, "invalid_parameter", "fiat_currency"),
            ({"rate": "1", "asset": "USDC", "fiat_currency": "KES", "type": "mid"}, "invalid_parameter", "type"),
        ],
    )
    def test_refuses_what_makes_no_sense(self, world: World, values: dict[str, Any], code: str, param: str) -> None:
        with pytest.raises(ControlError) as refusal:
            set_rate(world, **values)
        assert (refusal.value.status, refusal.value.code, refusal.value.param) == (400, code, param)
        assert world.store.tables() == {}

    @pytest.mark.parametrize(
        ("change", "param"),
        [
            ({"from": {"symbol": "XLM", "network": "CELO"}}, "from.symbol"),
            ({"to": {"symbol": "USDC", "network": "TRON"}}, "to.network"),
            ({"to": {"symbol": "USDC", "network": "STELLAR"}}, "to"),
            ({"asset": "USDC"}, "asset"),
            ({"type": "onramp"}, "type"),
            ({"rate": "0"}, "rate"),
        ],
    )
    def test_refuses_a_swap_direction_that_does_not_exist(
        self, world: World, change: dict[str, Any], param: str
    ) -> None:
        good = {
            "from": {"symbol": "USDC", "network": "STELLAR"},
            "to": {"symbol": "BTC", "network": "BITCOIN"},
            "rate": "0.00002",
        }
        with pytest.raises(ControlError) as refusal:
            set_rate(world, **good | change)
        assert (refusal.value.status, refusal.value.param) == (400, param)


class TestMoveRates:
    @pytest.mark.parametrize(("percent", "factor"), [(10, "1.1"), (-3.5, "0.965"), (0.25, "1.0025"), (0, "1")])
    def test_multiplies_every_rate(self, world: World, percent: float, factor: str) -> None:
        before = figures(world)
        assert act(world, ROOMS, "move_rates", percent=percent).resource == {"percent": percent}
        assert figures(world) == {name: rate_of(rate * Decimal(factor)) for name, rate in before.items()}

    def test_multiplies_pinned_rates_too(self, world: World) -> None:
        set_rate(world, asset="USDC", fiat_currency="KES", rate="100", type="onramp")
        sides = {"from": {"symbol": "USDC", "network": "STELLAR"}, "to": {"symbol": "USDC", "network": "CELO"}}
        set_rate(world, **sides, rate="2")
        act(world, ROOMS, "move_rates", percent=-10)
        assert ramp_rate(world, "sandbox", "onramp", "USDC", "KES") == 90
        assert swap_rate(world, "sandbox", USDC, ASSETS["USDC", "celo"]) == Decimal("1.8")
        assert swap_rate(world, "sandbox", ASSETS["USDC", "celo"], USDC) == Decimal("0.9")

    def test_a_later_pin_holds_exactly(self, world: World) -> None:
        act(world, ROOMS, "move_rates", percent=12.5)
        set_rate(world, asset="USDC", fiat_currency="KES", rate="100")
        assert mid_rate(world, "sandbox", "USDC", "KES") == 100

    def test_leaves_the_other_environment_alone_and_dates_the_rates(self, world: World) -> None:
        advance(world, world.now_ms + 1)
        act(world, ROOMS, "move_rates", environment="production", percent=1)
        assert invoke(world, RATES, query=PAIR)["updated_at"] == START
        assert invoke(world, RATES, query=PAIR, environment="production")["updated_at"] == "2026-01-05T08:00:00.001Z"

    @pytest.mark.parametrize(
        "percent", [-100, -100.5, -1e300, 1e300, True, "5", float("inf"), float("nan"), 10**400, [1]]
    )
    def test_refuses_what_would_leave_no_usable_rate(self, world: World, percent: Any) -> None:
        with pytest.raises(ControlError) as refusal:
            act(world, ROOMS, "move_rates", percent=percent)
        assert (refusal.value.status, refusal.value.code, refusal.value.param) == (400, "invalid_parameter", "percent")
        assert world.store.tables() == {}

    def test_needs_a_percentage(self, world: World) -> None:
        with pytest.raises(ControlError) as refusal:
            act(world, ROOMS, "move_rates")
        assert (refusal.value.code, refusal.value.param) == ("missing_parameter", "percent")

    @given(st.lists(st.floats(-60, 200), max_size=12))
    def test_rates_stay_positive_and_printable_through_many_moves(self, percents: list[float]) -> None:
        world = make_world(ROOM)
        for percent in percents:
            act(world, ROOMS, "move_rates", percent=percent)
        assert all(rate > 0 and rate_of(rate) == rate for rate in figures(world).values())
