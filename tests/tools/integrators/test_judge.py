"""The comparison uses the ledger itself, not only the amounts in transactions."""

from __future__ import annotations

import pytest

from tests.tools.integrators.judge import Finding
from tests.tools.integrators.rig import Rig

pytestmark = pytest.mark.scenario("autopilot")


def tampered(shop: Rig, column: str, value: str) -> list[Finding]:
    """What is found once somebody has changed the entries of the books by hand."""
    shop.books._do(f"UPDATE entries SET {column} = :value", value=value)
    return shop.judged()


def test_a_fee_that_is_a_cent_off_is_found(shop: Rig) -> None:
    shop.onramp("A-1")
    shop.world.advance("1h")
    note = "the books say a fee of 51.49, the ledger 51.50"
    assert tampered(shop, "fee", "51.49") == [Finding("disagrees", "A-1", note)]


def test_a_debit_that_is_a_cent_off_is_found(shop: Rig) -> None:
    shop.standing_payout("rent")
    shop.world.advance("2d")
    note = "the books say 19.99 was paid, the ledger 20"
    assert tampered(shop, "paid", "19.99") == [Finding("disagrees", "rent-1", note)]


def test_a_payment_that_no_book_knows_is_found(shop: Rig) -> None:
    shop.onramp("A-1")
    shop.world.advance("1h")
    shop.books._do("DELETE FROM orders")
    shop.books._do("DELETE FROM entries")
    note = "the books say 0 and know no such order, the service has 37.892536 completed"
    assert shop.judged() == [Finding("lost", "A-1", note)]
