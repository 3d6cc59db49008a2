"""The operations of recurring payments."""

from __future__ import annotations

from simulator.engine.records.conditions import the
from simulator.engine.records.listing import CREATION_DATES, DATES, Listing, by_field
from simulator.engine.rows.handlers import body_by, by_id, listed, shown
from simulator.engine.rows.operation import Call, Operation
from simulator.providers.ramp.recurring import actions, bodies, shapes
from simulator.providers.ramp.recurring.records import PAYMENTS, TYPE_MEANINGS
from simulator.providers.ramp.recurring.rendering import render_recurring
from simulator.providers.ramp.recurring.states import MEANINGS
from simulator.providers.ramp.transactions import SEARCHED, Transaction
from simulator.providers.ramp.transactions import STATUSES as TRANSACTION_STATUSES

TAG = "Recurring payments"


_BY_DESTINATION = body_by("recipient.destination.type", lambda: bodies.SENDS, lambda: bodies.CreateRecurringSend)


def _create_body(call: Call) -> type[bodies.NewRecurring]:
    if call.raw.get("type") == "withdraw":
        return bodies.CreateRecurringWithdraw
    return _BY_DESTINATION(call) if call.raw.get("type") == "send" else bodies.CreateRecurring


PAYMENT_LIST = Listing(
    filters=(by_field("type", TYPE_MEANINGS, many=True, description="Only those whose runs do this."),),
    search=lambda payment: (payment.name, payment.reference),
    searched="name and reference",
    sorts={**CREATION_DATES, "amount": the("amount")},
    statuses=MEANINGS,
)

TRANSACTION_LIST = Listing(
    search=Transaction.searched,
    searched=SEARCHED,
    sorts={**DATES, "amount": the("amount")},
    statuses=TRANSACTION_STATUSES,
    assumed_statuses="L3",
)


_FIND = by_id(PAYMENTS, "recurring payment")
_ITEM = "/recurring-payments/{id}"
_START_ERRORS = (
    "not_found",
    "invalid_state",
    "amount_too_low",
    "amount_too_high",
    "unsupported_pair",
    "invoice_expired",
)
_START_GUESSED = {
    "amount_too_low": "S20",
    "amount_too_high": "S20",
    "unsupported_pair": "M15",
    "invoice_expired": "start-checks",
}
"""What activate and restart refuse because no run could succeed."""

