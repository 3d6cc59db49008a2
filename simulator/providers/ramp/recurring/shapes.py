"""Response models for recurring payments (table "Recurring payment"), their reviews and runs. Decision S19 defines the
schedule object, and decision W8 the field `run` of events about runs.
"""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired, TypeAlias

from pydantic import Field
from typing_extensions import TypedDict

from simulator.engine.text.shapes import (
    AmountText,
    Assumed,
    Clauses,
    Count,
    Date,
    Format,
    Meanings,
    OneOf,
    Prefix,
    RateText,
    Timestamp,
    page_shape,
)
from simulator.providers.ramp import balance
from simulator.providers.ramp.fees import ProcessingFee
from simulator.providers.ramp.recurring import records
from simulator.providers.ramp.recurring.estimates import WARNING_MEANINGS, ReviewWarning
from simulator.providers.ramp.recurring.records import DestinationAddress, DestinationLightning, DestinationShape
from simulator.providers.ramp.recurring.schedule import (
    END_MEANINGS,
    FREQUENCY_MEANINGS,
    WEEKDAY_MEANINGS,
    EndType,
    Frequency,
    Weekday,
)
from simulator.providers.ramp.recurring.states import MEANINGS
from simulator.providers.ramp.shapes import AssetText, CurrencyText, WalletNetwork

RecurringId = Annotated[str, Prefix("rp_")]
NullableText = Annotated[str | None, Assumed("H19", "nullable")]
NullableTime = Annotated[Timestamp | None, Assumed("H19", "nullable")]
TotalRuns = Annotated[Count | None, Assumed("S19", "nullable")]

FAILURE_MEANINGS = {
    "insufficient_balance": "The balance was too low. The run is not retried.",
    "kyc_required": "The account's KYC is no longer approved.",
    "amount_too_high": "The amount was above a limit of the account or of the fee product.",
    "beneficiary_deleted": "The beneficiary has been deleted.",
    "payment_failed": "A payment was declined.",
    "payout_failed": "The beneficiary's bank or provider refused the payout.",
    "network_unavailable": "The network was down.",
    "slippage_exceeded": "The rate had moved beyond the tolerance.",
    "internal_error": "The run was refused for any other reason.",
}
"""The values of `run.failure_code`. If a run fails for any other reason, the code is internal_error (decision S4)."""


class RecurringSource(TypedDict):
    """The balance that pays for all runs."""

    symbol: AssetText
    """The asset."""
    network: WalletNetwork
    """The network of the asset, in upper case."""


class RecipientBeneficiary(TypedDict):
    """The recipient of a recurring withdrawal."""

    beneficiary_id: Annotated[str, Prefix("ben_")]
    """The id of the saved beneficiary. See GET /beneficiaries/{id}."""


class RecipientDestination(TypedDict):
    """The recipient of a recurring send."""

    destination: DestinationShape
    """The destination, as given in the request."""


class ScheduleEnd(TypedDict):
    """When a recurring payment stops."""

    type: Annotated[EndType, Meanings(END_MEANINGS)]
    """The condition that ends the payments."""
    date: NotRequired[Date]
    """The last day on which a run can take place, in the schedule's time zone. Present if the type is `on_date`."""
    occurrences: NotRequired[Count]
    """The number of runs, including failed runs. Present if the type is `after_occurrences`."""


class ScheduleShape(TypedDict):
    """The schedule of the runs, with its default values filled in."""

    frequency: Annotated[Frequency, Meanings(FREQUENCY_MEANINGS), Assumed("S19")]
    """The frequency of the runs."""
    day_of_week: NotRequired[Annotated[Weekday, Meanings(WEEKDAY_MEANINGS), Assumed("S19")]]
    """The weekday of the runs. Present if the frequency is weekly or biweekly."""
    day_of_month: NotRequired[Annotated[int, Field(ge=1, le=31), Assumed("S19")]]
    """The day of the month for the runs.

    In months without this day, the run is on the last day. Present if the frequency is monthly.
    """
    start_date: Annotated[Date, Assumed("S19")]
    """The first day on which a run can take place, in `timezone`."""
    time: Annotated[str, Assumed("S19"), Format(pattern=r"^\d{2}:\d{2}$")]
    """The local time of the runs in `timezone`, as HH:MM (24-hour clock)."""
    timezone: Annotated[str, Assumed("S19")]
    """The time zone of the dates and the time, as an IANA name."""
    end: Annotated[ScheduleEnd, Assumed("S19")]
    """When the recurring payment stops."""


