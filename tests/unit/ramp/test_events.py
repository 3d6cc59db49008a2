"""The event catalogue (chapter "Events", decision W7)."""

from __future__ import annotations

import pytest

from simulator.host import vocabulary

# The table of the specification, in its order.
SPECIFIED = [
    "transaction.created",
    "transaction.awaiting_payment",
    "transaction.awaiting_deposit",
    "transaction.processing",
    "transaction.completed",
    "transaction.failed",
    "transaction.expired",
    "transaction.refunded",
    "wallet.created",
    "deposit.detected",
    "deposit.confirmed",
    "deposit.failed",
    "lightning.invoice_paid",
    "lightning.invoice_expired",
    "quote.expired",
    "beneficiary.created",
    "beneficiary.deleted",
    "kyc.approved",
    "kyc.action_required",
    "kyc.rejected",
    "network.status_changed",
    "webhook.test",
    "recurring_payment.activated",
    "recurring_payment.run_upcoming",
    "recurring_payment.run_succeeded",
    "recurring_payment.run_failed",
    "recurring_payment.paused",
    "recurring_payment.completed",
    "recurring_payment.restarted",
    "recurring_payment.deleted",
]


def test_the_catalogue_is_that_of_the_specification() -> None:
    assert list(vocabulary().events) == SPECIFIED
    assert [row.name for row in vocabulary().events.values()] == SPECIFIED
    assert all(row.sent_when and row.tells for row in vocabulary().events.values())


@pytest.mark.parametrize("name", SPECIFIED)
def test_the_payload_depends_on_the_event_family(name: str) -> None:
    family = name.split(".")[0]
    assert vocabulary().events[name].object == {"lightning": "lightning_entry"}.get(family, family)
