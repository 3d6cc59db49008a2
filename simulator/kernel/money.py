"""Decimal money: a currency with its precision, declared rounding, and printing (decisions H7 to H9).

What a customer receives is rounded down, what a customer pays is rounded up. All arithmetic runs in a
context wide enough that a product of two amounts is exact.
"""

from __future__ import annotations

from decimal import ROUND_DOWN, ROUND_HALF_EVEN, ROUND_HALF_UP, ROUND_UP, Context, Decimal
from functools import cache, lru_cache

from simulator.kernel.dataclass import dataclass

ZERO = Decimal(0)
_PRECISION = 96
_DOWN = Context(prec=_PRECISION, rounding=ROUND_DOWN)
_UP = Context(prec=_PRECISION, rounding=ROUND_UP)
_HALF_UP = Context(prec=_PRECISION, rounding=ROUND_HALF_UP)
_EXACT = Context(prec=_PRECISION)
_RATE = Context(prec=10, rounding=ROUND_HALF_EVEN)


@dataclass(frozen=True, slots=True)
class Currency:
    """A fiat currency (network None) or an asset on one network, for example USDC on stellar."""

    code: str
    decimals: int
    network: str | None = None

    def __hash__(self) -> int:  # of what tells two apart: prices are kept by it, and all members take twice as long
        return hash((self.code, self.network))

    @property
    def key(self) -> str:
        """The name of this currency in the ledger: `KES`, `USDC.stellar`."""
        return self.code if self.network is None else _key(self.code, self.network)

    @property
    def unit(self) -> Decimal:
        """The smallest amount of this currency."""
        return _unit(self.decimals)

    def round_down(self, value: Decimal) -> Decimal:
        return value.quantize(self.unit, context=_DOWN)

    def round_half_up(self, value: Decimal) -> Decimal:
        return value.quantize(self.unit, context=_HALF_UP)

    def round_up(self, value: Decimal) -> Decimal:
        return value.quantize(self.unit, context=_UP)

    def accepts(self, text: str) -> bool:
        """Whether an amount as written has no more decimals than this currency (trailing zeros count)."""
        _, _, fraction = text.partition(".")
        return len(fraction) <= self.decimals

    def format(self, value: Decimal) -> str:
        """Fiat with 2 decimals; assets without trailing zeros but with at least 2 decimals (decision H8)."""
        if self.network is None:
            return f"{value:.{self.decimals}f}"
        return format_decimal(value)


@lru_cache(maxsize=256)  # every posting keeps the name: all share it
def _key(code: str, network: str) -> str:
    return f"{code}.{network}"


@cache
def _unit(decimals: int) -> Decimal:
    return Decimal(1).scaleb(-decimals)


def format_decimal(value: Decimal) -> str:
    """Without exponent, trailing zeros trimmed down to two decimals."""
    if value is ZERO:  # half of all amounts are parts of a fee that is none
        return "0.00"
    text = str(value)  # in half the time of `:f`, which only very large and very small numbers need
    whole, _, fraction = (f"{value:f}" if "E" in text else text).partition(".")
    return f"{whole}.{fraction.rstrip('0').ljust(2, '0')}"


def format_rate(rate: Decimal) -> str:
    """Without exponent, otherwise exactly as it is: a rate that was pinned keeps its zeros."""
    return f"{rate:f}"


def plain(value: Decimal) -> str:
    """Without exponent and without trailing zeros."""
    text = f"{value:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def rate_of(value: Decimal) -> Decimal:
    """A rate as printed: at most 10 significant digits, half-even (decision H8)."""
    return Decimal(plain(_RATE.plus(value)))


def inverse_of(rate: Decimal) -> Decimal:
    """1/rate to 10 significant digits, half-even (decision H8)."""
    return Decimal(plain(_RATE.divide(Decimal(1), rate)))


def add(*values: Decimal) -> Decimal:
    total = ZERO
    for value in values:
        total = _EXACT.add(total, value)
    return total


def subtract(left: Decimal, right: Decimal) -> Decimal:
    return _EXACT.subtract(left, right)


def multiply(left: Decimal, right: Decimal) -> Decimal:
    return _EXACT.multiply(left, right)


def divide_down(left: Decimal, right: Decimal) -> Decimal:
    """The quotient cut off far below any currency's unit, so that a later round_down is exact."""
    return _DOWN.divide(left, right)


def divide_up(left: Decimal, right: Decimal) -> Decimal:
    """The quotient rounded up far below any currency's unit, so that a later round_up is exact."""
    return _UP.divide(left, right)
