"""Request bodies of the operations under /wallet, and the parameters of the actions on balances.

"Destination object" of the specification, decisions S14 and S23; payers of a purchase, decision R5.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, NoReturn, TypeVar

from pydantic import Field, create_model, model_validator
from pydantic_core import PydanticCustomError

from simulator.engine.text.fields import Amount, Body, Code, FreeText, Name, Note, Text
from simulator.engine.text.shapes import Assumed, Meanings
from simulator.providers.ramp.shapes import Method

DestinationType = Literal["address", "platform_user", "lightning"]
DESTINATION_MEANINGS = {
    "address": "An address on the chain of the asset.",
    "platform_user": "Another user of the service. The transfer is free and immediate.",
    "lightning": "A Lightning invoice or address, for BTC on the network BITCOIN.",
}


class AnyDestination(Body):
    """A destination before its type is known."""

    type: Annotated[DestinationType, Meanings(DESTINATION_MEANINGS), Assumed("S14", "enum")]
    """The type of destination. It decides which other fields are required."""


class AddressDestination(AnyDestination):
    """An on-chain address."""

    type: Literal["address"]
    """Always `address`."""
    address: Code
    """The recipient's address on the network. Its checksum is verified."""
    memo: FreeText | None = None
    """The memo of a stellar payment. Exchanges and custodial wallets need it to identify their customer."""


def _nothing_given() -> NoReturn:
    """Raise the error for a destination without fields: missing, which comes before malformed (decision H2)."""
    raise PydanticCustomError("missing", "no field says where it goes")


class UserDestination(AnyDestination):
    """Another user of the service, identified by exactly one of the three fields (decision S23)."""

    type: Literal["platform_user"]
    """Always `platform_user`."""
    email: Code | None = None
    """The user's e-mail address."""
    phone_number: Code | None = None
    """The user's phone number, in international format."""
    user_id: Code | None = None
    """The user's id, as GET /profile shows it to that user."""

    def given(self) -> dict[str, str]:
        fields = {"email": self.email, "phone_number": self.phone_number, "user_id": self.user_id}
        return {name: value for name, value in fields.items() if value is not None}

    @model_validator(mode="after")
    def _names_somebody(self) -> "UserDestination":
        return self if self.given() else _nothing_given()


class LightningDestination(AnyDestination):
    """A Lightning invoice or address. If both are given, the invoice is paid (decision S14)."""

    type: Annotated[Literal["lightning"], Assumed("S14")]
    """Always `lightning`."""
    invoice: Annotated[Text | None, Assumed("S14", "nullable")] = None
    """The invoice (BOLT11) to pay, for exactly its amount. It takes precedence over `lightning_address`."""
    lightning_address: Annotated[Text | None, Assumed("S14", "nullable")] = None
    """The Lightning address (name@domain) to pay."""

    @model_validator(mode="after")
    def _names_something(self) -> "LightningDestination":
        return _nothing_given() if self.invoice is None and self.lightning_address is None else self


DESTINATIONS: Mapping[str, type[AnyDestination]] = {
    "address": AddressDestination,
    "platform_user": UserDestination,
    "lightning": LightningDestination,
}


BodyT = TypeVar("BodyT", bound=Body)


def by_destination(
    base: type[BodyT],
    about: str,
    names: tuple[str, str, str],
    field: str = "destination",
    models: Mapping[str, type[Body]] = DESTINATIONS,
) -> Mapping[str, type[BodyT]]:
    """Return a model of `base` for each type of destination. In each, `field` has the model of that type.

    `names` are the names of the models in the contract, and their descriptions start with `about`.
    """
    made: dict[str, type[BodyT]] = {}
    ways = ("to an address", "to another user", "over Lightning")
    for (type_, model), name, way in zip(models.items(), names, ways, strict=True):
        fields: Any = {field: (model, ...)}  # mypy takes the keywords for options of create_model
        made[type_] = create_model(name, __base__=base, __doc__=f"{about} {way}.", __module__=base.__module__, **fields)
    return made


class EstimateBody(Body):
    """The terms of a send to estimate."""

    symbol: Code
    """The asset to send."""
    network: Code
    """The network to send on, in capitals. Its status in GET /currencies must be `active`."""
    amount: Amount
    """The amount to send before the fee, in `symbol`, from min_withdraw to max_withdraw of GET /currencies."""
    destination: AnyDestination
    """The recipient."""


ESTIMATES = by_destination(
    EstimateBody, "The estimate of a send", ("EstimateToAddress", "EstimateToUser", "EstimateToLightning")
)


