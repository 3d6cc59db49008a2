"""The operations of recurring payments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from typing_extensions import TypedDict

from simulator.resources.balance import (
    SendTransaction,
    WithdrawTransaction,
    destination_type,
)
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
    PauseBody,
    RestartBody,
    ScheduleBody,
    WeeklySchedule,
)
from simulator.resources.recurring.records import TYPES
from simulator.resources.recurring.shapes import (
    Activation,
    Pause,
    RecurringPaymentShape,
    Review,
)
from simulator.resources.recurring.states import STATUSES
from simulator.resources.transactions import STATUSES as TRANSACTION_STATUSES
from simulator.resources.transactions import amount_of, searched
from simulator.wire.fields import Body
from simulator.wire.listing import CREATION_DATES, DATES, Listing, by_field
from simulator.wire.operation import Call, Operation
from simulator.wire.shapes import Pagination

TAG = "Recurring payments"


_SENDS: Mapping[str, type[Body]] = {
    "address": CreateRecurringSendToAddress,
    "platform_user": CreateRecurringSendToUser,
    "lightning": CreateRecurringSendOverLightning,
}


def _create_body(call: Call) -> type[Body]:
    if call.raw.get("type") == "withdraw":
        return CreateRecurringWithdraw
    if call.raw.get("type") != "send":
        return CreateRecurring
    recipient = call.raw.get("recipient")
    return _SENDS.get(destination_type(recipient) if isinstance(recipient, dict) else "", CreateRecurringSend)


def _schedule_body(call: Call) -> type[Body]:
    frequency = call.raw.get("frequency")
    if frequency in ("weekly", "biweekly"):
        return WeeklySchedule
    if frequency == "monthly":
        return MonthlySchedule
    return DailySchedule if frequency == "daily" else ScheduleBody


PAYMENTS = Listing(
    filters=(by_field("type", TYPES, many=True),),
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


def _operation(method: str, path: str, name: str, summary: str, action: Any, **members: Any) -> Operation:
    """A row of this room: its tag, its permission group, and for paths with an id the resource and its 404."""
    errors = members.pop("errors", ())
    if "{id}" in path:
        members["load"] = actions.load_recurring
        errors = ("not_found", *errors)
    reads = method == "GET"
    return Operation(method, path, name, TAG, summary, action, group="recurring", reads=reads, errors=errors, **members)


OPERATIONS = (
    _operation(
        "POST",
        "/recurring-payments",
        "create_recurring_payment",
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
    _operation(
        "GET",
        "/recurring-payments",
        "list_recurring_payments",
        "The recurring payments that are not deleted",
        actions.list_recurring,
        answer=RecurringPaymentList,
        query=PAYMENTS,
    ),
    _operation(
        "GET",
        _ITEM,
        "get_recurring_payment",
        "One recurring payment",
        actions.show,
        answer=RecurringPaymentShape,
        basis="S20",
    ),
    _operation(
        "DELETE",
        _ITEM,
        "delete_recurring_payment",
        "End a recurring payment; what it paid stays",
        actions.delete,
        status=204,
        basis="S20",
    ),
    _operation(
        "PUT",
        f"{_ITEM}/schedule",
        "set_recurring_schedule",
        "Set the schedule of a draft or paused recurring payment",
        actions.set_schedule,
        answer=RecurringPaymentShape,
        body_for=_schedule_body,
        bodies=(DailySchedule, WeeklySchedule, MonthlySchedule),
        check=actions.check_schedule,
        errors=("invalid_state",),
    ),
    _operation(
        "GET",
        f"{_ITEM}/review",
        "review_recurring_payment",
        "What the runs would do and cost; needed once before activation",
        actions.review,
        answer=Review,
        errors=("invalid_state", "unsupported_pair", "amount_too_high"),
    ),
    _operation(
        "POST",
        f"{_ITEM}/activate",
        "activate_recurring_payment",
        "Start the runs of a reviewed draft",
        actions.activate,
        answer=Activation,
        money=True,
        errors=("invalid_state",),
    ),
    _operation(
        "POST",
        f"{_ITEM}/pause",
        "pause_recurring_payment",
        "Pause the runs",
        actions.pause,
        answer=Pause,
        body=PauseBody,
        errors=("invalid_state",),
    ),
    _operation(
        "POST",
        f"{_ITEM}/restart",
        "restart_recurring_payment",
        "Go on after a pause; missed runs are skipped",
        actions.restart,
        answer=RecurringPaymentShape,
        body=RestartBody,
        check=actions.check_restart,
        errors=("invalid_state",),
    ),
    _operation(
        "GET",
        f"{_ITEM}/transactions",
        "list_recurring_transactions",
        "The transactions its runs made",
        actions.list_transactions,
        answer=RecurringTransactionList,
        query=TRANSACTIONS,
    ),
)