class _RecurringPayment(TypedDict):
    id: RecurringId
    """The id of the recurring payment, as used in all paths under /recurring-payments."""
    name: str
    """Your name for the recurring payment."""
    status: Annotated[str, OneOf(MEANINGS)]
    """The status."""
    source: RecurringSource
    """The balance that pays for all runs."""
    amount: AmountText
    """The amount of each run, in `amount_currency`."""


class RecurringProgress(TypedDict):
    """The fields of a recurring payment after its recipient."""

    description: NullableText
    """The note about each payment, or null if none was given."""
    reference: NullableText
    """Your own reference, or null. The transaction of each run has this reference followed by `-` and the run's number.
    """
    schedule: ScheduleShape | None
    """The schedule, or null until it is set."""
    created_at: Timestamp
    """The creation time of the draft."""
    next_run_at: Timestamp | None
    """The time of the next run. It is set on activation. It is null while no run is scheduled (draft, paused, ended).
    """
    runs_completed: Count
    """The number of runs that have succeeded."""
    total_runs: TotalRuns
    """The total number of runs. Null if there is no schedule, or if the schedule has no end."""
    activated_at: NullableTime
    """The activation time, or null if the payment has not been activated."""
    paused_at: NullableTime
    """The start of the current pause, or null if the payment is not paused."""
    pause_reason: NullableText
    """The reason for the pause.

    This is the reason that was given, or `repeated_failures` after three failed runs in a row, or null.
    """


class RecurringWithdrawal(_RecurringPayment, RecurringProgress):
    """A withdrawal from the balance to a beneficiary, repeated on a schedule."""

    type: Literal["withdraw"]
    amount_currency: CurrencyText
    """The currency of `amount`: the source's symbol or the beneficiary's fiat currency."""
    recipient: RecipientBeneficiary
    """The recipient."""


class RecurringSend(_RecurringPayment, RecurringProgress):
    """A send from the balance, repeated on a schedule."""

    type: Literal["send"]
    amount_currency: AssetText
    """The currency of `amount`, which is the source's symbol."""
    recipient: RecipientDestination
    """The recipient."""


RecurringPaymentShape: TypeAlias = RecurringWithdrawal | RecurringSend


class _RunTime(TypedDict):
    number: Annotated[Count, Assumed("W8")]
    """The number of the run, starting at 1. Failed runs count, but skipped runs do not."""
    scheduled_for: Annotated[Timestamp, Assumed("W8")]
    """The time for which the run is or was scheduled."""


class RunOutcome(TypedDict):
    """The result of a run. It is empty if the run has not taken place yet."""

    transaction_id: NotRequired[Annotated[str, Prefix("txn_"), Assumed("W8")]]
    """The id of the run's transaction. Present if the run succeeded."""
    failure_code: NotRequired[Annotated[str, OneOf(FAILURE_MEANINGS), Assumed("S4")]]
    """The reason for the failure. Present if the run failed."""


class Run(_RunTime, RunOutcome):
    """One run of a recurring payment."""


class RunMember(TypedDict):
    """The extra field in events about runs (decision W8)."""

    run: Annotated[Run, Assumed("W8")]
    """The run that the event is about."""


class RecurringWithdrawalRun(RecurringWithdrawal, RunMember):
    """A recurring withdrawal, with the run that the event is about."""


class RecurringSendRun(RecurringSend, RunMember):
    """A recurring send, with the run that the event is about."""


RecurringRunObject: TypeAlias = RecurringWithdrawalRun | RecurringSendRun


class Activation(TypedDict):
    """The result of activating a recurring payment."""

    id: RecurringId
    """The id of the recurring payment."""
    status: Annotated[str, OneOf({"active": MEANINGS["active"]})]
    """Always `active`."""
    next_run_at: Timestamp
    """The time of the first run."""
    runs_completed: Count
    """The number of runs that have succeeded, which is always 0."""
    total_runs: TotalRuns
    """The total number of runs. Null if the schedule has no end."""
    activated_at: Timestamp
    """The activation time, which is the current time."""


