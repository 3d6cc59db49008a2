"""Ramps: onramps (fiat to an external wallet) and offramps (crypto to a fiat beneficiary)."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from simulator.kernel.world import TimerRow
from simulator.resources.ramps import actions
from simulator.resources.ramps.bodies import ArrivingDeposit, Completion, Failure, Payment
from simulator.resources.ramps.payers import check_payer, collection_account, require_payers_bank
from simulator.resources.ramps.records import TABLE, RampQuote
from simulator.resources.ramps.routes import OPERATIONS
from simulator.resources.ramps.shapes import (
    FailureCode,
    RampPaymentInstructions,
    RampQuoteShape,
    RampTransaction,
    render_quote,
    render_ramp,
)
from simulator.resources.ramps.states import OFFRAMP, ONRAMP
from simulator.resources.reference import FIATS, check_tx_hash
from simulator.resources.transactions import quote_kind, transaction_kind
from simulator.wire.actions import Action
from simulator.wire.fields import Wrong, wrong
from simulator.wire.room import Room

_RAMPS = ("onramp", "offramp")


def check_payment(values: Any) -> Iterator[Wrong]:
    """What is wrong with the `amount` of a payer's fiat, whatever its currency is."""
    given = values.amount
    if given is not None and (not Decimal(given) or not any(fiat.accepts(given) for fiat in FIATS.values())):
        yield wrong("amount", "it must be more than zero, with at most 2 decimals")


def _check_deposit(values: ArrivingDeposit) -> Iterator[Wrong]:
    if values.amount is not None and not Decimal(values.amount):
        yield wrong("amount", "it must be more than zero")
    yield from check_tx_hash(values.tx_hash)


ROOM = Room(
    "ramps",
    operations=OPERATIONS,
    actions=(
        Action(
            "payment_arrives",
            "the payer's fiat is received",
            actions.payment_arrives,
            ("onramp",),
            Payment,
            check=check_payment,
        ),
        Action("payment_declined", "the payer's provider declines", actions.payment_declined, ("onramp",)),
        Action(
            "deposit_arrives",
            "the crypto deposit is confirmed on-chain",
            actions.deposit_arrives,
            ("offramp",),
            ArrivingDeposit,
            check=_check_deposit,
        ),
        Action(
            "complete",
            "conversion, payout or settlement finishes",
            actions.complete,
            _RAMPS,
            Completion,
            check=lambda values: check_tx_hash(values.tx_hash),
        ),
        Action("fail", "it cannot finish", actions.fail, _RAMPS, Failure),
        Action("refund", "funds go back", actions.refund, _RAMPS, guard=actions.has_funds),
    ),
    timers=(TimerRow(actions.DEADLINE, actions.lapse, "the time to pay or deposit lapses", ("expire",)),),
    kinds=(
        quote_kind("ramp_quote", TABLE, render_quote, RampQuoteShape, "qt_", short="quote"),
        transaction_kind("onramp", render_ramp, ONRAMP, RampTransaction),
        transaction_kind("offramp", render_ramp, OFFRAMP, RampTransaction, receives=actions.receive),
    ),
)

ASSUMPTIONS = (
    ("onramp-clearing", "Funds of a ramp rest in a clearing account of the service until converted or refunded."),
    ("payer-phone", "account_number of an onramp's order is the payer's account or phone number."),
    ("deposit-address", "Every offramp gets its deposit address (celo) or memo (stellar) when it is confirmed."),
)

__all__ = [
    "ASSUMPTIONS",
    "ROOM",
    "FailureCode",
    "RampPaymentInstructions",
    "RampQuote",
    "RampQuoteShape",
    "RampTransaction",
    "check_payer",
    "check_payment",
    "collection_account",
    "require_payers_bank",
]