class SendBody(EstimateBody):
    """The terms of a send."""

    reference: Name | None = None
    """Your own reference. The transaction shows it, and lists can be searched for it."""
    description: Note | None = None
    """A note on the send."""


SENDS = by_destination(SendBody, "A send", ("SendToAddress", "SendToUser", "SendToLightning"))


class SwapSide(Body):
    """An asset on a network."""

    symbol: Code
    """The asset."""
    network: Code
    """The network of the asset, in capitals."""


SIDE_MEANINGS = {"from": "`amount` is the total deducted, fee included.", "to": "`amount` is the amount to receive."}


class SwapQuoteBody(Body):
    """The two sides of a swap, and the side that the amount is on."""

    from_: SwapSide = Field(alias="from")
    """The asset to give."""
    to: SwapSide
    """The asset to receive: another asset, or the same asset on another network."""
    amount: Amount
    """The amount, in the asset of the side that `amount_side` names."""
    amount_side: Annotated[Literal["from", "to"], Meanings(SIDE_MEANINGS)]
    """The side that `amount` is on."""
    slippage: Annotated[float, Field(gt=0, le=50), Assumed("M8", "exclusiveMinimum", "maximum")] | None = None
    """The tolerated loss in percent. By default the slippage of the asset `from` in GET /currencies."""


class UseQuote(Body):
    """The quote to execute."""

    quote_id: Code
    """The quote to execute. It must be active."""
    reference: Name | None = None
    """Your own reference. The transaction shows it, and lists can be searched for it."""


AMOUNT_MEANINGS = {
    "fiat": "`amount` is the total paid, fee included, in `fiat_currency`.",
    "crypto": "`amount` is the amount to credit, in `symbol`.",
}


class BuyQuoteBody(Body):
    """The terms of a purchase, and the side that the amount is on."""

    symbol: Code
    """The asset to buy."""
    network: Code
    """The network of the asset, in capitals."""
    fiat_currency: Code
    """The currency to pay in."""
    amount: Amount
    """The amount, in the currency that `amount_currency` names."""
    amount_currency: Annotated[Literal["fiat", "crypto"], Meanings(AMOUNT_MEANINGS)]
    """The side that `amount` is on."""
    method: Method
    """The payment method for the fiat. Not every currency supports every method."""


class PhonePayer(Body):
    """The payer of a purchase by mobile money."""

    phone_number: Code
    """The phone that gets the payment prompt. International format, a number of the country of the quote's currency."""


class BankPayer(Body):
    """The payer of a purchase by bank transfer. A payer is optional, but if given it must have a name (decision R5)."""

    account_name: Annotated[Name, Assumed("R5")]
    """The name on the payer's account."""
    account_number: Annotated[FreeText | None, Assumed("R5")] = None
    """The payer's account number."""
    bank_code: Annotated[FreeText | None, Assumed("R5")] = None
    """The payer's bank, by its code in the country."""
    phone_number: FreeText | None = None
    """The payer's phone number. Not used with bank transfers."""


class BuyByMobileMoney(UseQuote):
    """The execution of a buy quote by mobile money."""

    payer: PhonePayer
    """The payer. Required with mobile money."""


class BuyByBankTransfer(UseQuote):
    """The execution of a buy quote by bank transfer."""

    payer: BankPayer | None = None
    """The payer. Optional with bank transfers."""


class AnyPayer(Body):
    """A payer before the payment method is known. Each given field must be a string (decision H2)."""

    account_name: FreeText | None = None
    account_number: FreeText | None = None
    bank_code: FreeText | None = None
    phone_number: FreeText | None = None


class BuyWithUnknownQuote(UseQuote):
    """A purchase with an unknown quote. No payer field is required, because only the quote decides which are."""

    payer: AnyPayer | None = None


class WithdrawQuoteBody(Body):
    """The terms of a payout, and the side that the amount is on."""

    symbol: Code
    """The stablecoin to pay with."""
    network: Code
    """The network of the stablecoin, in capitals. Its status in GET /currencies must be `active`."""
    fiat_currency: Code
    """The currency of the payout, which is the beneficiary's currency."""
    amount: Amount
    """The amount in `amount_currency`: the debit in `symbol`, or the payout in fiat."""
    amount_currency: Text
    """The side that `amount` is on: the code in `symbol` or in `fiat_currency`."""
    beneficiary_id: Code
    """The payout recipient: a saved bank account or mobile money number with this currency (POST /beneficiaries)."""


class BalanceParameters(Body):
    symbol: Text
    """The asset."""
    network: Text
    """The network of the asset, in capitals."""
    amount: Amount
    """The new available amount. Held amounts do not change."""
