"""The contract describes exactly the states in the state tables."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from simulator.engine.webhooks import states as webhooks
from simulator.kernel.machine import Machine
from simulator.providers.ramp.balance import states as balance
from simulator.providers.ramp.beneficiaries import states as beneficiaries
from simulator.providers.ramp.deposit_wallets import states as wallets
from simulator.providers.ramp.fees import states as fees
from simulator.providers.ramp.history import states as history
from simulator.providers.ramp.profile import states as profile
from simulator.providers.ramp.ramps import states as ramps
from simulator.providers.ramp.recurring import states as recurring
from simulator.providers.ramp.reference import states as reference
from simulator.providers.ramp.transactions import quotes
from simulator.providers.ramp.transactions import states as transactions

TABLES: tuple[tuple[Machine, Mapping[str, str]], ...] = (
    (balance.SEND, balance.SEND_MEANINGS),
    (balance.SWAP, balance.SWAP_MEANINGS),
    (balance.BUY, balance.BUY_MEANINGS),
    (balance.WITHDRAW, balance.WITHDRAW_MEANINGS),
    (wallets.WALLET, wallets.WALLET_MEANINGS),
    (wallets.LIGHTNING_ADDRESS, wallets.LIGHTNING_ADDRESS_MEANINGS),
    (wallets.INVOICE, wallets.INVOICE_MEANINGS),
    (wallets.DEPOSIT, wallets.DEPOSIT_MEANINGS),
    (recurring.RECURRING_PAYMENT, recurring.MEANINGS),
    (ramps.ONRAMP, ramps.ONRAMP_MEANINGS),
    (ramps.OFFRAMP, ramps.OFFRAMP_MEANINGS),
    (quotes.QUOTE, quotes.QUOTE_MEANINGS),
    (fees.FEE_PRODUCT, fees.STATUSES),
    (reference.NETWORK, reference.STATUSES),
    (profile.KYC, profile.KYC_STATUSES),
    (profile.PROFILE, profile.PROFILE_STATUSES),
    (transactions.DEPOSIT_TRANSACTION, transactions.DEPOSIT_TRANSACTION_MEANINGS),
)


def test_the_status_filter_of_beneficiaries_has_meanings() -> None:
    assert set(beneficiaries.MEANINGS) == set(beneficiaries.BENEFICIARY.rows) - {"deleted"}


def test_the_statuses_of_a_webhook_that_are_shown_have_their_meanings() -> None:
    assert set(webhooks.MEANINGS) == set(webhooks.WEBHOOK.rows) - {"deleted"}


def test_every_status_of_an_order_has_its_meaning() -> None:
    assert set(history.ORDER_STATUS_MEANINGS) == set(history.ORDER_STATUSES.values())
    assert set(history.ORDER_STATUSES) == set(transactions.STATUSES)


@pytest.mark.parametrize(("machine", "meanings"), TABLES, ids=[machine.name for machine, _ in TABLES])
def test_every_state_has_its_meaning(machine: Machine, meanings: Mapping[str, str]) -> None:
    assert set(meanings) == set(machine.rows)
    assert all(text.endswith(".") for text in meanings.values())
