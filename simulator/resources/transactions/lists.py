"""What every list of transactions searches and sorts by (decision L3)."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from simulator.resources.transactions.records import Transaction


def searched(transaction: Transaction) -> Iterator[str | None]:
    """Transaction id, order number, reference, wallet addresses, tx_hash, account numbers (payer's, beneficiary's)."""
    yield transaction.id
    yield transaction.order_id
    yield transaction.reference
    yield transaction.sender_address
    yield transaction.recipient_address
    yield transaction.refund_address
    yield transaction.lightning
    yield transaction.tx_hash
    yield transaction.account_number
    if transaction.payment_instructions is not None:
        yield transaction.payment_instructions.get("account_number")


def amount_of(transaction: Transaction) -> Decimal:
    """The figure that lists sort and filter by."""
    return transaction.amount
