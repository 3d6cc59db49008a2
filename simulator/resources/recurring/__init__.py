"""Recurring payments: withdrawals and sends from the balance that repeat on a schedule.

Chapter "Recurring payments" of the specification, decisions S4, S19 to S21, S23 and W8.
"""

from __future__ import annotations

from simulator.kernel.world import TimerRow
from simulator.resources.recurring.records import PAYMENTS, RecurringPayment
from simulator.resources.recurring.routes import OPERATIONS
from simulator.resources.recurring.runs import NOTICE, RUN, announce_run, run
from simulator.resources.recurring.shapes import CLAUSES, RecurringPaymentShape, RecurringRunObject, render_recurring
from simulator.resources.recurring.states import RECURRING_PAYMENT
from simulator.wire.assumptions import assume
from simulator.wire.records import Kind
from simulator.wire.room import Room
from simulator.wire.subjects import examples_of

_EXAMPLES = examples_of(__package__)

_RUN_EVENTS = ("run_upcoming", "run_succeeded", "run_failed")

ROOM = Room(
    "recurring",
    operations=OPERATIONS,
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
            RecurringPaymentShape,
            _EXAMPLES["recurring_payment"],
            {f"recurring_payment.{event}": RecurringRunObject for event in _RUN_EVENTS},
            prefix="rp_",
            refers=("beneficiary_id",),
        ),
    ),
    clauses=CLAUSES,
)

ASSUMPTIONS = assume(
    "recurring payments",
    "Let a recurring payment run for some days in the real sandbox and follow its events.",
    ("run-at-now", "A run whose time is exactly now is not past: activating or restarting at that instant runs it."),
    ("run-events", "A run event shows the recurring payment after the run: counters and next_run_at moved on."),
    ("create-network", "Creating a recurring payment from a network that is down: 503 network_unavailable."),
    ("run-limits", "Creating a recurring payment checks no limits but zero; a run below the minimum: internal_error."),
    ("run-suspended", "A run of an account that is not active fails with internal_error."),
    (
        "total-runs",
        "total_runs up to on_date is counted when the schedule is set or re-anchored, executed runs included.",
    ),
    (
        "total-after",
        "A new schedule of a paused payment goes on counting: occurrences include the runs executed so far.",
    ),
    ("schedule-end", "An end date before start_date is malformed: 400 invalid_parameter, param end.date."),
    ("schedule-fields", "day_of_week and day_of_month show only on the frequencies that use them."),
    ("restart-clears", "restart sets paused_at and pause_reason back to null and keeps activated_at."),
    ("other-fiat", "An amount_currency of another fiat than the beneficiary's: 422 beneficiary_mismatch."),
    ("review-send", "The review of a send has estimated_rate 1, and no beneficiary_id or name of the recipient."),
    (
        "review-amounts",
        "estimated_source_amount is the payment itself, fee included unless it comes on top (invoices).",
    ),
    ("review-runs", "next_runs are those from now on if it were active, fewer when fewer are left."),
    (
        "review-mask",
        "Accounts are masked but for the last four characters; of name@domain the name but its first letter.",
    ),
    ("recurring-sort", "Recurring payments also sort by amount, whatever its currency."),
)

__all__ = ["NOTICE", "ROOM", "RUN", "RecurringPayment"]
