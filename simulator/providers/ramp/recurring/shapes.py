"""The shapes of recurring payments: the table "Recurring payment", the review object, the short responses.

The fields of the schedule object are settled by decision S19, the field `run` of run events by decision W8.
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
from simulator.providers.ramp.recurring.estimates import WARNING_MEANINGS, ReviewWarning
from simulator.providers.ramp.recurring.records import (
    TYPE_MEANINGS,
    DestinationAddress,
    DestinationLightning,
    DestinationShape,
    DestinationUser,
    PaymentType,
)
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
"""The values of `run.failure_code`. Any other refusal of a run is an internal_error (decision S4)."""


class RecurringSource(TypedDict):
    """The balance that all runs are paid from."""

    symbol: AssetText
    """The asset."""
    network: WalletNetwork
    """The network of the asset, in capitals."""


class RecipientBeneficiary(TypedDict):
    """The recipient of a recurring withdrawal."""

    beneficiary_id: Annotated[str, Prefix("ben_")]
    """The saved beneficiary. See GET /beneficiaries/{id}."""


class RecipientDestination(TypedDict):
    """The recipient of a recurring send."""

    destination: DestinationShape
    """The destination as it was given."""


class ScheduleEnd(TypedDict):
    """The end of the runs."""

    type: Annotated[EndType, Meanings(END_MEANINGS)]
    """The type of end."""
    date: NotRequired[Date]
    """The last possible day of a run, in the schedule's time zone. Present with the type `on_date`."""
    occurrences: NotRequired[Count]
    """The number of runs, failed ones included. Present with the type `after_occurrences`."""


class ScheduleShape(TypedDict):
    """The schedule of the runs, with the defaults filled in."""

    frequency: Annotated[Frequency, Meanings(FREQUENCY_MEANINGS), Assumed("S19")]
    """The frequency of the runs."""
    day_of_week: NotRequired[Annotated[Weekday, Meanings(WEEKDAY_MEANINGS), Assumed("S19")]]
    """The weekday of the runs. Present with the frequency weekly or biweekly."""
    day_of_month: NotRequired[Annotated[int, Field(ge=1, le=31), Assumed("S19")]]
    """The day of the runs in the month, or the last day of a shorter month. Present with the frequency monthly."""
    start_date: Annotated[Date, Assumed("S19")]
    """The first possible day of a run, in `timezone`."""
    time: Annotated[str, Assumed("S19"), Format(pattern=r"^\d{2}:\d{2}$")]
    """The time of day of the runs, in `timezone`, as HH:MM in 24-hour format."""
    timezone: Annotated[str, Assumed("S19")]
    """The time zone of dates and time, as an IANA name."""
    end: Annotated[ScheduleEnd, Assumed("S19")]
    """The end of the runs."""


class _RecurringPayment(TypedDict):
    id: RecurringId
    """The id of the recurring payment, for all paths below /recurring-payments."""
    name: str
    """Your name for it."""
    status: Annotated[str, OneOf(MEANINGS)]
    """The status."""
    source: RecurringSource
    """The balance that all runs are paid from."""
    amount: AmountText
    """The amount of each run, in `amount_currency`."""
    description: NullableText
    """The note on each payment, or null if none was given."""
    reference: NullableText
    """Your own reference, or null. The transaction of each run has it with `-` and the run's number."""
    schedule: ScheduleShape | None
    """The schedule, or null until it is set."""
    created_at: Timestamp
    """The creation time of the draft."""
    next_run_at: Timestamp | None
    """The time of the next run. Set on activation, null while no run is planned (draft, paused, ended)."""
    runs_completed: Count
    """The number of runs that have succeeded."""
    total_runs: TotalRuns
    """The total number of runs. Null without a schedule, and if the schedule has no end."""
    activated_at: NullableTime
    """The activation time, or null before."""
    paused_at: NullableTime
    """The start of the current pause, or null if it is not paused."""
    pause_reason: NullableText
    """The reason of the pause: as given, or `repeated_failures` after three failed runs in a row, or null."""


class RecurringWithdrawal(_RecurringPayment):
    """A withdrawal from the balance to a beneficiary that repeats on a schedule."""

    type: Literal["withdraw"]
    amount_currency: CurrencyText
    """The currency of `amount`: the source's symbol, or the beneficiary's fiat."""
    recipient: RecipientBeneficiary
    """The recipient."""


class RecurringSend(_RecurringPayment):
    """A send from the balance that repeats on a schedule."""

    type: Literal["send"]
    amount_currency: AssetText
    """The currency of `amount`: the source's symbol."""
    recipient: RecipientDestination
    """The recipient."""


RecurringPaymentShape: TypeAlias = RecurringWithdrawal | RecurringSend


