"""Recurring payments: scheduled withdrawals and sends from the balance (section "Recurring payments"; decisions S4,
S19 to S21, S23, W8).
"""

from __future__ import annotations

from simulator.engine.rows.kind import Kind
from simulator.engine.rows.room import Room
from simulator.engine.vocabulary.subjects import example_of
from simulator.kernel.world import TimerRow
from simulator.providers.ramp.recurring import creating, operations, shapes
from simulator.providers.ramp.recurring.records import PAYMENTS, RecurringPayment
from simulator.providers.ramp.recurring.rendering import render_recurring
from simulator.providers.ramp.recurring.runs import NOTICE, RUN, announce_run, run
from simulator.providers.ramp.recurring.states import EVENTS, RECURRING_PAYMENT

_RUN_EVENTS = ("run_upcoming", "run_succeeded", "run_failed")

ROOM = Room(
    "recurring",
    operations=(
        creating.create_recurring_payment,
        operations.list_recurring_payments,
        operations.get_recurring_payment,
        operations.delete_recurring_payment,
        operations.set_recurring_schedule,
        operations.review_recurring_payment,
        operations.activate_recurring_payment,
        operations.pause_recurring_payment,
        operations.restart_recurring_payment,
        operations.list_recurring_transactions,
    ),
    timers=(
        TimerRow(RUN, run, "a run is due", ("run_succeeds", "run_fails", "fail_repeatedly", "finish")),
        TimerRow(NOTICE, announce_run, "the notice of a run is due", ("announce_run",)),
    ),
    kinds=(
        Kind(
            "recurring_payment",
            PAYMENTS,
            render_recurring,
            RECURRING_PAYMENT,
            lambda: shapes.RecurringPaymentShape,
            example_of(__package__, "recurring_payment"),
            {f"recurring_payment.{event}": lambda: shapes.RecurringRunObject for event in _RUN_EVENTS},
            prefix="rp_",
            refers=("beneficiary_id",),
            collection="/recurring-payments",
        ),
    ),
    clauses=lambda: shapes.CLAUSES,
    events=EVENTS,
)
