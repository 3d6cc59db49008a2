"""The bodies of recurring payments: drafts by type and destination, schedules by frequency, pauses and restarts."""

from collections.abc import Mapping
from datetime import date
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, StringConstraints, ValidationError, model_validator
from pydantic_core import InitErrorDetails

from simulator.engine.text.fields import Amount, Body, Code, Name, Note, Text
from simulator.engine.text.shapes import Assumed, Meanings
from simulator.providers.ramp.balance import bodies as balance
from simulator.providers.ramp.recurring.records import TYPE_MEANINGS, PaymentType
from simulator.providers.ramp.recurring.schedule import (
    DEFAULT_TIME,
    DEFAULT_TIMEZONE,
    END_MEANINGS,
    FREQUENCY_MEANINGS,
    WEEKDAY_MEANINGS,
    EndType,
    Frequency,
    Weekday,
)


def _a_date(text: str) -> str:
    date.fromisoformat(text)
    return text


LocalDate = Annotated[str, StringConstraints(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"), AfterValidator(_a_date)]
LocalTime = Annotated[str, StringConstraints(pattern=r"^([01][0-9]|2[0-3]):[0-5][0-9]$")]


class Source(Body):
    """The balance to pay from."""

    symbol: Code
    """The asset; for a withdrawal a stablecoin."""
    network: Code
    """The network it lies on, in capitals; its status in GET /currencies must be `active`."""


class BeneficiaryRecipient(Body):
    """Who a recurring withdrawal pays."""

    beneficiary_id: Code
    """A saved bank account or mobile money number (POST /beneficiaries)."""


class AnyDestinationRecipient(Body):
    """Where a recurring send goes."""

    destination: balance.AnyDestination
    """The destination, as POST /wallet/send takes it."""


_RECIPIENTS = balance.by_destination(
    AnyDestinationRecipient, "A recurring send", ("AddressRecipient", "UserRecipient", "LightningRecipient")
)


class AnyRecipient(Body):
    """What a recipient is before the type of the payment is known."""


class NewRecurring(Body):
    """What the drafts of all types have."""

    name: Name
    """A label for the recurring payment."""
    type: Annotated[PaymentType, Meanings(TYPE_MEANINGS)]
    """What each run does; it decides what `recipient` is."""
    source: Source
    """The balance that every run is paid from."""
    amount: Amount
    """How much each run moves, in `amount_currency`."""
    amount_currency: Text
    """The source's symbol, or for a withdrawal the beneficiary's fiat: then each run sells as much as that takes."""
    description: Note | None = None
    """A note on every payment."""
    reference: Name | None = None
    """The caller's own reference; each run's transaction has it with `-` and the run's number."""


class CreateRecurring(NewRecurring):
    """A recurring payment before its type is known."""

    recipient: AnyRecipient
    """Who is paid: a beneficiary for a withdrawal, a destination for a send."""


class CreateRecurringWithdraw(NewRecurring):
    """A recurring withdrawal that is to be drafted."""

    type: Literal["withdraw"]
    recipient: BeneficiaryRecipient
    """Who is paid: a saved beneficiary."""


class CreateRecurringSend(NewRecurring):
    """A recurring send that is to be drafted."""

    type: Literal["send"]
    recipient: AnyDestinationRecipient
    """Where the money goes: an address, another user, or over Lightning."""


SENDS = balance.by_destination(
    CreateRecurringSend,
    "A recurring send",
    ("CreateRecurringSendToAddress", "CreateRecurringSendToUser", "CreateRecurringSendOverLightning"),
    "recipient",
    _RECIPIENTS,
)


class End(Body):
    """When the runs end."""

    type: Annotated[EndType, Meanings(END_MEANINGS)]
    """How the end is told; it decides which other member is needed."""
    date: LocalDate | None = None
    """The last day on which a run can be, in the schedule's time zone; required with the type `on_date`."""
    occurrences: Annotated[int, Field(ge=1), Assumed("S19", "minimum")] | None = None
    """How many runs there will be, failed ones included; required with the type `after_occurrences`."""

    @model_validator(mode="before")
    @classmethod
    def _complete(cls, data: object) -> object:
        """on_date needs its date, after_occurrences its occurrences."""
        if isinstance(data, dict):
            name = {"on_date": "date", "after_occurrences": "occurrences"}.get(str(data.get("type")))
            if name is not None and data.get(name) is None:
                absent = InitErrorDetails(type="missing", loc=(name,), input=data)
                raise ValidationError.from_exception_data(cls.__name__, [absent])
        return data


class ScheduleBody(Body):
    """When the runs are to be."""

    frequency: Annotated[Frequency, Meanings(FREQUENCY_MEANINGS)]
    """How often there is a run."""
    day_of_week: Annotated[Weekday, Meanings(WEEKDAY_MEANINGS)] | None = None
    """The day of the runs; required when the frequency is weekly or biweekly."""
    day_of_month: Annotated[int, Field(ge=1, le=31)] | None = None
    """The day of the runs, the last one in shorter months; required when the frequency is monthly."""
    start_date: LocalDate
    """The first day on which a run can be, in `timezone`: today or later."""
    time: LocalTime = DEFAULT_TIME
    """The time of day of the runs, in `timezone`: HH:MM on a clock of 24 hours."""
    timezone: Text = DEFAULT_TIMEZONE
    """The time zone of dates and time, by its IANA name."""
    end: End
    """When the runs end."""

    @model_validator(mode="before")
    @classmethod
    def _defaults(cls, data: object) -> object:
        """null in an optional field is its absence (decision H4)."""
        if isinstance(data, dict):
            return {
                name: value for name, value in data.items() if value is not None or name not in ("time", "timezone")
            }
        return data


class DailySchedule(ScheduleBody):
    """A schedule of daily runs."""

    frequency: Literal["daily"]


class WeeklySchedule(ScheduleBody):
    """A schedule of runs every week or every second week."""

    frequency: Annotated[
        Literal["weekly", "biweekly"], Meanings({name: FREQUENCY_MEANINGS[name] for name in ("weekly", "biweekly")})
    ]
    day_of_week: Annotated[Weekday, Meanings(WEEKDAY_MEANINGS)]
    """The day of the runs."""


class MonthlySchedule(ScheduleBody):
    """A schedule of monthly runs."""

    frequency: Literal["monthly"]
    day_of_month: Annotated[int, Field(ge=1, le=31)]
    """The day of the runs, the last one in shorter months."""


class PauseBody(Body):
    """Why the runs are paused."""

    reason: Note | None = None
    """Why it is paused; shown as `pause_reason`."""


class RestartBody(Body):
    """From when on the runs go on."""

    start_date: LocalDate | None = None
    """The day from which the schedule counts anew; by default the runs go on with its next date."""


SCHEDULES: Mapping[str, type[ScheduleBody]] = {
    "daily": DailySchedule,
    "weekly": WeeklySchedule,
    "biweekly": WeeklySchedule,
    "monthly": MonthlySchedule,
}
