"""The request body for changing a profile, and the parameters of the actions by compliance and support."""

from typing import Annotated, Literal, NoReturn

from pydantic import AfterValidator, Field, StringConstraints, WithJsonSchema

from simulator.engine.text.fields import Body, Name, Text
from simulator.engine.text.shapes import Meanings
from simulator.providers.ramp.profile import shapes
from simulator.providers.ramp.profile.states import PROFILE_STATUSES
from simulator.providers.ramp.shapes import FiatCode


def _refuse(value: object) -> NoReturn:
    raise ValueError("it cannot be changed through the API")


ReadOnly = Annotated[
    object, AfterValidator(_refuse), WithJsonSchema({"not": {}, "description": "Cannot be changed through the API."})
]

FiatAmount = Annotated[str, StringConstraints(pattern=r"^[0-9]{1,18}(\.[0-9]{1,2})?$")]


class PatchProfile(Body):
    """The changes to a profile.

    Omitted fields do not change.
    """

    # Only the fields that were sent are used. The default values come from factories, because a plain default value
    # would appear in the contract.
    first_name: Name = Field(default_factory=str)
    """The new first name."""
    last_name: Name = Field(default_factory=str)
    """The new last name."""
    phone_number: str = Field(default_factory=str)
    """The new phone number, in international format. It takes effect once it has been verified."""
    default_currency: FiatCode = Field(default_factory=lambda: "KES")
    """The new fiat currency for the account limits."""
    email: ReadOnly = Field(default_factory=lambda: None)
    """This field cannot be changed through the API."""
    country: ReadOnly = Field(default_factory=lambda: None)
    """This field cannot be changed through the API."""
    account_type: ReadOnly = Field(default_factory=lambda: None)
    """This field cannot be changed through the API."""
    business_name: ReadOnly = Field(default_factory=lambda: None)
    """This field cannot be changed through the API."""


class NeededAction(Body):
    code: Text
    """A code for the required action."""
    message: Text
    """A description of the required action."""


class SetKyc(Body):
    status: shapes.KycStatus
    """The new KYC status."""
    level: Annotated[int, Field(ge=1, le=3)] | None = None
    """The new tier of the account, which determines its limits. By default, the tier does not change."""
    required_actions: list[NeededAction] | None = None
    """The required actions. If the status is `action_required`, the default is an identity document."""


class SetProfile(Body):
    status: Annotated[Literal["active", "suspended", "closed"], Meanings(PROFILE_STATUSES)]
    """The new status of the profile."""


class SetLimits(Body):
    per_transaction: FiatAmount | None = None
    """The maximum amount of one transaction, in the profile's default currency."""
    daily: FiatAmount | None = None
    """The maximum amount in a day, in the profile's default currency."""
    monthly: FiatAmount | None = None
    """The maximum amount in a month, in the profile's default currency."""


class SetProductionAccess(Body):
    granted: bool
    """True to enable live keys and tokens."""
