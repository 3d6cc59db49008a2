"""The body that changes a profile, and the parameters of the actions of compliance and support."""

from typing import Annotated, Literal, NoReturn

from pydantic import AfterValidator, Field, StringConstraints, WithJsonSchema

from simulator.engine.text.fields import Body, Name, Text
from simulator.engine.text.shapes import Meanings
from simulator.providers.ramp.profile import shapes
from simulator.providers.ramp.profile.states import PROFILE_STATUSES
from simulator.providers.ramp.shapes import FiatCode


def _refuse(value: object) -> NoReturn:
    raise ValueError("it cannot be changed through the interface")


Fixed = Annotated[
    object,
    AfterValidator(_refuse),
    WithJsonSchema({"not": {}, "description": "Cannot be changed through the interface."}),
]

FiatAmount = Annotated[str, StringConstraints(pattern=r"^[0-9]{1,18}(\.[0-9]{1,2})?$")]


class PatchProfile(Body):
    """What is to change; fields that are not sent stay. The last four cannot be changed through the interface."""

    # Only fields that were sent are looked at: the defaults come from factories so that the contract shows none.
    first_name: Name = Field(default_factory=str)
    """The new first name."""
    last_name: Name = Field(default_factory=str)
    """The new last name."""
    phone_number: str = Field(default_factory=str)
    """The new phone number, in international format; it must be verified before it takes effect."""
    default_currency: FiatCode = Field(default_factory=lambda: "KES")
    """The fiat currency in which limits are counted from now on."""
    email: Fixed = Field(default_factory=lambda: None)
    """Cannot be changed through the interface."""
    country: Fixed = Field(default_factory=lambda: None)
    """Cannot be changed through the interface."""
    account_type: Fixed = Field(default_factory=lambda: None)
    """Cannot be changed through the interface."""
    business_name: Fixed = Field(default_factory=lambda: None)
    """Cannot be changed through the interface."""


class NeededAction(Body):
    code: Text
    """What is needed, for programs."""
    message: Text
    """What is needed, for people."""


class SetKyc(Body):
    status: shapes.KycStatus
    """What the KYC status becomes."""
    level: Annotated[int, Field(ge=1, le=3)] | None = None
    """The tier that the account gets, with its limits; unchanged when absent."""
    required_actions: list[NeededAction] | None = None
    """What compliance still needs; for `action_required` an identity document when absent."""


class SetProfile(Body):
    status: Annotated[Literal["active", "suspended", "closed"], Meanings(PROFILE_STATUSES)]
    """What the status of the profile becomes."""


class SetLimits(Body):
    per_transaction: FiatAmount | None = None
    """The most that one transaction may move, in the profile's default currency."""
    daily: FiatAmount | None = None
    """The most that may be moved in a day, in the profile's default currency."""
    monthly: FiatAmount | None = None
    """The most that may be moved in a month, in the profile's default currency."""


class SetProductionAccess(Body):
    granted: bool
    """Whether live keys and tokens work."""
