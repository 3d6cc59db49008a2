"""Request bodies of recurring payments: drafts by type and destination, schedules by frequency, pauses and restarts."""

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
    """The balance that the runs are paid from."""

    symbol: Code
    """The asset. For a withdrawal it must be a stablecoin."""
    network: Code
    """The network of the asset, in capitals. Its status in GET /currencies must be `active`."""


class BeneficiaryRecipient(Body):
    """The recipient of a recurring withdrawal."""

    beneficiary_id: Code
    """A saved bank account or mobile money number (POST /beneficiaries)."""


class AnyDestinationRecipient(Body):
    """The recipient of a recurring send."""

    destination: balance.AnyDestination
    """The destination, in the format of POST /wallet/send."""


_RECIPIENTS = balance.by_destination(
    AnyDestinationRecipient, "A recurring send", ("AddressRecipient", "UserRecipient", "LightningRecipient")
)


class AnyRecipient(Body):
    """A recipient before the type of the payment is known."""


class NewRecurring(Body):
    """The fields that drafts of all types share."""

    name: Name
    """A name for the recurring payment."""
    type: Annotated[PaymentType, Meanings(TYPE_MEANINGS)]
    """The type of the runs. It decides the format of `recipient`."""
    source: Source
    """The balance that all runs are paid from."""
    amount: Amount
    """The amount of each run, in `amount_currency`."""
    amount_currency: Text
    """The source's symbol, or for a withdrawal the beneficiary's fiat. Then each run sells as much as needed."""
    description: Note | None = None
    """A note on each payment."""
    reference: Name | None = None
    """Your own reference. The transaction of each run has it with `-` and the number of the run."""


class CreateRecurring(NewRecurring):
    """A recurring payment before its type is known."""

    recipient: AnyRecipient
    """The recipient: a beneficiary for a withdrawal, a destination for a send."""


class CreateRecurringWithdraw(NewRecurring):
    """A draft of a recurring withdrawal."""

    type: Literal["withdraw"]
    recipient: BeneficiaryRecipient
    """The recipient: a saved beneficiary."""


class CreateRecurringSend(NewRecurring):
    """A draft of a recurring send."""

    type: Literal["send"]
    recipient: AnyDestinationRecipient
    """The recipient: an address, another user, or a Lightning address or invoice."""


SENDS = balance.by_destination(
    CreateRecurringSend,
    "A recurring send",
    ("CreateRecurringSendToAddress", "CreateRecurringSendToUser", "CreateRecurringSendOverLightning"),
    "recipient",
    _RECIPIENTS,
)


class End(Body):
    """The end of the runs."""

    type: Annotated[EndType, Meanings(END_MEANINGS)]
    """The type of end. It decides which other field is required."""
    date: LocalDate | None = None
    """The last possible day of a run, in the schedule's time zone. Required with the type `on_date`."""
    occurrences: Annotated[int, Field(ge=1), Assumed("S19", "minimum")] | None = None
    """The number of runs, failed ones included. Required with the type `after_occurrences`."""

    @model_validator(mode="before")
    @classmethod
    def _complete(cls, data: object) -> object:
        """Raise an error if on_date has no date, or after_occurrences no occurrences."""
        if isinstance(data, dict):
            name = {"on_date": "date", "after_occurrences": "occurrences"}.get(str(data.get("type")))
            if name is not None and data.get(name) is None:
                absent = InitErrorDetails(type="missing", loc=(name,), input=data)
                raise ValidationError.from_exception_data(cls.__name__, [absent])
        return data


class ScheduleBody(Body):
    """The schedule of the runs."""

    frequency: Annotated[Frequency, Meanings(FREQUENCY_MEANINGS)]
    """The frequency of the runs."""
    day_of_week: Annotated[Weekday, Meanings(WEEKDAY_MEANINGS)] | None = None
    """The weekday of the runs. Required with the frequency weekly or biweekly."""
    day_of_month: Annotated[int, Field(ge=1, le=31)] | None = None
    """The day of the runs in the month, or the last day of a shorter month. Required with the frequency monthly."""
    start_date: LocalDate
    """The first possible day of a run, in `timezone`. Today or later."""
    time: LocalTime = DEFAULT_TIME
    """The time of day of the runs, in `timezone`, as HH:MM in 24-hour format."""
    timezone: Text = DEFAULT_TIMEZONE
    """The time zone of dates and time, as an IANA name."""
    end: End
    """The end of the runs."""

    @model_validator(mode="before")
    @classmethod
    def _defaults(cls, data: object) -> object:
        """Treat null in an optional field as absent (decision H4)."""
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
    """The weekday of the runs."""


class MonthlySchedule(ScheduleBody):
    """A schedule of monthly runs."""

    frequency: Literal["monthly"]
    day_of_month: Annotated[int, Field(ge=1, le=31)]
    """The day of the runs in the month, or the last day of a shorter month."""


class PauseBody(Body):
    """The reason of a pause."""

    reason: Note | None = None
    """The reason of the pause, shown as `pause_reason`."""


class RestartBody(Body):
    """The start of the runs after a pause."""

    start_date: LocalDate | None = None
    """The new start date of the schedule. By default the runs continue with the schedule's next date."""


SCHEDULES: Mapping[str, type[ScheduleBody]] = {
    "daily": DailySchedule,
    "weekly": WeeklySchedule,
    "biweekly": WeeklySchedule,
    "monthly": MonthlySchedule,
}
