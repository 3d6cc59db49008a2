"""The books of the receiver's application: read from a command or a URL, and held against what truly happened."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation
from urllib.error import HTTPError
from urllib.request import ProxyHandler, build_opener

from simulator.certification.application import Unusable, printed
from simulator.certification.examining import Claim
from simulator.kernel.dataclass import dataclass

_READ_SECONDS = 30
_UNFINISHED = ("awaiting_payment", "awaiting_deposit", "processing", "failed", "refunded", "expired")
"""Words of the service by which books say that nothing was delivered."""


@dataclass(frozen=True)
class Line:
    """What the books say of an order: `amount` is what the customer received."""

    order: str
    state: str
    amount: Decimal
    currency: str


def read_books(source: str, variables: Mapping[str, str]) -> list[Line]:
    """The lines of a URL, or of a command of the shell that runs with these variables besides its own. Unusable."""
    text = _fetched(source) if source.startswith(("http://", "https://")) else printed("--books", source, variables)
    return [_line(line, number) for number, line in enumerate(text.splitlines(), 1) if line.strip()]


def _fetched(url: str) -> str:
    try:
        with build_opener(ProxyHandler({})).open(url, timeout=_READ_SECONDS) as response:
            text: str = response.read().decode()
            return text
    except HTTPError as error:
        error.close()
        raise Unusable(f"--books: {url} answers {error.code}") from None
    except (OSError, ValueError) as error:
        raise Unusable(f"--books: {url} does not answer ({getattr(error, 'reason', error)})") from None


def _line(text: str, number: int) -> Line:
    try:
        row = json.loads(text, parse_float=Decimal)
        amount = Decimal(str(row["amount"]))
        if not amount.is_finite():
            raise ValueError
        return Line(str(row["order"]), str(row["state"]), amount, str(row["currency"]))
    except (ValueError, KeyError, TypeError, InvalidOperation):
        shape = '{"order": "A-17", "state": "completed", "amount": "37.89", "currency": "USDC"}'
        raise Unusable(f"--books: line {number} is {text[:120]!r}; every line is JSON like {shape}") from None


def wrong_with(claim: Claim, books: Sequence[Line]) -> str | None:
    """What the books say wrongly of an order, in a sentence; None when they are right."""
    lines = [line for line in books if line.order == claim.order]
    said = sum((line.amount for line in lines), Decimal(0))
    shown = f"{said:f} {lines[0].currency} ({', '.join(line.state for line in lines)})" if lines else "nothing"
    words = f"of order {claim.order} the books say {shown}"
    if said and any(line.currency != claim.currency for line in lines if line.amount):
        return f"{words}, but {claim.amount:f} {claim.currency} were delivered: another currency"
    if said == claim.amount:
        downgraded = [line.state for line in lines if claim.amount and line.state in _UNFINISHED]
        return f"{words}, but it is completed: it was taken back" if downgraded else None
    if not claim.amount:
        return f"{words}, but nothing was delivered: {claim.story}"
    if not lines:
        return f"{words}, but {claim.amount:f} {claim.currency} were delivered: lost ({claim.story})"
    times = said / claim.amount
    kind = f"booked {times:f} times" if times > 1 and times == int(times) else "lost" if not said else "another amount"
    return f"{words}, but {claim.amount:f} {claim.currency} were delivered: {kind} ({claim.story})"
