"""Comparison of the books with the ledger."""

from __future__ import annotations

from decimal import Decimal

import pytest

from simulator.certification.running import wrong_with
from simulator.certification.session import Claim
from simulator.certification.sources import Line

PAID = Claim("duplicate-event", "A-1", Decimal("37.892536"), "USDC", "it came three times")
REFUNDED = Claim("refund-not-booked", "A-1", Decimal(0), "USDC", "it was refunded")


def line(amount: str, state: str = "completed", currency: str = "USDC", order: str = "A-1") -> Line:
    return Line(order, state, Decimal(amount), currency)


@pytest.mark.parametrize(
    ("claim", "books"),
    [
        (PAID, [line("37.892536")]),
        (PAID, [line("37.8925360"), line("5", order="B-2")]),
        (PAID, [line("30.892536"), line("7")]),
        (PAID, [line("37.892536", "paid to the customer")]),
        (REFUNDED, []),
        (REFUNDED, [line("0", "refunded")]),
        (REFUNDED, [line("37.892536"), line("-37.892536")]),
        (REFUNDED, [line("0", "refunded", "KES")]),
    ],
)
def test_books_that_are_right(claim: Claim, books: list[Line]) -> None:
    assert wrong_with(claim, books) is None


@pytest.mark.parametrize(
    ("claim", "books", "said"),
    [
        (PAID, [], "lost"),
        (PAID, [line("0", "processing")], "lost"),
        (PAID, [line("75.785072")], "booked 2 times"),
        (PAID, [line("37.892536"), line("37.892536")], "booked 2 times"),
        (PAID, [line("37.89")], "another amount"),
        (PAID, [line("37.892536", "processing")], "the state was reverted"),
        (PAID, [line("37.892536", currency="KES")], "another currency"),
        (REFUNDED, [line("37.892536")], "nothing was delivered: it was refunded"),
    ],
)
def test_books_that_are_wrong(claim: Claim, books: list[Line], said: str) -> None:
    words = wrong_with(claim, books)
    assert words is not None
    assert words.startswith("order A-1 has ")
    assert said in words
