"""The operations of recurring payments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import get_args

from typing_extensions import TypedDict

from simulator.resources.balance import SendTransaction, WithdrawTransaction, destination_type
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
from simulator.resources.recurring.records import PaymentType
from simulator.resources.recurring.shapes import Activation, Pause, RecurringPaymentShape, Review
from simulator.resources.recurring.states import STATUSES
from simulator.resources.transactions import STATUSES as TRANSACTION_STATUSES
from simulator.resources.transactions import amount_of, searched
from simulator.wire.listing import CREATION_DATES, DATES, Listing, by_field
from simulator.wire.operation import Call, Operation
from simulator.wire.shapes import Pagination

TAG = "Recurring payments"


_SENDS: Mapping[str, type[NewRecurring]] = {
    "address": CreateRecurringSendToAddress,
    "platform_user": CreateRecurringSendToUser,
    "lightning": CreateRecurringSendOverLightning,
}


def _create_body(call: Call) -> type[NewRecurring]:
    if call.raw.get("type") == "withdraw":
        return CreateRecurringWithdraw
    if call.raw.get("type") != "send":
        return CreateRecurring
    recipient = call.raw.get("recipient")
    return _SENDS.get(destination_type(recipient) if isinstance(recipient, dict) else "", CreateRecurringSend)


def _schedule_body(call: Call) -> type[ScheduleBody]:
    frequency = call.raw.get("frequency")
    if frequency in ("weekly", "biweekly"):
        return WeeklySchedule
    if frequency == "monthly":
        return MonthlySchedule
    return DailySchedule if frequency == "daily" else ScheduleBody


PAYMENTS = Listing(
    filters=(by_field("type", get_args(PaymentType), many=True),),
    search=lambda payment: (payment.name, payment.reference),
    sorts={**CREATION_DATES, "amount": lambda payment: payment.amount},
    statuses=STATUSES,
)

TRANSACTIONS = Listing(
    search=searched,
    sorts={**DATES, "amount": amount_of},
    statuses=TRANSACTION_STATUSES,
)


class RecurringTransactionList(TypedDict):
    data: list[SendTransaction | WithdrawTransaction]
    pagination: Pagination


class RecurringPaymentList(TypedDict):
    data: list[RecurringPaymentShape]
    pagination: Pagination


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
        actions.list_recurring,
        answer=RecurringPaymentList,
        query=PAYMENTS,
        group="recurring",
        reads=True,
    ),
    Operation(
        "GET",
        _ITEM,
        "get_recurring_payment",
        TAG,
        "One recurring payment",
        actions.show,
        answer=RecurringPaymentShape,
        basis="S20",
        load=actions.load_recurring,
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
        load=actions.load_recurring,
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
        body_for=_schedule_body,
        bodies=(DailySchedule, WeeklySchedule, MonthlySchedule),
        check=actions.check_schedule,
        load=actions.load_recurring,
        group="recurring",
        errors=(
            "not_found",
            "invalid_state",
        ),
    ),
    Operation(
        "GET",
        f"{_ITEM}/review",
        "review_recurring_payment",
        TAG,
        "What the runs would do and cost; needed once before activation",
        actions.review,
        answer=Review,
        load=actions.load_recurring,
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
        load=actions.load_recurring,
        group="recurring",
        errors=(
            "not_found",
            "invalid_state",
        ),
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
        load=actions.load_recurring,
        group="recurring",
        errors=(
            "not_found",
            "invalid_state",
        ),
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
        load=actions.load_recurring,
        group="recurring",
        errors=(
            "not_found",
            "invalid_state",
        ),
    ),
    Operation(
        "GET",
        f"{_ITEM}/transactions",
        "list_recurring_transactions",
        TAG,
        "The transactions its runs made",
        actions.list_transactions,
        answer=RecurringTransactionList,
        query=TRANSACTIONS,
        load=actions.load_recurring,
        group="recurring",
        reads=True,
        errors=("not_found",),
    ),
)
