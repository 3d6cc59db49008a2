"""Solving for the source amount: the smallest one that delivers enough (decisions M3 to M6 and M8)."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.engine.rows.error import ApiError
from simulator.kernel.money import Currency, divide_down, multiply
from simulator.providers.ramp import fees, reference
from tests.unit.ramp.fees.support import change, fresh, price

KES = reference.FIATS["KES"]
USDC = reference.ASSETS["USDC", "celo"]
COARSE = Currency("TOY", 1, "toy")
WORLD = fresh()


@settings(max_examples=150)
@given(
    wanted=st.integers(0, 400),
    rate=st.decimals("0.01", "50", places=2),
    percentage=st.decimals("0", "100", places=1),
    fixed=st.integers(0, 30),
    floor=st.integers(0, 30),
    cap=st.none() | st.integers(30, 60),
    divide=st.booleans(),
)
def test_solved_amount_equals_exhaustive_search(
    wanted: int, rate: Decimal, percentage: Decimal, fixed: int, floor: int, cap: int | None, divide: bool
) -> None:
    """Decisions M3, M4, M5, M6 and M8: the smallest source amount that delivers enough."""

    def delivers(source: Decimal) -> Decimal:
        part = COARSE.round_up(source * percentage / 100) + Decimal(fixed) / 10
        fee = max(part, Decimal(floor) / 10)
        fee = fee if cap is None else min(fee, Decimal(cap) / 10)
        left = source - fee
        return COARSE.round_down(divide_down(left, rate) if divide else multiply(left, rate))

    goal = Decimal(wanted) / 10
    by_hand = next((Decimal(units) / 10 for units in range(1, 3000) if delivers(Decimal(units) / 10) >= goal), None)
    if by_hand is not None:
        assert fees.solve_source(COARSE, goal, delivers) == by_hand


@settings(max_examples=60)
@given(wanted=st.integers(1, 5 * 10**9))
def test_one_unit_less_does_not_deliver_the_amount(wanted: int) -> None:
    product = fees.match(WORLD, "sandbox", "onramp", KES, network="celo", asset="USDC", fiat_currency="KES")
    fee_of = fees.formula(WORLD, "sandbox", product, KES, "celo")
    rate = reference.ramp_rate(WORLD, "sandbox", "onramp", "USDC", "KES")

    def delivers(source: Decimal) -> Decimal:
        return USDC.round_down(divide_down(source - fee_of(source).total, rate))

    goal = USDC.unit * wanted
    source = fees.solve_source(KES, goal, delivers)
    assert delivers(source) >= goal > delivers(source - KES.unit)
    assert KES.round_down(source) == source


@pytest.mark.parametrize("amount", ["0.01", "12.34", "99999.99", "123456789.01"])
def test_the_formula_is_the_price(amount: str) -> None:
    product = fees.match(WORLD, "sandbox", "onramp", KES, network="celo", fiat_currency="KES")
    fee = fees.formula(WORLD, "sandbox", product, KES, "celo")(Decimal(amount))
    assert fee == price(WORLD, "sandbox", "onramp", Decimal(amount), KES, network="celo").fee


@pytest.mark.parametrize("percentage", ["100", "150"])
def test_undeliverable_amount_is_too_high(percentage: str) -> None:
    world = fresh()
    change(world, "fee_onramp_celo_kes", percentage=percentage, max_fee=None)
    product = fees.match(world, "sandbox", "onramp", KES, network="celo", fiat_currency="KES")
    fee_of = fees.formula(world, "sandbox", product, KES, "celo")
    with pytest.raises(ApiError) as refused:
        fees.solve_source(KES, Decimal(1), lambda source: source - fee_of(source).total)
    assert (refused.value.code, refused.value.param) == ("amount_too_high", "amount")
