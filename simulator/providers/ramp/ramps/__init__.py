"""Ramps: onramps (fiat to an external wallet) and offramps (crypto to a beneficiary's fiat account)."""

from __future__ import annotations

from simulator.engine.rows.room import Room
from simulator.engine.vocabulary.subjects import example_of
from simulator.kernel.world import TimerRow
from simulator.providers.ramp.ramps import operations, shapes
from simulator.providers.ramp.ramps.bodies import (
    FailureParameters,
    PaymentParameters,
    PositiveAmount,
    TxHash,
    TxHashParameters,
)
from simulator.providers.ramp.ramps.operations import DEADLINE, bank_instructions, check_payer, require_payers_bank
from simulator.providers.ramp.ramps.records import QUOTES
from simulator.providers.ramp.ramps.settlement import ACTIONS, fail, lapse, payment_declined, receive
from simulator.providers.ramp.ramps.shapes import FailureText, OfframpTransaction, OnrampTransaction
from simulator.providers.ramp.ramps.states import OFFRAMP, ONRAMP
from simulator.providers.ramp.transactions import quote_kind, transaction_kind

ROOM = Room(
    "ramps",
    operations=(operations.create_quote, operations.get_quote, operations.confirm_quote),
    actions=ACTIONS,
    timers=(TimerRow(DEADLINE, lapse, "the deadline for the payment or deposit passes", ("expire",)),),
    kinds=(
        quote_kind(
            "ramp_quote",
            QUOTES,
            shapes.render_quote,
            lambda: shapes.RampQuoteShape,
            "qt_",
            short="quote",
            example=example_of(__package__, "ramp_quote"),
        ),
        transaction_kind(
            "onramp", shapes.render_onramp, ONRAMP, lambda: OnrampTransaction, example=example_of(__package__, "onramp")
        ),
        transaction_kind(
            "offramp",
            shapes.render_offramp,
            OFFRAMP,
            lambda: OfframpTransaction,
            example=example_of(__package__, "offramp"),
            receives=receive,
        ),
    ),
    clauses=lambda: shapes.CLAUSES,
)
