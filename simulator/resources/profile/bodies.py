"""The body that changes a profile, and the parameters of the actions of compliance and support."""

from __future__ import annotations

from typing import Annotated, Literal, NoReturn

from pydantic import AfterValidator, Field, StringConstraints, WithJsonSchema

from simulator.resources.profile import shapes
from simulator.wire.fields import Body, Name, Text
from simulator.wire.shapes import FiatCode


def _refuse(value: object) -> NoReturn:
    raise ValueError("it cannot be changed through the interface")


Fixed = Annotated[
    object,
    AfterValidator(_refuse),
    WithJsonSchema({"not": {}, "description": "Cannot be changed through the interface."}),
]

FiatAmount = Annotated[str, StringConstraints(pattern=r"^[0-9]{1,18}(\.[0-9]{1,2})?$")]


class PatchProfile(Body):
    """Only the fields sent change; the last four cannot be changed through the interface (decision H6)."""

    # Only fields that were sent are looked at: the defaults come from factories so that the contract shows none.
    first_name: Name = Field(default_factory=str)
    last_name: Name = Field(default_factory=str)
    phone_number: str = Field(default_factory=str)
    default_currency: FiatCode = Field(default_factory=lambda: "KES")
    email: Fixed = Field(default_factory=lambda: None)
    country: Fixed = Field(default_factory=lambda: None)
    account_type: Fixed = Field(default_factory=lambda: None)
    business_name: Fixed = Field(default_factory=lambda: None)


class NeededAction(Body):
    code: Text
    message: Text


class SetKyc(Body):
    status: shapes.KycStatus
    level: Annotated[int, Field(ge=1, le=3)] | None = None
    required_actions: list[NeededAction] | None = None


class SetProfile(Body):
    status: Literal["active", "suspended", "closed"]


class SetLimits(Body):
    per_transaction: FiatAmount | None = None
    daily: FiatAmount | None = None
    monthly: FiatAmount | None = None


class SetProductionAccess(Body):
    granted: bool
