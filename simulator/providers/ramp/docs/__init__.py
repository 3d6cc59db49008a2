"""The ramp's part of the documentation: its rules, and test values (`scenarios/test-values.yaml`)."""

from __future__ import annotations

from collections.abc import Mapping

TEST_VALUES: Mapping[str, Mapping[str, str]] = {
    "payer's phone number (bank transfer: account number) ends with": {
        "0001": "the payer declines: failed, payment_failed",
        "0002": "the payer never pays: an onramp expires, a buy stays pending",
        "0003": "buy: 422 insufficient_balance",
        "0009": "422 payment_failed immediately",
    },
    "beneficiary's phone or account number ends with": {
        "0001": "payout_failed, then refunded",
        "0002": "stays processing for an hour",
        "0003": "network_unavailable, then refunded",
    },
    "bank account number ends with": {"9999": "422 invalid_bank_account"},
    "reference, label of a wallet, description of an invoice is": {
        "simulator:NAME": "follows the scenario NAME; 400 if it does not exist"
    },
    "for the happy path": {
        "payer's phone number": "+254712345678",
        "beneficiary's phone number": "+254722000000",
        "provider": "mpesa",
        "celo address": "0x52908400098527886E0F7030069857D2E4169EE7",
    },
}
