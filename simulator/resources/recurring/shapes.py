"""How recurring payments are shown: the table "Recurring payment", the review object, the short answers.

The fields of the schedule object are settled by decision S19, the member `run` of run events by decision W8.
"""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from simulator.kernel.clock import format_timestamp
from simulator.kernel.money import format_rate
from simulator.kernel.world import World
from simulator.resources.beneficiaries import any_beneficiary
from simulator.resources.fees import ProcessingFee, show_processing_fee
from simulator.resources.recurring.estimates import Estimate
from simulator.resources.recurring.records import RecurringPayment
from simulator.resources.recurring.schedule import Schedule
from simulator.wire.json import JsonObject
from simulator.wire.shapes import (
    AmountText,
    AssetText,
    Assumed,
    Count,
    CurrencyText,
    Date,
    Format,
    Prefix,
    RateText,
    Timestamp,
)
from simulator.wire.spelling import upper

PaymentType = Literal["withdraw", "send"]
Status = Literal["draft", "active", "paused", "completed", "deleted"]
Frequency = Literal["daily", "weekly", "biweekly", "monthly"]
Weekday = Literal["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
RecurringId = Annotated[str, Prefix("rp_")]


RunFailureCode = Literal[
    "insufficient_balance",
    "kyc_required",
    "amount_too_high",
    "beneficiary_deleted",
    "payment_failed",
    "payout_failed",
    "network_unavailable",
    "slippage_exceeded",
    "internal_error",
]


class RecurringSource(TypedDict):
    symbol: AssetText
    network: Literal["STELLAR", "CELO", "BITCOIN"]


class DestinationShape(TypedDict):
    """A destination as it was given."""

    type: Literal["address", "platform_user", "lightning"]
    address: NotRequired[str]
    memo: NotRequired[str]
    email: NotRequired[str]
    phone_number: NotRequired[str]
    user_id: NotRequired[str]
    invoice: NotRequired[Annotated[str, Assumed("S14")]]
    lightning_address: NotRequired[Annotated[str, Assumed("S14")]]


class RecurringRecipient(TypedDict):
    beneficiary_id: NotRequired[Annotated[str, Prefix("ben_")]]
    destination: NotRequired[DestinationShape]


class ScheduleEnd(TypedDict):
    type: Literal["never", "on_date", "after_occurrences"]
    date: NotRequired[Date]
    occurrences: NotRequired[Count]


class ScheduleShape(TypedDict):
    frequency: Annotated[Frequency, Assumed("S19")]
    day_of_week: NotRequired[Annotated[Weekday, Assumed("S19")]]
    day_of_month: NotRequired[Annotated[int, Field(ge=1, le=31), Assumed("S19")]]
    start_date: Annotated[Date, Assumed("S19")]
    time: Annotated[str, Assumed("S19"), Format(pattern=r"^\d{2}:\d{2}$")]
    timezone: Annotated[str, Assumed("S19")]
    end: Annotated[ScheduleEnd, Assumed("S19")]


class RecurringPaymentShape(TypedDict):
    id: RecurringId
    name: str
    type: PaymentType
    status: Status
    source: RecurringSource
    amount: AmountText
    amount_currency: CurrencyText
    recipient: RecurringRecipient
    description: str | None
    reference: str | None
    schedule: ScheduleShape | None
    created_at: Timestamp
    next_run_at: Timestamp | None
    runs_completed: Count
    total_runs: Count | None
    activated_at: Timestamp | None
    paused_at: Timestamp | None
    pause_reason: str | None


class Run(TypedDict):
    number: Count
    scheduled_for: Timestamp
    transaction_id: NotRequired[Annotated[str, Prefix("txn_")]]
    failure_code: NotRequired[Annotated[RunFailureCode, Assumed("S4")]]


class RecurringRunObject(RecurringPaymentShape):
    """The object of run events."""

    run: Annotated[Run, Assumed("W8")]


class Activation(TypedDict):
    id: RecurringId
    status: Literal["active"]
    next_run_at: Timestamp
    runs_completed: Count
    total_runs: Count | None
    activated_at: Timestamp


class Pause(TypedDict):
    id: RecurringId
    status: Literal["paused"]
    paused_at: Timestamp
    pause_reason: str | None
    next_run_at: None
    runs_completed: Count
    total_runs: Count | None


class ReviewRecipient(TypedDict):
    beneficiary_id: str | None
    name: str | None
    type: str
    account: str


class ReviewPerRun(TypedDict):
    amount: AmountText
    amount_currency: CurrencyText
    estimated_rate: RateText
    estimated_source_amount: AmountText
    estimated_fee: ProcessingFee
    estimated_total_debit: AmountText
    source_currency: AssetText


class BalanceCheck(TypedDict):
    available: AmountText
    covers_next_run: bool


class Review(TypedDict):
    id: RecurringId
    name: str
    type: PaymentType
    recipient: ReviewRecipient
    per_run: ReviewPerRun
    schedule_summary: str
    next_runs: list[Timestamp]
    total_runs: Count | None
    balance_check: BalanceCheck
    warnings: list[Literal["insufficient_balance_for_next_run", "amount_exceeds_monthly_limit"]]


def moment(at_ms: int | None) -> str | None:
    return None if at_ms is None else format_timestamp(at_ms)


def render_recurring(world: World, payment: RecurringPayment) -> JsonObject:
    return {
        "id": payment.id,
        "name": payment.name,
        "type": payment.type,
        "status": payment.status,
        "source": {"symbol": payment.symbol, "network": upper(payment.network)},
        "amount": payment.stated.format(payment.amount),
        "amount_currency": payment.amount_currency,
        "recipient": (
            {"beneficiary_id": payment.beneficiary_id}
            if payment.type == "withdraw"
            else {"destination": payment.destination}
        ),
        "description": payment.description,
        "reference": payment.reference,
        "schedule": None if payment.schedule is None else _schedule(payment.schedule),
        "created_at": format_timestamp(payment.created_at_ms),
        "next_run_at": moment(payment.next_run_at_ms),
        "runs_completed": payment.runs_completed,
        "total_runs": payment.total_runs,
        "activated_at": moment(payment.activated_at_ms),
        "paused_at": moment(payment.paused_at_ms),
        "pause_reason": payment.pause_reason,
    }


def _schedule(schedule: Schedule) -> JsonObject:
    shape: JsonObject = {"frequency": schedule.frequency}
    if schedule.day_of_week is not None:
        shape["day_of_week"] = schedule.day_of_week
    if schedule.day_of_month is not None:
        shape["day_of_month"] = schedule.day_of_month
    end: JsonObject = {"type": schedule.end}
    if schedule.end_date is not None:
        end["date"] = schedule.end_date
    if schedule.occurrences is not None:
        end["occurrences"] = schedule.occurrences
    return shape | {
        "start_date": schedule.start_date,
        "time": schedule.time,
        "timezone": schedule.timezone,
        "end": end,
    }


def render_part(world: World, payment: RecurringPayment, shape: type) -> JsonObject:
    """Those fields of a recurring payment that a shorter answer (activation, pause) has, in its order."""
    whole = render_recurring(world, payment)
    return {name: whole[name] for name in shape.__annotations__}


def render_run(number: int, scheduled_for_ms: int, **outcome: str) -> JsonObject:
    """The member `run` of a run event (decision W8); `outcome` is transaction_id or failure_code, or not there yet."""
    return {"run": {"number": number, "scheduled_for": format_timestamp(scheduled_for_ms), **outcome}}


def render_review(
    payment: RecurringPayment, estimate: Estimate, recipient: JsonObject, next_runs: list[int]
) -> JsonObject:
    source, schedule = payment.source, payment.schedule
    assert schedule is not None
    return {
        "id": payment.id,
        "name": payment.name,
        "type": payment.type,
        "recipient": recipient,
        "per_run": {
            "amount": payment.stated.format(payment.amount),
            "amount_currency": payment.amount_currency,
            "estimated_rate": format_rate(estimate.rate),
            "estimated_source_amount": source.format(estimate.source_amount),
            "estimated_fee": show_processing_fee(estimate.fee),
            "estimated_total_debit": source.format(estimate.debit),
            "source_currency": payment.symbol,
        },
        "schedule_summary": schedule.summary(),
        "next_runs": [format_timestamp(at_ms) for at_ms in next_runs],
        "total_runs": payment.total_runs,
        "balance_check": {
            "available": source.format(estimate.available),
            "covers_next_run": estimate.available >= estimate.debit,
        },
        "warnings": list(estimate.warnings),
    }


def render_recipient(world: World, payment: RecurringPayment) -> JsonObject:
    """Who is paid, with the account masked."""
    if payment.type == "withdraw":
        saved = any_beneficiary(world, payment.beneficiary_id or "")
        return {
            "beneficiary_id": payment.beneficiary_id,
            "name": saved.name if saved else None,
            "type": saved.type if saved else "bank_account",
            "account": mask((saved.account if saved else None) or ""),
        }
    destination = payment.destination or {}
    names = ("invoice", "lightning_address", "address", "user_id", "email", "phone_number")
    account = next((destination[name] for name in names if destination.get(name)), "")
    return {"beneficiary_id": None, "name": None, "type": destination.get("type"), "account": mask(account)}


def mask(account: str) -> str:
    """All but the last four characters starred; of an e-mail or Lightning address only the name is masked."""
    name, at, domain = account.partition("@")
    if at:
        return name[:1] + "*" * (len(name) - 1) + at + domain
    return "*" * (len(account) - 4) + account[-4:] if len(account) > 4 else "*" * len(account)