OPERATIONS = (
    Operation(
        "POST",
        "/recurring-payments",
        "create_recurring_payment",
        TAG,
        "Draft a recurring withdrawal or send",
        actions.create_recurring,
        answer=lambda: shapes.RecurringPaymentShape,
        status=201,
        body_for=_create_body,
        bodies=lambda: (
            bodies.CreateRecurringWithdraw,
            bodies.CreateRecurringSendToAddress,
            bodies.CreateRecurringSendToUser,
            bodies.CreateRecurringSendOverLightning,
        ),
        check=actions.check_create,
        money=True,
        group="recurring",
        errors=(
            "not_found",
            "unsupported_network",
            "unsupported_asset",
            "beneficiary_mismatch",
            "amount_too_low",
            "invalid_wallet_address",
            "invalid_phone_number",
            "invoice_expired",
            "network_unavailable",
        ),
        guessed={
            "not_found": "S23",
            "unsupported_network": "S23",
            "unsupported_asset": "S23",
            "beneficiary_mismatch": "S23",
            "amount_too_low": "H7",
            "invalid_wallet_address": "S9",
            "invalid_phone_number": "recipient-phone",
            "invoice_expired": "S14",
            "network_unavailable": "S22",
        },
        description=(
            "Drafts a payment from the balance that is to repeat: a withdrawal to a saved beneficiary or a send "
            "to a destination. Asset, network, recipient and amount are checked now; limits and balance only "
            "when a run is due. A draft moves nothing: set its schedule, read its review, then activate it."
        ),
        statuses=("draft",),
    ),
    Operation(
        "GET",
        "/recurring-payments",
        "list_recurring_payments",
        TAG,
        "The recurring payments that are not deleted",
        listed(PAYMENTS, render_recurring),
        answer=lambda: shapes.RecurringPaymentList,
        query=PAYMENT_LIST,
        group="recurring",
        reads=True,
        description="Lists recurring payments, newest first; those that were deleted are not shown.",
    ),
    Operation(
        "GET",
        _ITEM,
        "get_recurring_payment",
        TAG,
        "One recurring payment",
        shown(render_recurring),
        answer=lambda: shapes.RecurringPaymentShape,
        basis="S20",
        load=_FIND,
        group="recurring",
        reads=True,
        errors=("not_found",),
        description="Shows one recurring payment with its schedule and counters. One that was deleted is not found.",
    ),
    Operation(
        "DELETE",
        _ITEM,
        "delete_recurring_payment",
        TAG,
        "End a recurring payment; what it paid stays",
        actions.delete,
        status=204,
        basis="S20",
        load=_FIND,
        group="recurring",
        errors=("not_found",),
        description=(
            "Ends a recurring payment for good, whatever its status: there are no further runs. What it has "
            "paid stays. Sends the event recurring_payment.deleted."
        ),
    ),
    Operation(
        "PUT",
        f"{_ITEM}/schedule",
        "set_recurring_schedule",
        TAG,
        "Set the schedule of a draft or paused recurring payment",
        actions.set_schedule,
        answer=lambda: shapes.RecurringPaymentShape,
        body_for=body_by("frequency", lambda: bodies.SCHEDULES, lambda: bodies.ScheduleBody),
        bodies=lambda: (bodies.DailySchedule, bodies.WeeklySchedule, bodies.MonthlySchedule),
        check=actions.check_schedule,
        load=_FIND,
        group="recurring",
        errors=("not_found", "invalid_state"),
        description=(
            "Sets or replaces when the runs are. Allowed for a draft or a paused recurring payment, whose "
            "status stays; at any other time refused with invalid_state. Days and time are local to `timezone`; "
            "a new schedule needs a new review before a draft can be activated."
        ),
        statuses=("draft", "paused"),
    ),
    Operation(
        "GET",
        f"{_ITEM}/review",
        "review_recurring_payment",
        TAG,
        "What the runs would do and cost; needed once before activation",
        actions.review,
        answer=lambda: shapes.Review,
        load=_FIND,
        group="recurring",
        reads=True,
        errors=("not_found", "invalid_state", "unsupported_pair", "amount_too_high"),
        guessed={"unsupported_pair": "M15", "amount_too_high": "fee-unreachable"},
        description=(
            "Shows what the runs would do as things are now: who is paid, what one run costs, when the next "
            "ones are, and what stands in the way. Rates are not locked, so all figures are estimates. A draft "
            "has to be reviewed after its schedule was set, before it can be activated. Refused with "
            "invalid_state without a schedule."
        ),
    ),
    Operation(
        "POST",
        f"{_ITEM}/activate",
        "activate_recurring_payment",
        TAG,
        "Start the runs of a reviewed draft",
        actions.activate,
        answer=lambda: shapes.Activation,
        money=True,
        load=_FIND,
        group="recurring",
        errors=_START_ERRORS,
        guessed=_START_GUESSED,
        description=(
            "Starts the runs of a draft whose present schedule has been reviewed: plans the next run and sends "
            "the event recurring_payment.activated. Refused with invalid_state for anything but such a draft, "
            "and when the schedule has no date left. Also refused when no run could succeed: the beneficiary was "
            "deleted, or the amount is outside the limits of the fee product at the present rate."
        ),
    ),
    Operation(
        "POST",
        f"{_ITEM}/pause",
        "pause_recurring_payment",
        TAG,
        "Pause the runs",
        actions.pause,
        answer=lambda: shapes.Pause,
        body=lambda: bodies.PauseBody,
        load=_FIND,
        group="recurring",
        errors=("not_found", "invalid_state"),
        description=(
            "Stops an active recurring payment until it is restarted: no run is planned, and one that is under "
            "way finishes. Sends the event recurring_payment.paused. After three failed runs in a row this "
            "happens by itself. Refused with invalid_state when it is not active."
        ),
    ),
    Operation(
        "POST",
        f"{_ITEM}/restart",
        "restart_recurring_payment",
        TAG,
        "Go on after a pause; missed runs are skipped",
        actions.restart,
        answer=lambda: shapes.RecurringPaymentShape,
        body=lambda: bodies.RestartBody,
        check=actions.check_restart,
        load=_FIND,
        group="recurring",
        errors=_START_ERRORS,
        guessed=_START_GUESSED,
        description=(
            "Goes on after a pause, with the next date of the schedule or counting anew from `start_date`. Runs "
            "that were missed are skipped: they are not paid later and do not count. Sends the event "
            "recurring_payment.restarted. Refused with invalid_state when it is not paused or no date is left, "
            "and when no run could succeed, as at activation."
        ),
        statuses=("active",),
    ),
    Operation(
        "GET",
        f"{_ITEM}/transactions",
        "list_recurring_transactions",
        TAG,
        "The transactions its runs made",
        actions.list_transactions,
        answer=lambda: shapes.RecurringTransactionList,
        query=TRANSACTION_LIST,
        load=_FIND,
        group="recurring",
        reads=True,
        errors=("not_found",),
        description=(
            "Lists the transactions that the runs of one recurring payment made, newest first. A run that "
            "failed before it made one is not in it."
        ),
    ),
)
