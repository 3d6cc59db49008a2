"""Ramps: onramps (fiat to an external wallet) and offramps (crypto to a fiat beneficiary)."""

from __future__ import annotations

from simulator.kernel.world import TimerRow
from simulator.resources.ramps.actions import DEADLINE
from simulator.resources.ramps.bodies import FailureParameters, PaymentParameters, TxHashParameters
from simulator.resources.ramps.payers import bank_instructions, check_payer, require_payers_bank
from simulator.resources.ramps.records import QUOTES
from simulator.resources.ramps.routes import OPERATIONS
from simulator.resources.ramps.settlement import (
    ACTIONS,
    check_hash,
    check_payment,
    fail,
    lapse,
    payment_declined,
    receive,
)
from simulator.resources.ramps.shapes import (
    CLAUSES,
    FailureCode,
    FailureText,
    OfframpTransaction,
    OnrampTransaction,
    RampPaymentInstructions,
    RampQuoteShape,
    RampTransaction,
    render_offramp,
    render_onramp,
    render_quote,
)
from simulator.resources.ramps.states import OFFRAMP, ONRAMP
from simulator.resources.transactions import quote_kind, transaction_kind
from simulator.wire.room import Room
from simulator.wire.subjects import example_of

ROOM = Room(
    "ramps",
    operations=OPERATIONS,
    actions=ACTIONS,
    timers=(TimerRow(DEADLINE, lapse, "the time to pay or deposit lapses", ("expire",)),),
    kinds=(
        quote_kind(
            "ramp_quote",
            QUOTES,
            render_quote,
            lambda: RampQuoteShape,
            "qt_",
            short="quote",
            example=example_of(__package__, "ramp_quote"),
        ),
        transaction_kind(
            "onramp", render_onramp, ONRAMP, lambda: OnrampTransaction, example=example_of(__package__, "onramp")
        ),
        transaction_kind(
            "offramp",
            render_offramp,
            OFFRAMP,
            lambda: OfframpTransaction,
            example=example_of(__package__, "offramp"),
            receives=receive,
        ),
    ),
    clauses=lambda: CLAUSES,
)


__all__ = [
    "ROOM",
    "FailureCode",
    "FailureParameters",
    "FailureText",
    "OfframpTransaction",
    "OnrampTransaction",
    "PaymentParameters",
    "RampPaymentInstructions",
    "RampTransaction",
    "TxHashParameters",
    "bank_instructions",
    "check_hash",
    "check_payer",
    "check_payment",
    "fail",
    "payment_declined",
    "require_payers_bank",
]
