"""Request bodies of recurring payments: drafts for each type and destination, and schedules for each frequency."""

from collections.abc import Mapping
from datetime import date
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, StringConstraints, ValidationError, model_validator
from pydantic_core import InitErrorDetails

from simulator.engine.text.fields import Amount, Body, Code, Name, Note, Text
from simulator.engine.text.shapes import Assumed, Meanings
from simulator.providers.ramp.balance import bodies as balance
from simulator.providers.ramp.recurring import schedule
from simulator.providers.ramp.recurring.records import TYPE_MEANINGS, PaymentType
from simulator.providers.ramp.recurring.schedule import EndType, Frequency, Weekday


def _a_date(text: str) -> str:
    date.fromisoformat(text)
    return text


LocalDate = Annotated[str, StringConstraints(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"), AfterValidator(_a_date)]
LocalTime = Annotated[str, StringConstraints(pattern=r"^([01][0-9]|2[0-3]):[0-5][0-9]$")]


class Source(Body):
    """The balance that pays for the runs."""

    symbol: Code
    """The asset. For a withdrawal it must be a stablecoin."""
    network: Code
    """The network of the asset, in upper case. Its status in GET /currencies must be `active`."""


class BeneficiaryRecipient(Body):
    """The recipient of a recurring withdrawal."""

    beneficiary_id: Code
    """The id of a saved bank account or mobile money number (see POST /beneficiaries)."""


class AnyDestinationRecipient(Body):
    """The recipient of a recurring send."""

    destination: balance.AnyDestination
    """The destination, in the same format as in POST /wallet/send."""


_RECIPIENTS = balance.by_destination(
    AnyDestinationRecipient, "A recurring send", ("AddressRecipient", "UserRecipient", "LightningRecipient")
)


class AnyRecipient(Body):
    """The recipient in a request whose `type` is missing or unknown."""


class NewRecurring(Body):
    """The fields that all types of recurring payment share."""

    name: Name
    """A name for the recurring payment."""
    type: Annotated[PaymentType, Meanings(TYPE_MEANINGS)]
    """The type of the runs. It determines the format of `recipient`."""
    source: Source
    """The balance that pays for all runs."""
    amount: Amount
    """The amount of each run, in `amount_currency`."""
    amount_currency: Text
    """The currency of `amount`.

    This is the symbol of the source. For a withdrawal, it can also be the fiat currency of the beneficiary. In that
    case, each run sells as much of the source as needed.
    """
    description: Note | None = None
    """A note about each payment."""
    reference: Name | None = None
    """Your own reference. The transaction of each run has this reference followed by `-` and the number of the run."""


class CreateRecurring(NewRecurring):
    """A request whose `type` is missing or unknown. Its other fields are checked as usual."""

    recipient: AnyRecipient
    """The recipient. It is a beneficiary for a withdrawal, and a destination for a send."""


class CreateRecurringWithdraw(NewRecurring):
    """The request to create the draft of a recurring withdrawal."""

    type: Literal["withdraw"]
    recipient: BeneficiaryRecipient
    """The recipient, which is a saved beneficiary."""


class CreateRecurringSend(NewRecurring):
    """The request to create the draft of a recurring send."""

    type: Literal["send"]
    recipient: AnyDestinationRecipient
    """The recipient: an address, another user, a Lightning address or an invoice."""


SENDS = balance.by_destination(
    CreateRecurringSend,
    "A recurring send",
    ("CreateRecurringSendToAddress", "CreateRecurringSendToUser", "CreateRecurringSendOverLightning"),
    "recipient",
    _RECIPIENTS,
)


class End(Body):
    """When a recurring payment stops."""

    type: Annotated[EndType, Meanings(schedule.END_MEANINGS)]
    """The condition that ends the payments. It determines which other field is required."""
    date: LocalDate | None = None
    """The last day on which a run can take place, in the schedule's time zone. Required if the type is `on_date`."""
    occurrences: Annotated[int, Field(ge=1), Assumed("S19", "minimum")] | None = None
    """The number of runs, including failed runs. Required if the type is `after_occurrences`."""

    @model_validator(mode="before")
    @classmethod
    def _complete(cls, data: object) -> object:
        """Raise `ValidationError` if the field that the type requires is missing."""
        if isinstance(data, dict):
            name = {"on_date": "date", "after_occurrences": "occurrences"}.get(str(data.get("type")))
            if name is not None and data.get(name) is None:
                absent = InitErrorDetails(type="missing", loc=(name,), input=data)
                raise ValidationError.from_exception_data(cls.__name__, [absent])
        return data


class ScheduleBody(Body):
    """The schedule of the runs."""

    frequency: Annotated[Frequency, Meanings(schedule.FREQUENCY_MEANINGS)]
    """The frequency of the runs."""
    day_of_week: Annotated[Weekday, Meanings(schedule.WEEKDAY_MEANINGS)] | None = None
    """The weekday of the runs. Required if the frequency is weekly or biweekly."""
    day_of_month: Annotated[int, Field(ge=1, le=31)] | None = None
    """The day of the month for the runs.

    In months without this day, the run is on the last day. Required if the frequency is monthly.
    """
    start_date: LocalDate
    """The first day on which a run can take place, in `timezone`. It must be today or later."""
    time: LocalTime = schedule.DEFAULT_TIME
    """The local time of the runs in `timezone`, as HH:MM (24-hour clock)."""
    timezone: Text = schedule.DEFAULT_TIMEZONE
    """The time zone of the dates and the time, as an IANA name."""
    end: End
    """When the recurring payment stops."""

    @model_validator(mode="before")
    @classmethod
    def _defaults(cls, data: object) -> object:
        """Treat null in an optional field as if the field were absent (decision H4)."""
        if isinstance(data, dict):
            return {
                name: value for name, value in data.items() if value is not None or name not in ("time", "timezone")
            }
        return data


class DailySchedule(ScheduleBody):
    """A schedule with daily runs."""

    frequency: Literal["daily"]


class WeeklySchedule(ScheduleBody):
    """A schedule with runs every week or every second week."""

    frequency: Annotated[
        Literal["weekly", "biweekly"],
        Meanings({name: schedule.FREQUENCY_MEANINGS[name] for name in ("weekly", "biweekly")}),
    ]
    day_of_week: Annotated[Weekday, Meanings(schedule.WEEKDAY_MEANINGS)]
    """The weekday of the runs."""


class MonthlySchedule(ScheduleBody):
    """A schedule with monthly runs."""

    frequency: Literal["monthly"]
    day_of_month: Annotated[int, Field(ge=1, le=31)]
    """The day of the month for the runs. In months without this day, the run is on the last day."""


class PauseBody(Body):
    """The request to pause a recurring payment."""

    reason: Note | None = None
    """The reason for the pause, returned as `pause_reason`."""


class RestartBody(Body):
    """The request to restart a paused recurring payment."""

    start_date: LocalDate | None = None
    """The new start date of the schedule. By default, the runs continue with the next date of the schedule."""


SCHEDULES: Mapping[str, type[ScheduleBody]] = {
    "daily": DailySchedule,
    "weekly": WeeklySchedule,
    "biweekly": WeeklySchedule,
    "monthly": MonthlySchedule,
}
