"""Money: precision, declared rounding and formatting (decisions H7 to H9)."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from simulator.kernel.money import (
    ZERO,
    Currency,
    add,
    divide_down,
    divide_up,
    format_decimal,
    format_rate,
    inverse_of,
    multiply,
    negated,
    plain,
    rate_of,
    subtract,
)

KES = Currency("KES", 2)
USDC = Currency("USDC", 7, "stellar")
BTC = Currency("BTC", 8, "bitcoin")
CELO = Currency("CELO", 6, "celo")

LONGEST = Decimal("999999999999999999.999999999999999999")
amounts = st.decimals(ZERO, LONGEST, places=18)


def test_a_fiat_currency_has_no_network() -> None:
    assert KES.network is None
    assert USDC.network is not None
    assert (KES.key, USDC.key) == ("KES", "USDC.stellar")


@pytest.mark.parametrize(("currency", "unit"), [(KES, "0.01"), (USDC, "0.0000001"), (BTC, "0.00000001")])
def test_the_unit_is_the_smallest_amount(currency: Currency, unit: str) -> None:
    assert currency.unit == Decimal(unit)


@pytest.mark.parametrize(
    ("value", "down", "up"),
    [
        ("1.001", "1.00", "1.01"),
        ("1.009", "1.00", "1.01"),
        ("1.005", "1.00", "1.01"),
        ("1.00", "1.00", "1.00"),
        ("1.01000000000000000000000000000000000001", "1.01", "1.02"),
        ("0", "0.00", "0.00"),
        ("0.0000001", "0.00", "0.01"),
        ("999999999999999999.991", "999999999999999999.99", "1000000000000000000.00"),
    ],
)
def test_received_amounts_round_down_and_paid_amounts_round_up(value: str, down: str, up: str) -> None:
    """Decision H9."""
    assert str(KES.round_down(Decimal(value))) == down
    assert str(KES.round_up(Decimal(value))) == up


@given(amounts, st.sampled_from((KES, USDC, BTC, CELO)))
def test_rounding_is_less_than_a_unit_off_in_its_declared_direction(value: Decimal, currency: Currency) -> None:
    down, up = currency.round_down(value), currency.round_up(value)
    assert down <= value <= up
    assert up - down in (0, currency.unit)
    assert (down == up) == (Fraction(value) % Fraction(currency.unit) == 0)
    assert (down.as_tuple().exponent, up.as_tuple().exponent) == (-currency.decimals, -currency.decimals)


@pytest.mark.parametrize(
    ("currency", "text", "accepted"),
    [
        (KES, "1", True),
        (KES, "1.5", True),
        (KES, "1.50", True),
        (KES, "1.500", False),
        (KES, "1.000", False),
        (USDC, "1.1234567", True),
        (USDC, "1.12345670", False),
        (BTC, "0.00000001", True),
        (BTC, "0.000000001", False),
        (CELO, "1.1234567", False),
    ],
)
def test_amount_with_too_many_decimals_is_not_accepted(currency: Currency, text: str, accepted: bool) -> None:
    """Decision H7: trailing zeros count."""
    assert currency.accepts(text) is accepted


@pytest.mark.parametrize(
    ("currency", "value", "printed"),
    [
        (KES, "5000", "5000.00"),
        (KES, "0.5", "0.50"),
        (KES, "0", "0.00"),
        (KES, "1E+3", "1000.00"),
        (KES, "1.239", "1.24"),
        (KES, "1.500", "1.50"),
        (KES, "999999999999999999.99", "999999999999999999.99"),
        (USDC, "38.7000000", "38.70"),
        (USDC, "38.7123400", "38.71234"),
        (USDC, "1E+3", "1000.00"),
        (USDC, "100", "100.00"),
        (USDC, "0E-7", "0.00"),
        (USDC, "1E-7", "0.0000001"),
        (BTC, "0.00000001", "0.00000001"),
        (BTC, "0.50000000", "0.50"),
        (BTC, "21000000.00000001", "21000000.00000001"),
    ],
)
def test_fiat_has_two_decimals_and_crypto_at_least_two(currency: Currency, value: str, printed: str) -> None:
    """Decision H8: how amounts are printed."""
    assert currency.format(Decimal(value)) == printed


@given(amounts)
@example(LONGEST)
@example(Decimal("1E+30"))
@example(Decimal("1E-18"))
def test_printing_loses_nothing_and_has_no_exponent(value: Decimal) -> None:
    """Decision H8: no exponent."""
    text = format_decimal(value)
    whole, _, fraction = text.partition(".")
    assert Decimal(text) == value
    assert whole.isdigit()
    assert fraction.isdigit()
    assert len(fraction) == 2 or (len(fraction) > 2 and not fraction.endswith("0"))
    assert Decimal(plain(value)) == value


@pytest.mark.parametrize(
    ("value", "printed"),
    [("0", "0"), ("0.00", "0"), ("100", "100"), ("1E+2", "100"), ("1.50", "1.5"), ("1.0", "1"), ("1E-7", "0.0000001")],
)
def test_a_plain_number_has_neither_exponent_nor_trailing_zeros(value: str, printed: str) -> None:
    assert plain(Decimal(value)) == printed


@pytest.mark.parametrize(("rate", "printed"), [("129.50", "129.50"), ("1E-8", "0.00000001"), ("1E+3", "1000")])
def test_a_rate_is_printed_exactly_as_it_is_without_exponent(rate: str, printed: str) -> None:
    assert format_rate(Decimal(rate)) == printed


@pytest.mark.parametrize(
    ("value", "rate"),
    [
        ("129.5", "129.5"),
        ("129.50000", "129.5"),
        ("1234567890.4", "1234567890"),
        ("1.2345678905", "1.23456789"),  # half to the even digit 0
        ("1.2345678915", "1.234567892"),  # half to the even digit 2
        ("1.23456789050000001", "1.234567891"),
        ("0.000012345678915", "0.00001234567892"),
        ("12345678915", "12345678920"),
        ("99999999995", "100000000000"),
        ("0", "0"),
    ],
)
def test_a_rate_has_at_most_ten_significant_digits_half_even(value: str, rate: str) -> None:
    """Decision H8: rates have at most 10 significant digits."""
    assert str(rate_of(Decimal(value))) == rate


@pytest.mark.parametrize(
    ("rate", "inverse"),
    [("4", "0.25"), ("3", "0.3333333333"), ("0.3", "3.333333333"), ("6", "0.1666666667"), ("129.5", "0.007722007722")],
)
def test_the_inverse_rate_has_ten_significant_digits(rate: str, inverse: str) -> None:
    """Decision H8: `inverse_rate` is 1/rate to 10 significant digits."""
    assert str(inverse_of(Decimal(rate))) == inverse


@given(st.decimals(Decimal("0.00000001"), Decimal(10**9), places=8))
def test_rates_and_inverses_are_exact_to_ten_digits(rate: Decimal) -> None:
    exact = 1 / Fraction(rate)
    for shown, true in ((inverse_of(rate), exact), (rate_of(rate), Fraction(rate))):
        text = plain(shown)
        assert len(text.replace(".", "").strip("0")) <= 10
        assert abs(Fraction(shown) - true) <= Fraction(10) ** (Decimal(shown).adjusted() - 9) / 2


@given(amounts, amounts)
@example(LONGEST, LONGEST)
def test_arithmetic_of_the_longest_amounts_is_exact(left: Decimal, right: Decimal) -> None:
    assert Fraction(add(left, right)) == Fraction(left) + Fraction(right)
    assert Fraction(subtract(left, right)) == Fraction(left) - Fraction(right)
    assert Fraction(multiply(left, right)) == Fraction(left) * Fraction(right)


@given(amounts)
@example(LONGEST)
@example(Decimal("5.00"))
def test_a_negated_amount_has_the_same_digits_and_is_shared(amount: Decimal) -> None:
    assert str(negated(amount)) == f"-{amount}"
    assert negated(amount) is negated(Decimal(str(amount)))


def test_any_number_of_amounts_is_added_up() -> None:
    assert add() == 0
    assert add(Decimal("0.1"), Decimal("0.2"), Decimal("0.3")) == Decimal("0.6")
    assert add(LONGEST, LONGEST, LONGEST.copy_negate(), LONGEST.copy_negate()) == 0


@given(amounts, amounts.filter(bool), st.sampled_from((KES, USDC, BTC)))
@example(Decimal(1), Decimal(3), KES)
@example(LONGEST, Decimal("0.000000000000000003"), BTC)
def test_a_quotient_rounds_once_to_the_unit_as_if_it_had_been_exact(
    left: Decimal, right: Decimal, currency: Currency
) -> None:
    unit, exact = Fraction(currency.unit), Fraction(left) / Fraction(right)
    assert Fraction(currency.round_down(divide_down(left, right))) == exact // unit * unit
    assert Fraction(currency.round_up(divide_up(left, right))) == -(-exact // unit) * unit


@given(st.one_of(st.decimals(allow_nan=False, allow_infinity=False), amounts), st.integers(0, 3))
@example(Decimal("1E+3"), 2)
@example(Decimal("1.5E-3"), 2)
@example(Decimal("1.50"), 0)
@example(Decimal("-0.00"), 2)
def test_a_fiat_amount_is_formatted_with_all_its_decimals(value: Decimal, decimals: int) -> None:
    assert Currency("KES", decimals).format(value) == f"{value:.{decimals}f}"
