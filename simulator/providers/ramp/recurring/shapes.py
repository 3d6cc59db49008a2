"""How recurring payments are shown: the table "Recurring payment", the review object, the short answers.

The fields of the schedule object are settled by decision S19, the member `run` of run events by decision W8.
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
    "insufficient_balance": "The balance was too low; the run is not tried again.",
    "kyc_required": "The account is no longer through KYC.",
    "amount_too_high": "The amount lay above a limit of the account or of the fee product.",
    "beneficiary_deleted": "The beneficiary has been deleted.",
    "payment_failed": "A payment was declined.",
    "payout_failed": "The beneficiary's bank or provider refused the payout.",
    "network_unavailable": "The network was down.",
    "slippage_exceeded": "The rate had moved too far.",
    "internal_error": "Anything else that refused the run.",
}
"""What `run.failure_code` can be; any other refusal of a run is an internal_error (decision S4)."""


class RecurringSource(TypedDict):
    """The balance that every run is paid from."""

    symbol: AssetText
    """The asset."""
    network: WalletNetwork
    """The network it lies on, in capitals."""


class RecipientBeneficiary(TypedDict):
    """Who a recurring withdrawal pays."""

    beneficiary_id: Annotated[str, Prefix("ben_")]
    """The saved beneficiary; see GET /beneficiaries/{id}."""


class RecipientDestination(TypedDict):
    """Where a recurring send goes."""

    destination: DestinationShape
    """The destination as it was given."""


class ScheduleEnd(TypedDict):
    """When the runs end."""

    type: Annotated[EndType, Meanings(END_MEANINGS)]
    """How the end is told."""
    date: NotRequired[Date]
    """The last day on which a run can be, in the schedule's time zone; with the type `on_date`."""
    occurrences: NotRequired[Count]
    """After how many runs it ends, failed ones included; with the type `after_occurrences`."""


class ScheduleShape(TypedDict):
    """When the runs are, with the defaults filled in."""

    frequency: Annotated[Frequency, Meanings(FREQUENCY_MEANINGS), Assumed("S19")]
    """How often there is a run."""
    day_of_week: NotRequired[Annotated[Weekday, Meanings(WEEKDAY_MEANINGS), Assumed("S19")]]
    """The day of the runs; there when the frequency is weekly or biweekly."""
    day_of_month: NotRequired[Annotated[int, Field(ge=1, le=31), Assumed("S19")]]
    """The day of the runs, the last one in shorter months; there when the frequency is monthly."""
    start_date: Annotated[Date, Assumed("S19")]
    """The first day on which a run can be, in `timezone`."""
    time: Annotated[str, Assumed("S19"), Format(pattern=r"^\d{2}:\d{2}$")]
    """The time of day of the runs, in `timezone`: HH:MM on a clock of 24 hours."""
    timezone: Annotated[str, Assumed("S19")]
    """The time zone of dates and time, by its IANA name."""
    end: Annotated[ScheduleEnd, Assumed("S19")]
    """When the runs end."""


class _RecurringPayment(TypedDict):
    id: RecurringId
    """Names the recurring payment in every path below /recurring-payments."""
    name: str
    """The caller's label."""
    status: Annotated[str, OneOf(MEANINGS)]
    """How far it has come."""
    source: RecurringSource
    """The balance that every run is paid from."""
    amount: AmountText
    """What each run moves, in `amount_currency`."""
    description: NullableText
    """The note on every payment; null when none was given."""
    reference: NullableText
    """The caller's own reference; each run's transaction has it with `-` and the run's number. Null when none given."""
    schedule: ScheduleShape | None
    """When the runs are; null until it is set."""
    created_at: Timestamp
    """When the draft was made."""
    next_run_at: Timestamp | None
    """When the next run is; set on activation, null whenever no run is planned (draft, paused, ended)."""
    runs_completed: Count
    """How many runs have succeeded."""
    total_runs: TotalRuns
    """How many runs there will be in all; null without a schedule and when it never ends."""
    activated_at: NullableTime
    """When it was activated; null until then."""
    paused_at: NullableTime
    """Since when it has been paused; null otherwise."""
    pause_reason: NullableText
    """Why it is paused: as given, or `repeated_failures` after three failed runs in a row. Null otherwise."""


class RecurringWithdrawal(_RecurringPayment):
    """A withdrawal from the balance to a beneficiary that repeats on a schedule."""

    type: Literal["withdraw"]
    amount_currency: CurrencyText
    """The currency of `amount`: the source's symbol, or the beneficiary's fiat."""
    recipient: RecipientBeneficiary
    """Who is paid."""


class RecurringSend(_RecurringPayment):
    """A send from the balance that repeats on a schedule."""

    type: Literal["send"]
    amount_currency: AssetText
    """The currency of `amount`: the source's symbol."""
    recipient: RecipientDestination
    """Where it goes."""


RecurringPaymentShape: TypeAlias = RecurringWithdrawal | RecurringSend