class Run(TypedDict):
    """One run of a recurring payment."""

    number: Annotated[Count, Assumed("W8")]
    """The number of the run, from 1. Failed runs count, skipped ones do not."""
    scheduled_for: Annotated[Timestamp, Assumed("W8")]
    """The time at which the run is, or was, due."""
    transaction_id: NotRequired[Annotated[str, Prefix("txn_"), Assumed("W8")]]
    """The transaction of the run. Present if the run succeeded."""
    failure_code: NotRequired[Annotated[str, OneOf(FAILURE_MEANINGS), Assumed("S4")]]
    """The reason of the failure. Present if the run failed."""


class RunOutcome(TypedDict, total=False):
    """The result of a run. Empty while the run is only announced."""

    transaction_id: str
    failure_code: str


class RunMember(TypedDict):
    """The additional field of run events (decision W8)."""

    run: Annotated[Run, Assumed("W8")]
    """The run that the event is about."""


class RecurringWithdrawalRun(RecurringWithdrawal, RunMember):
    """A recurring withdrawal, with the run that the event is about."""


class RecurringSendRun(RecurringSend, RunMember):
    """A recurring send, with the run that the event is about."""


RecurringRunObject: TypeAlias = RecurringWithdrawalRun | RecurringSendRun


class Activation(TypedDict):
    """The result of an activation."""

    id: RecurringId
    """The recurring payment."""
    status: Annotated[str, OneOf({"active": MEANINGS["active"]})]
    """Always `active`."""
    next_run_at: Timestamp
    """The time of the first run."""
    runs_completed: Count
    """The number of runs that have succeeded: always 0."""
    total_runs: TotalRuns
    """The total number of runs. Null if the schedule has no end."""
    activated_at: Timestamp
    """The activation time: now."""


class Pause(TypedDict):
    """The result of a pause."""

    id: RecurringId
    """The recurring payment."""
    status: Annotated[str, OneOf({"paused": MEANINGS["paused"]})]
    """Always `paused`."""
    paused_at: Timestamp
    """The start of the pause: now."""
    pause_reason: NullableText
    """The reason as given, or null if none was given."""
    next_run_at: None
    """Always null, because no run is planned during a pause."""
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
    """The recipient, to show to a person before activation."""

    beneficiary_id: Annotated[str | None, Assumed("review-send", "nullable")]
    """The beneficiary of a withdrawal. Null for a send."""
    name: Annotated[str | None, Assumed("review-send", "nullable")]
    """The name of the beneficiary. Null for a send."""
    type: Annotated[str, OneOf(RECIPIENT_MEANINGS), Assumed("review-send", "enum")]
    """The type of beneficiary or destination."""
    account: str
    """The account, phone number or address of the recipient, masked except for its last characters."""


class ReviewPerRun(TypedDict):
    """The amounts and cost of one run now. Nothing is locked."""

    amount: AmountText
    """The amount of each run, in `amount_currency`."""
    amount_currency: CurrencyText
    """The currency of `amount`: the source's symbol, or the beneficiary's fiat."""
    estimated_rate: RateText
    """The current rate: fiat per unit of the source, or 1 for a send."""
    estimated_source_amount: AmountText
    """`amount` in `source_currency`, before fees on top."""
    estimated_fee: ProcessingFee
    """The cost of a run, in `source_currency`."""
    estimated_total_debit: AmountText
    """The total debited from the balance, fees included, in `source_currency`."""
    source_currency: AssetText
    """The asset that the runs are paid from."""


class BalanceCheck(TypedDict):
    """Compares the balance with the cost of the next run."""

    available: AmountText
    """The amount that can be spent now, in the source's symbol."""
    covers_next_run: bool
    """True if the available amount covers the estimated total debit of one run."""


class Review(TypedDict):
    """A preview of a recurring payment as of now, to show before activation."""

    id: RecurringId
    """The recurring payment."""
    name: str
    """Your name for it."""
    type: Annotated[PaymentType, Meanings(TYPE_MEANINGS)]
    """The type of the runs."""
    recipient: ReviewRecipient
    """The recipient."""
    per_run: ReviewPerRun
    """The amounts and cost of one run."""
    schedule_summary: str
    """The schedule as a sentence for people."""
    next_runs: Annotated[list[Timestamp], Field(max_length=3), Assumed("review-runs", "maxItems")]
    """The times of the next runs, at most three. Fewer if fewer are left."""
    total_runs: TotalRuns
    """The total number of runs. Null if the schedule has no end."""
    balance_check: BalanceCheck
    """Compares the balance with the cost of the next run."""
    warnings: list[Annotated[ReviewWarning, Meanings(WARNING_MEANINGS), Assumed("review-warnings", "enum")]]
    """Problems of the next run as of now. Empty if there are none."""


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
    "Send": (DestinationAddress, DestinationUser, DestinationLightning),
}