class Pause(TypedDict):
    """The result of pausing a recurring payment."""

    id: RecurringId
    """The id of the recurring payment."""
    status: Annotated[str, OneOf({"paused": MEANINGS["paused"]})]
    """Always `paused`."""
    paused_at: Timestamp
    """The start of the pause, which is the current time."""
    pause_reason: NullableText
    """The reason that was given, or null if none was given."""
    next_run_at: None
    """Always null, because no run is scheduled during a pause."""
    runs_completed: Count
    """The number of runs that have succeeded so far."""
    total_runs: TotalRuns
    """The total number of runs. Null if the schedule has no end."""


RECIPIENT_MEANINGS = {
    "bank_account": "A beneficiary with a bank account.",
    "phone_number": "A beneficiary with a mobile money number.",
    **balance.bodies.DESTINATION_MEANINGS,
}


class ReviewRecipient(TypedDict):
    """The recipient, to show before activation."""

    beneficiary_id: Annotated[str | None, Assumed("review-send", "nullable")]
    """The beneficiary of a withdrawal. Null for a send."""
    name: Annotated[str | None, Assumed("review-send", "nullable")]
    """The name of the beneficiary. Null for a send."""
    type: Annotated[str, OneOf(RECIPIENT_MEANINGS), Assumed("review-send", "enum")]
    """The type of beneficiary or destination."""
    account: str
    """The recipient's account, phone number or address. Only the last characters are shown, the others are masked."""


class ReviewPerRun(TypedDict):
    """The current amounts and cost of one run. Nothing is locked."""

    amount: AmountText
    """The amount of each run, in `amount_currency`."""
    amount_currency: CurrencyText
    """The currency of `amount`: the source's symbol or the beneficiary's fiat currency."""
    estimated_rate: RateText
    """The current rate, as fiat per unit of the source. It is 1 for a send."""
    estimated_source_amount: AmountText
    """`amount` converted into `source_currency`, without fees that are charged on top."""
    estimated_fee: ProcessingFee
    """The cost of a run, in `source_currency`."""
    estimated_total_debit: AmountText
    """The total debited from the balance, in `source_currency`, including fees."""
    source_currency: AssetText
    """The asset that pays for the runs."""


class BalanceCheck(TypedDict):
    """A comparison of the balance with the cost of the next run."""

    available: AmountText
    """The amount that can be spent now, in the source's symbol."""
    covers_next_run: bool
    """True if the available amount covers the estimated total debit of one run."""


class Review(TypedDict):
    """A preview of a recurring payment with current rates, to show before activation."""

    id: RecurringId
    """The id of the recurring payment."""
    name: str
    """Your name for the recurring payment."""
    type: Annotated[records.PaymentType, Meanings(records.TYPE_MEANINGS)]
    """The type of the runs."""
    recipient: ReviewRecipient
    """The recipient."""
    per_run: ReviewPerRun
    """The amounts and cost of one run."""
    schedule_summary: str
    """The schedule as a sentence."""
    next_runs: Annotated[list[Timestamp], Field(max_length=3), Assumed("review-runs", "maxItems")]
    """The times of the next runs: three, or fewer if fewer runs remain."""
    total_runs: TotalRuns
    """The total number of runs. Null if the schedule has no end."""
    balance_check: BalanceCheck
    """A comparison of the balance with the cost of the next run."""
    warnings: list[Annotated[ReviewWarning, Meanings(WARNING_MEANINGS), Assumed("review-warnings", "enum")]]
    """The problems that the next run would have if it took place now. Empty if there are none."""


RecurringTransactionList = page_shape(
    "RecurringTransactionList",
    balance.shapes.SendTransaction | balance.shapes.WithdrawTransaction,
    "the transactions that the runs of a recurring payment created",
    "The transactions of this page: payouts of a withdrawal, sends of a send.",
    Assumed("recurring-items", "items"),
)

RecurringPaymentList = page_shape(
    "RecurringPaymentList",
    RecurringPaymentShape,
    "recurring payments",
    "The recurring payments of this page.",
    Assumed("recurring-items", "items"),
)

CLAUSES: Clauses = {
    "Recurring payment": (
        RecurringWithdrawal,
        RecurringSend,
        RecurringWithdrawalRun,
        RecurringSendRun,
        RecurringSource,
        RecipientBeneficiary,
        RecipientDestination,
        Run,
        Review,
        ReviewRecipient,
        ReviewPerRun,
        BalanceCheck,
    ),
    "Recurring payments": (ScheduleShape, ScheduleEnd, Activation, Pause),
    "Pagination envelope and error envelope": (RecurringPaymentList, RecurringTransactionList),
    "Send": (DestinationAddress, records.DestinationUser, DestinationLightning),
}
