"""The operations of recurring payments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import get_args

from typing_extensions import TypedDict

from simulator.resources.balance import SendTransaction, WithdrawTransaction
from simulator.resources.recurring import actions
from simulator.resources.recurring.bodies import (
    CreateRecurring,
    CreateRecurringSend,
    CreateRecurringSendOverLightning,
    CreateRecurringSendToAddress,
    CreateRecurringSendToUser,
    CreateRecurringWithdraw,
    DailySchedule,
    MonthlySchedule,
    NewRecurring,
    PauseBody,
    RestartBody,
    ScheduleBody,
    WeeklySchedule,
)
from simulator.resources.recurring.records import PAYMENTS, PaymentType
from simulator.resources.recurring.shapes import Activation, Pause, RecurringPaymentShape, Review, render_recurring
from simulator.resources.recurring.states import STATUSES
from simulator.resources.transactions import STATUSES as TRANSACTION_STATUSES
from simulator.resources.transactions import Transaction
from simulator.wire.handlers import body_by, by_id, listed, shown
from simulator.wire.listing import CREATION_DATES, DATES, Listing, by_field
from simulator.wire.operation import Call, Operation
from simulator.wire.shapes import Pagination

TAG = "Recurring payments"


_BY_DESTINATION = body_by(
    "recipient.destination.type",
    {
        "address": CreateRecurringSendToAddress,
        "platform_user": CreateRecurringSendToUser,
        "lightning": CreateRecurringSendOverLightning,
    },
    CreateRecurringSend,
)


def _create_body(call: Call) -> type[NewRecurring]:
    if call.raw.get("type") == "withdraw":
        return CreateRecurringWithdraw
    return _BY_DESTINATION(call) if call.raw.get("type") == "send" else CreateRecurring


_SCHEDULES: Mapping[str, type[ScheduleBody]] = {
    "daily": DailySchedule,
    "weekly": WeeklySchedule,
    "biweekly": WeeklySchedule,
    "monthly": MonthlySchedule,
}


PAYMENT_LIST = Listing(
    filters=(by_field("type", get_args(PaymentType), many=True),),
    search=lambda payment: (payment.name, payment.reference),
    sorts={**CREATION_DATES, "amount": lambda payment: payment.amount},
    statuses=STATUSES,
)

TRANSACTION_LIST = Listing(
    search=Transaction.searched,
    sorts={**DATES, "amount": lambda row: row.amount},
    statuses=TRANSACTION_STATUSES,
)


class RecurringTransactionList(TypedDict):
    data: list[SendTransaction | WithdrawTransaction]
    pagination: Pagination


class RecurringPaymentList(TypedDict):
    data: list[RecurringPaymentShape]
    pagination: Pagination


_FIND = by_id(PAYMENTS, "recurring payment")
_ITEM = "/recurring-payments/{id}"

OPERATIONS = (
    Operation(
        "POST",
        "/recurring-payments",
        "create_recurring_payment",
        TAG,
        "Draft a recurring withdrawal or send",
        actions.create_recurring,
        answer=RecurringPaymentShape,
        status=201,
        body_for=_create_body,
        bodies=(
            CreateRecurringWithdraw,
            CreateRecurringSendToAddress,
            CreateRecurringSendToUser,
            CreateRecurringSendOverLightning,
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
    ),
    Operation(
        "GET",
        "/recurring-payments",
        "list_recurring_payments",
        TAG,
        "The recurring payments that are not deleted",
        listed(PAYMENTS, render_recurring),
        answer=RecurringPaymentList,
        query=PAYMENT_LIST,
        group="recurring",
        reads=True,
    ),
    Operation(
        "GET",
        _ITEM,
        "get_recurring_payment",
        TAG,
        "One recurring payment",
        shown(render_recurring),
        answer=RecurringPaymentShape,
        basis="S20",
        load=_FIND,
        group="recurring",
        reads=True,
        errors=("not_found",),
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
    ),
    Operation(
        "PUT",
        f"{_ITEM}/schedule",
        "set_recurring_schedule",
        TAG,
        "Set the schedule of a draft or paused recurring payment",
        actions.set_schedule,
        answer=RecurringPaymentShape,
        body_for=body_by("frequency", _SCHEDULES, ScheduleBody),
        bodies=(DailySchedule, WeeklySchedule, MonthlySchedule),
        check=actions.check_schedule,
        load=_FIND,
        group="recurring",
        errors=("not_found", "invalid_state"),
    ),
    Operation(
        "GET",
        f"{_ITEM}/review",
        "review_recurring_payment",
        TAG,
        "What the runs would do and cost; needed once before activation",
        actions.review,
        answer=Review,
        load=_FIND,
        group="recurring",
        reads=True,
        errors=("not_found", "invalid_state", "unsupported_pair", "amount_too_high"),
    ),
    Operation(
        "POST",
        f"{_ITEM}/activate",
        "activate_recurring_payment",
        TAG,
        "Start the runs of a reviewed draft",
        actions.activate,
        answer=Activation,
        money=True,
        load=_FIND,
        group="recurring",
        errors=("not_found", "invalid_state"),
    ),
    Operation(
        "POST",
        f"{_ITEM}/pause",
        "pause_recurring_payment",
        TAG,
        "Pause the runs",
        actions.pause,
        answer=Pause,
        body=PauseBody,
        load=_FIND,
        group="recurring",
        errors=("not_found", "invalid_state"),
    ),
    Operation(
        "POST",
        f"{_ITEM}/restart",
        "restart_recurring_payment",
        TAG,
        "Go on after a pause; missed runs are skipped",
        actions.restart,
        answer=RecurringPaymentShape,
        body=RestartBody,
        check=actions.check_restart,
        load=_FIND,
        group="recurring",
        errors=("not_found", "invalid_state"),
    ),
    Operation(
        "GET",
        f"{_ITEM}/transactions",
        "list_recurring_transactions",
        TAG,
        "The transactions its runs made",
        actions.list_transactions,
        answer=RecurringTransactionList,
        query=TRANSACTION_LIST,
        load=_FIND,
        group="recurring",
        reads=True,
        errors=("not_found",),
    ),
)
