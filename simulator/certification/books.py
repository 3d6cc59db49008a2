"""Comparison of the application's records with the ledger."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from simulator.certification.session import Claim
from simulator.certification.sources import Line
from simulator.host import vocabulary


def listed(claim: Claim, books: Sequence[Line]) -> list[Line]:
    """Return the application's records of an order. The application may record the order under any one of several sets
    of names. Choose the first set whose records add up to the correct amount, otherwise the first with a nonzero
    amount, otherwise the first.
    """
    sets = [[line for line in books if line.order in names] for names in ((claim.order,), *claim.alternatives)]
    right = [lines for lines in sets if lines and _total(lines) == claim.amount]
    return next(iter([*right, *(lines for lines in sets if _total(lines)), *sets]))


def is_beyond(claim: Claim, books: Sequence[Line]) -> bool:
    """Return True if the application may leave this order out of its records, which contain no amount for it."""
    return claim.is_optional and not any(line.amount for line in listed(claim, books))


def _total(lines: Sequence[Line]) -> Decimal:
    return sum((line.amount for line in lines), Decimal(0))


def wrong_with(claim: Claim, books: Sequence[Line]) -> str | None:
    """Return what is wrong with the records for an order, or None if they are correct."""
    if is_beyond(claim, books):
        return None
    lines = listed(claim, books)
    said = _total(lines)
    shown = f"{said:f} {lines[0].currency} ({', '.join(line.state for line in lines)})" if lines else "nothing"
    words = f"order {claim.order} has {shown} in the books"
    delivered = f"{claim.amount:f} {claim.currency} were delivered"
    if said and any(line.currency not in ("", claim.currency) for line in lines if line.amount):
        return f"{words}, but {delivered}, in another currency"
    if said == claim.amount:
        # The service's states in which nothing has been delivered.
        unfinished = vocabulary().order_told - {"completed"}
        downgraded = claim.amount and any(line.state in unfinished for line in lines)
        return f"{words}, but it is completed: the state was reverted" if downgraded else None
    if not claim.amount:
        return f"{words}, but nothing was delivered: {claim.history}"
    if not lines:
        return f"{words}, but {delivered}: lost ({claim.history})"
    times = said / claim.amount
    kind = f"booked {times:f} times" if times > 1 and times == int(times) else "lost" if not said else "another amount"
    return f"{words}, but {delivered}: {kind} ({claim.history})"
