"""How recurring payments are shown: the table "Recurring payment", the review object, the short answers.

The fields of the schedule object are settled by decision S19, the member `run` of run events by decision W8.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from simulator.kernel.clock import format_moment, format_timestamp
from simulator.kernel.money import format_rate
from simulator.kernel.world import World
from simulator.resources.beneficiaries import Beneficiary
from simulator.resources.fees import ProcessingFee, show_processing_fee
from simulator.resources.recurring.estimates import Estimate, ReviewWarning
from simulator.resources.recurring.records import DestinationShape, PaymentType, RecurringPayment
from simulator.resources.recurring.schedule import EndType, Frequency, Schedule, Weekday
from simulator.resources.recurring.states import STATUSES
from simulator.wire.records import existing, present
from simulator.wire.shapes import (
    AmountText,
    AssetText,
    Assumed,
    Clauses,
    Count,
    CurrencyText,
    Date,
    Format,
    OneOf,
    Prefix,
    RateText,
    Timestamp,
    WalletNetwork,
)
from simulator.wire.spelling import upper

RecurringId = Annotated[str, Prefix("rp_")]


FAILURE_CODES = (
    "insufficient_balance",
    "kyc_required",
    "amount_too_high",
    "beneficiary_deleted",
    "payment_failed",
    "payout_failed",
    "network_unavailable",
    "slippage_exceeded",
    "internal_error",
)
"""What `run.failure_code` can be; any other refusal of a run is an internal_error (decision S4)."""


class RecurringSource(TypedDict):
    symbol: AssetText
    network: WalletNetwork


class RecurringRecipient(TypedDict):
    beneficiary_id: NotRequired[Annotated[str, Prefix("ben_")]]
    destination: NotRequired[DestinationShape]


class ScheduleEnd(TypedDict):
    type: EndType
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
    status: Annotated[str, OneOf(STATUSES)]
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
    failure_code: NotRequired[Annotated[str, OneOf(FAILURE_CODES), Assumed("S4")]]


class RunOutcome(TypedDict, total=False):
    """What came of a run; empty while it is only announced."""

    transaction_id: str
    failure_code: str


class RunMember(TypedDict):
    """The member that events of runs have besides the recurring payment (decision W8)."""

    run: Run


class RecurringRunObject(RecurringPaymentShape):
    """The object of run events."""

    run: Annotated[Run, Assumed("W8")]


class Activation(TypedDict):
    id: RecurringId
    status: Annotated[str, OneOf(("active",))]
    next_run_at: Timestamp
    runs_completed: Count
    total_runs: Count | None
    activated_at: Timestamp


class Pause(TypedDict):
    id: RecurringId
    status: Annotated[str, OneOf(("paused",))]
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
    warnings: list[ReviewWarning]


def render_recurring(world: World, payment: RecurringPayment) -> RecurringPaymentShape:
    return {
        "id": payment.id,
        "name": payment.name,
        "type": payment.type,
        "status": payment.status,
        "source": {"symbol": payment.symbol, "network": upper(payment.network)},
        "amount": payment.stated.format(payment.amount),
        "amount_currency": payment.amount_currency,
        "recipient": (
            {"beneficiary_id": present(payment.beneficiary_id)}
            if payment.type == "withdraw"
            else {"destination": present(payment.destination)}
        ),
        "description": payment.description,
        "reference": payment.reference,
        "schedule": None if payment.schedule is None else _schedule(payment.schedule),
        "created_at": format_timestamp(payment.created_at_ms),
        "next_run_at": format_moment(payment.next_run_at_ms),
        "runs_completed": payment.runs_completed,
        "total_runs": payment.total_runs,
        "activated_at": format_moment(payment.activated_at_ms),
        "paused_at": format_moment(payment.paused_at_ms),
        "pause_reason": payment.pause_reason,
    }


class _Day(TypedDict, total=False):
    day_of_week: Weekday
    day_of_month: int


def _schedule(schedule: Schedule) -> ScheduleShape:
    day: _Day = {}
    if schedule.day_of_week is not None:
        day["day_of_week"] = schedule.day_of_week
    if schedule.day_of_month is not None:
        day["day_of_month"] = schedule.day_of_month
    end: ScheduleEnd = {"type": schedule.end}
    if schedule.end_date is not None:
        end["date"] = schedule.end_date
    if schedule.occurrences is not None:
        end["occurrences"] = schedule.occurrences
    return {
        "frequency": schedule.frequency,
        **day,
        "start_date": schedule.start_date,
        "time": schedule.time,
        "timezone": schedule.timezone,
        "end": end,
    }


def render_activation(payment: RecurringPayment) -> Activation:
    return {
        "id": payment.id,
        "status": payment.status,
        "next_run_at": format_timestamp(present(payment.next_run_at_ms)),
        "runs_completed": payment.runs_completed,
        "total_runs": payment.total_runs,
        "activated_at": format_timestamp(present(payment.activated_at_ms)),
    }


def render_pause(payment: RecurringPayment) -> Pause:
    return {
        "id": payment.id,
        "status": payment.status,
        "paused_at": format_timestamp(present(payment.paused_at_ms)),
        "pause_reason": payment.pause_reason,
        "next_run_at": None,
        "runs_completed": payment.runs_completed,
        "total_runs": payment.total_runs,
    }


def render_run(number: int, scheduled_for_ms: int, outcome: RunOutcome) -> RunMember:
    """The member `run` of a run event (decision W8)."""
    return {"run": {"number": number, "scheduled_for": format_timestamp(scheduled_for_ms), **outcome}}


def render_review(
    payment: RecurringPayment, estimate: Estimate, recipient: ReviewRecipient, next_runs: list[int]
) -> Review:
    source, schedule = payment.source, present(payment.schedule)
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


def render_recipient(world: World, payment: RecurringPayment) -> ReviewRecipient:
    """Who is paid, with the account masked."""
    if payment.type == "withdraw":
        saved = existing(world, Beneficiary, present(payment.beneficiary_id))
        return {
            "beneficiary_id": saved.id,
            "name": saved.name,
            "type": saved.type,
            "account": mask(saved.account or ""),
        }
    destination = present(payment.destination)
    given: Mapping[str, object] = destination
    names = ("invoice", "lightning_address", "address", "user_id", "email", "phone_number")
    account = next((str(given[name]) for name in names if given.get(name)), "")
    return {"beneficiary_id": None, "name": None, "type": destination["type"], "account": mask(account)}


def mask(account: str) -> str:
    """All but the last four characters starred; of an e-mail or Lightning address only the name is masked."""
    name, at, domain = account.partition("@")
    if at:
        return name[:1] + "*" * (len(name) - 1) + at + domain
    return "*" * (len(account) - 4) + account[-4:] if len(account) > 4 else "*" * len(account)


CLAUSES: Clauses = {
    "Recurring payment": (
        RecurringPaymentShape,
        RecurringRunObject,
        RecurringSource,
        RecurringRecipient,
        Run,
        Review,
        ReviewRecipient,
        ReviewPerRun,
        BalanceCheck,
    ),
    "Recurring payments": (ScheduleShape, ScheduleEnd, Activation, Pause),
    "Send": (DestinationShape,),
}
