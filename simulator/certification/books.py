"""The books of the receiver's application, held against what truly happened."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from simulator.certification.examining import Claim
from simulator.certification.sources import Line
from simulator.host import vocabulary


def _says_unfinished(state: str) -> bool:
    """Return True for a word of the service by which books say that nothing was delivered."""
    return state in vocabulary().order_told - {"completed"}


def listed(claim: Claim, books: Sequence[Line]) -> list[Line]:
    """Lines of the books that concern an order: under the first set of names that fits, or that has any amount."""
    sets = [[line for line in books if line.order in names] for names in ((claim.order,), *claim.alternatives)]
    fitting = [lines for lines in sets if lines and _total(lines) == claim.amount]
    return next(iter([*fitting, *(lines for lines in sets if _total(lines)), *sets]))


def is_beyond(claim: Claim, books: Sequence[Line]) -> bool:
    """Return True if books may do without this order and book nothing under any of its names."""
    return claim.is_optional and not any(line.amount for line in listed(claim, books))


def _total(lines: Sequence[Line]) -> Decimal:
    return sum((line.amount for line in lines), Decimal(0))


def wrong_with(claim: Claim, books: Sequence[Line]) -> str | None:
    """What the books say wrongly of an order, in a sentence; None when they are right."""
    if is_beyond(claim, books):
        return None
    lines = listed(claim, books)
    said = _total(lines)
    shown = f"{said:f} {lines[0].currency} ({', '.join(line.state for line in lines)})" if lines else "nothing"
    words = f"of order {claim.order} the books say {shown}"
    if said and any(line.currency not in ("", claim.currency) for line in lines if line.amount):
        return f"{words}, but {claim.amount:f} {claim.currency} were delivered: another currency"
    if said == claim.amount:
        downgraded = [line.state for line in lines if claim.amount and _says_unfinished(line.state)]
        return f"{words}, but it is completed: it was taken back" if downgraded else None
    if not claim.amount:
        return f"{words}, but nothing was delivered: {claim.story}"
    if not lines:
        return f"{words}, but {claim.amount:f} {claim.currency} were delivered: lost ({claim.story})"
    times = said / claim.amount
    kind = f"booked {times:f} times" if times > 1 and times == int(times) else "lost" if not said else "another amount"
    return f"{words}, but {claim.amount:f} {claim.currency} were delivered: {kind} ({claim.story})"