class Run(TypedDict):
    """One run of a recurring payment."""

    number: Annotated[Count, Assumed("W8")]
    """The run's number, from 1; runs that failed count, those that were skipped do not."""
    scheduled_for: Annotated[Timestamp, Assumed("W8")]
    """When the run is, or was, due."""
    transaction_id: NotRequired[Annotated[str, Prefix("txn_"), Assumed("W8")]]
    """The transaction that the run made; there when it succeeded."""
    failure_code: NotRequired[Annotated[str, OneOf(FAILURE_MEANINGS), Assumed("S4")]]
    """Why the run failed; there when it did."""


class RunOutcome(TypedDict, total=False):
    """What came of a run; empty while it is only announced."""

    transaction_id: str
    failure_code: str


class RunMember(TypedDict):
    """The member that events of runs have besides the recurring payment (decision W8)."""

    run: Annotated[Run, Assumed("W8")]
    """The run that the event is about."""


class RecurringWithdrawalRun(RecurringWithdrawal, RunMember):
    """A recurring withdrawal, with the run that an event is about."""


class RecurringSendRun(RecurringSend, RunMember):
    """A recurring send, with the run that an event is about."""


RecurringRunObject: TypeAlias = RecurringWithdrawalRun | RecurringSendRun


class Activation(TypedDict):
    """What activating a recurring payment did."""

    id: RecurringId
    """The recurring payment."""
    status: Annotated[str, OneOf({"active": MEANINGS["active"]})]
    """Always `active`."""
    next_run_at: Timestamp
    """When the first run is."""
    runs_completed: Count
    """How many runs have succeeded: none yet."""
    total_runs: TotalRuns
    """How many runs there will be in all; null when it never ends."""
    activated_at: Timestamp
    """When it was activated: now."""


class Pause(TypedDict):
    """What pausing a recurring payment did."""

    id: RecurringId
    """The recurring payment."""
    status: Annotated[str, OneOf({"paused": MEANINGS["paused"]})]
    """Always `paused`."""
    paused_at: Timestamp
    """When it was paused: now."""
    pause_reason: NullableText
    """Why, as given; null when no reason was given."""
    next_run_at: None
    """Always null: no run is planned while it is paused."""
    runs_completed: Count
    """How many runs have succeeded so far."""
    total_runs: TotalRuns
    """How many runs there would be in all; null when it never ends."""


RECIPIENT_MEANINGS = {
    "bank_account": "A beneficiary that is paid by bank transfer.",
    "phone_number": "A beneficiary that is paid by mobile money.",
    **balance.bodies.DESTINATION_MEANINGS,
}


class ReviewRecipient(TypedDict):
    """Who is paid, to be shown to a person before activation."""

    beneficiary_id: Annotated[str | None, Assumed("review-send", "nullable")]
    """The beneficiary of a withdrawal; null for a send."""
    name: Annotated[str | None, Assumed("review-send", "nullable")]
    """The name of that beneficiary; null for a send."""
    type: Annotated[str, OneOf(RECIPIENT_MEANINGS), Assumed("review-send", "enum")]
    """The sort of beneficiary or of destination."""
    account: str
    """The account, phone number or address that is paid, masked but for its last characters."""


class ReviewPerRun(TypedDict):
    """What one run would move and cost now; nothing of it is locked."""

    amount: AmountText
    """What each run moves, in `amount_currency`."""
    amount_currency: CurrencyText
    """The currency of `amount`: the source's symbol, or the beneficiary's fiat."""
    estimated_rate: RateText
    """The present rate: fiat for one unit of the source; 1 for a send."""
    estimated_source_amount: AmountText
    """What `amount` comes to in `source_currency`, before fees that go on top."""
    estimated_fee: ProcessingFee
    """What a run would cost, in `source_currency`."""
    estimated_total_debit: AmountText
    """What would leave the balance in all, fees included, in `source_currency`."""
    source_currency: AssetText
    """The asset that the runs are paid from."""


class BalanceCheck(TypedDict):
    """Whether the balance is enough."""

    available: AmountText
    """What can be spent now, in the source's symbol."""
    covers_next_run: bool
    """Whether that is at least the estimated total debit of one run."""


class Review(TypedDict):
    """What a recurring payment would do, as of now: to be shown before it is activated."""

    id: RecurringId
    """The recurring payment."""
    name: str
    """The caller's label."""
    type: Annotated[PaymentType, Meanings(TYPE_MEANINGS)]
    """What each run does."""
    recipient: ReviewRecipient
    """Who is paid."""
    per_run: ReviewPerRun
    """What one run would move and cost."""
    schedule_summary: str
    """The schedule in a sentence, for people."""
    next_runs: Annotated[list[Timestamp], Field(max_length=3), Assumed("review-runs", "maxItems")]
    """When the next runs would be, at most three; fewer when fewer are left."""
    total_runs: TotalRuns
    """How many runs there will be in all; null when it never ends."""
    balance_check: BalanceCheck
    """Whether the balance is enough for the next run."""
    warnings: list[Annotated[ReviewWarning, Meanings(WARNING_MEANINGS), Assumed("review-warnings", "enum")]]
    """What stands in the way of the next run as things are now; empty when nothing does."""


RecurringTransactionList = page_shape(
    "RecurringTransactionList",
    balance.shapes.SendTransaction | balance.shapes.WithdrawTransaction,
    "the transactions that the runs of a recurring payment made",
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
