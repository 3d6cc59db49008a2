"""The bodies of recurring payments: drafts by type and destination, schedules by frequency, pauses and restarts."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, StringConstraints, ValidationError, model_validator
from pydantic_core import InitErrorDetails

from simulator.resources.balance import AddressDestination, AnyDestination, LightningDestination, UserDestination
from simulator.resources.recurring.records import PaymentType
from simulator.resources.recurring.schedule import DEFAULT_TIME, DEFAULT_TIMEZONE, EndType, Frequency, Weekday
from simulator.wire.fields import Amount, Body, Code, Name, Note, Text


def _a_date(text: str) -> str:
    date.fromisoformat(text)
    return text


LocalDate = Annotated[str, StringConstraints(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"), AfterValidator(_a_date)]
LocalTime = Annotated[str, StringConstraints(pattern=r"^([01][0-9]|2[0-3]):[0-5][0-9]$")]


class Source(Body):
    symbol: Code
    network: Code


class BeneficiaryRecipient(Body):
    beneficiary_id: Code


class AnyDestinationRecipient(Body):
    destination: AnyDestination


class AddressRecipient(AnyDestinationRecipient):
    destination: AddressDestination


class UserRecipient(AnyDestinationRecipient):
    destination: UserDestination


class LightningRecipient(AnyDestinationRecipient):
    destination: LightningDestination


class AnyRecipient(Body):
    """What a recipient is before the type of the payment is known."""


class NewRecurring(Body):
    """What the drafts of all types have."""

    name: Name
    type: PaymentType
    source: Source
    amount: Amount
    amount_currency: Text
    description: Note | None = None
    reference: Name | None = None


class CreateRecurring(NewRecurring):
    recipient: AnyRecipient


class CreateRecurringWithdraw(NewRecurring):
    type: Literal["withdraw"]
    recipient: BeneficiaryRecipient


class CreateRecurringSend(NewRecurring):
    type: Literal["send"]
    recipient: AnyDestinationRecipient


class CreateRecurringSendToAddress(CreateRecurringSend):
    recipient: AddressRecipient


class CreateRecurringSendToUser(CreateRecurringSend):
    recipient: UserRecipient


class CreateRecurringSendOverLightning(CreateRecurringSend):
    recipient: LightningRecipient


class End(Body):
    type: EndType
    date: LocalDate | None = None
    occurrences: Annotated[int, Field(ge=1)] | None = None

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
    frequency: Frequency
    day_of_week: Weekday | None = None
    day_of_month: Annotated[int, Field(ge=1, le=31)] | None = None
    start_date: LocalDate
    time: LocalTime = DEFAULT_TIME
    timezone: Text = DEFAULT_TIMEZONE
    end: End

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
    frequency: Literal["daily"]


class WeeklySchedule(ScheduleBody):
    frequency: Literal["weekly", "biweekly"]
    day_of_week: Weekday


class MonthlySchedule(ScheduleBody):
    frequency: Literal["monthly"]
    day_of_month: Annotated[int, Field(ge=1, le=31)]


class PauseBody(Body):
    reason: Note | None = None


class RestartBody(Body):
    start_date: LocalDate | None = None
