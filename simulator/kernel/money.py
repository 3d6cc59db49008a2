"""Decimal money: currencies with a precision, explicit rounding, and formatting (decisions H7 to H9). Amounts that a
customer receives are rounded down, and amounts that a customer pays up. Products of two amounts are exact.
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
    """A fiat currency (`network` is None) or an asset on one network, such as USDC on stellar."""

    code: str
    decimals: int
    network: str | None = None

    def __hash__(self) -> int:  # prices are keyed by currency, and hashing all fields takes twice as long
        return hash((self.code, self.network))

    @property
    def key(self) -> str:
        """The key of this currency in the ledger: `KES`, `USDC.stellar`."""
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
        """Return True if an amount string has no more decimals than this currency. Trailing zeros count as decimals."""
        return len(text.partition(".")[2]) <= self.decimals

    def format(self, value: Decimal) -> str:
        """Return an amount: fiat with 2 decimals, assets with at least 2 and no more trailing zeros (decision H8)."""
        if self.network is None:
            text = str(value)  # most amounts are rounded already, and `format` takes four times as long
            return text if text[-1 - self.decimals : -self.decimals] == "." else f"{value:.{self.decimals}f}"
        return format_decimal(value)


@lru_cache(maxsize=256)  # cached, because every posting stores it
def _key(code: str, network: str) -> str:
    return f"{code}.{network}"


@cache
def _unit(decimals: int) -> Decimal:
    return Decimal(1).scaleb(-decimals)


def format_decimal(value: Decimal) -> str:
    """Return a decimal without an exponent, with at least two decimals and no further trailing zeros."""
    if value is ZERO:  # half of all amounts are the zero parts of a fee
        return "0.00"
    text = str(value)  # `str` takes half the time of `:f`, which only very large and very small numbers need
    whole, _, fraction = (f"{value:f}" if "E" in text else text).partition(".")
    return f"{whole}.{fraction.rstrip('0').ljust(2, '0')}"


def format_rate(rate: Decimal) -> str:
    """Return a rate without an exponent. The digits are unchanged, so a pinned rate keeps its trailing zeros."""
    return f"{rate:f}"


def plain(value: Decimal) -> str:
    """Return a decimal without an exponent or trailing zeros."""
    text = f"{value:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def rate_of(value: Decimal) -> Decimal:
    """Return a rate with at most 10 significant digits, rounded half-even, as in responses (decision H8)."""
    return Decimal(plain(_RATE.plus(value)))


def inverse_of(rate: Decimal) -> Decimal:
    """Return 1/rate with 10 significant digits, rounded half-even (decision H8)."""
    return Decimal(plain(_RATE.divide(Decimal(1), rate)))


def add(*values: Decimal) -> Decimal:
    total = ZERO
    for value in values:
        total = _EXACT.add(total, value)
    return total


@lru_cache(maxsize=1024)  # an amount is often booked several times, and every posting stores it
def _negated(text: str) -> Decimal:
    return Decimal(text).copy_negate()


def negated(value: Decimal) -> Decimal:
    """Return the amount with the opposite sign and the same digits. Equal amounts share one object."""
    return _negated(str(value))


subtract = _EXACT.subtract
multiply = _EXACT.multiply
divide_down, divide_up = _DOWN.divide, _UP.divide
"""Division, rounded to many more decimals than any currency has. Rounding the result in the same direction to the
precision of a currency gives the same amount as rounding the exact quotient.
"""
