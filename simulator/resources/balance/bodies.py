"""What the operations of /wallet/* and the actions on what they make are given: bodies and parameters.

"Destination object" of the specification, decisions S14 and S23; who pays a purchase, decision R5.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, NoReturn

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from simulator.wire.fields import Amount, Body, Code, FreeText, Name, Note, Text
from simulator.wire.shapes import Assumed, Method


class AnyDestination(Body):
    """What a destination is before its type is known."""

    type: Literal["address", "platform_user", "lightning"]


class AddressDestination(AnyDestination):
    type: Literal["address"]
    address: Code
    memo: FreeText | None = None


def _nothing_given() -> NoReturn:
    """A destination without any of its fields is missing, which comes before what is malformed (decision H2)."""
    raise PydanticCustomError("missing", "no field says where it goes")


class UserDestination(AnyDestination):
    """Exactly one of the three fields names the recipient (decision S23)."""

    type: Literal["platform_user"]
    email: Code | None = None
    phone_number: Code | None = None
    user_id: Code | None = None

    def given(self) -> dict[str, str]:
        fields = {"email": self.email, "phone_number": self.phone_number, "user_id": self.user_id}
        return {name: value for name, value in fields.items() if value is not None}

    @model_validator(mode="after")
    def _names_somebody(self) -> UserDestination:
        return self if self.given() else _nothing_given()


class LightningDestination(AnyDestination):
    """An invoice or a Lightning address; the invoice is preferred (decision S14)."""

    type: Annotated[Literal["lightning"], Assumed("S14")]
    invoice: Annotated[Text | None, Assumed("S14")] = None
    lightning_address: Annotated[Text | None, Assumed("S14")] = None

    @model_validator(mode="after")
    def _names_something(self) -> LightningDestination:
        return _nothing_given() if self.invoice is None and self.lightning_address is None else self


DESTINATIONS: Mapping[str, type[AnyDestination]] = {
    "address": AddressDestination,
    "platform_user": UserDestination,
    "lightning": LightningDestination,
}


class EstimateBody(Body):
    symbol: Code
    network: Code
    amount: Amount
    destination: AnyDestination


class EstimateToAddress(EstimateBody):
    destination: AddressDestination


class EstimateToUser(EstimateBody):
    destination: UserDestination


class EstimateToLightning(EstimateBody):
    destination: LightningDestination


class SendBody(EstimateBody):
    reference: Name | None = None
    description: Note | None = None


class SendToAddress(SendBody):
    destination: AddressDestination


class SendToUser(SendBody):
    destination: UserDestination


class SendToLightning(SendBody):
    destination: LightningDestination


class SwapSide(Body):
    symbol: Code
    network: Code


class SwapQuoteBody(Body):
    from_: SwapSide = Field(alias="from")
    to: SwapSide
    amount: Amount
    amount_side: Literal["from", "to"]
    slippage: Annotated[float, Field(gt=0, le=50)] | None = None


class UseQuote(Body):
    quote_id: Code
    reference: Name | None = None


class BuyQuoteBody(Body):
    symbol: Code
    network: Code
    fiat_currency: Code
    amount: Amount
    amount_currency: Literal["fiat", "crypto"]
    method: Method


class PhonePayer(Body):
    phone_number: Code


class BankPayer(Body):
    """A buy by bank transfer needs no payer; one that is given has a name (decision R5)."""

    account_name: Annotated[Name, Assumed("R5")]
    account_number: Annotated[FreeText | None, Assumed("R5")] = None
    bank_code: Annotated[FreeText | None, Assumed("R5")] = None
    phone_number: FreeText | None = None


class BuyByMobileMoney(UseQuote):
    payer: PhonePayer


class BuyByBankTransfer(UseQuote):
    payer: BankPayer | None = None


class AnyPayer(Body):
    """A payer before the payment method is known: each member that is given must be text (decision H2)."""

    account_name: FreeText | None = None
    account_number: FreeText | None = None
    bank_code: FreeText | None = None
    phone_number: FreeText | None = None


class BuyAnyhow(UseQuote):
    """A purchase with a quote that does not exist: no member of the payer is required, because the quote says which."""

    payer: AnyPayer | None = None


class WithdrawQuoteBody(Body):
    symbol: Code
    network: Code
    fiat_currency: Code
    amount: Amount
    amount_currency: Text
    beneficiary_id: Code


class BalanceParameters(Body):
    symbol: Text
    network: Text
    amount: Amount
