"""What the operations of /wallet/* and the actions on what they make are given: bodies and parameters.

"Destination object" of the specification, decisions S14 and S23; who pays a purchase, decision R5.
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
    "platform_user": "Another user of the service: free and at once.",
    "lightning": "A Lightning invoice or address, for BTC on the network BITCOIN.",
}


class AnyDestination(Body):
    """What a destination is before its type is known."""

    type: Annotated[DestinationType, Meanings(DESTINATION_MEANINGS), Assumed("S14", "enum")]
    """What sort of destination this is; it decides which other members are there."""


class AddressDestination(AnyDestination):
    """An address on the chain."""

    type: Literal["address"]
    """Always `address`."""
    address: Code
    """The address that is paid, in the form of the network; its checksum is checked."""
    memo: FreeText | None = None
    """The memo of a stellar payment; exchanges and custodial wallets need one to tell their customers apart."""


def _nothing_given() -> NoReturn:
    """A destination without any of its fields is missing, which comes before what is malformed (decision H2)."""
    raise PydanticCustomError("missing", "no field says where it goes")


class UserDestination(AnyDestination):
    """Exactly one of the three fields names the recipient (decision S23)."""

    type: Literal["platform_user"]
    """Always `platform_user`."""
    email: Code | None = None
    """The user with this e-mail address."""
    phone_number: Code | None = None
    """The user with this phone number, in international format."""
    user_id: Code | None = None
    """The user with this id, as GET /profile shows it to that user."""

    def given(self) -> dict[str, str]:
        fields = {"email": self.email, "phone_number": self.phone_number, "user_id": self.user_id}
        return {name: value for name, value in fields.items() if value is not None}

    @model_validator(mode="after")
    def _names_somebody(self) -> "UserDestination":
        return self if self.given() else _nothing_given()


class LightningDestination(AnyDestination):
    """An invoice or a Lightning address; the invoice is preferred (decision S14)."""

    type: Annotated[Literal["lightning"], Assumed("S14")]
    """Always `lightning`."""
    invoice: Annotated[Text | None, Assumed("S14", "nullable")] = None
    """The invoice (BOLT11) to pay, for exactly its amount; it goes before a `lightning_address`."""
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
    """Return a model of `base` for each type of destination, in which `field` has the model of that type.

    `names` are the names of the models in the contract, `about` begins their descriptions.
    """
    made: dict[str, type[BodyT]] = {}
    ways = ("to an address", "to another user", "over Lightning")
    for (type_, model), name, way in zip(models.items(), names, ways, strict=True):
        fields: Any = {field: (model, ...)}  # mypy takes the keywords for options of create_model
        made[type_] = create_model(name, __base__=base, __doc__=f"{about} {way}.", __module__=base.__module__, **fields)
    return made


class EstimateBody(Body):
    """What a send would move, and to whom."""

    symbol: Code
    """The asset to send."""
    network: Code
    """The network to send it over, in capitals; its status in GET /currencies must be `active`."""
    amount: Amount
    """How much to send, in `symbol`, before the fee: from min_withdraw to max_withdraw of GET /currencies."""
    destination: AnyDestination
    """Who gets it."""


ESTIMATES = by_destination(
    EstimateBody, "The estimate of a send", ("EstimateToAddress", "EstimateToUser", "EstimateToLightning")
)


class SendBody(EstimateBody):
    """What is to be sent, and to whom."""

    reference: Name | None = None
    """The caller's own reference; shown on the transaction and found by `search`."""
    description: Note | None = None
    """A note on the send."""


SENDS = by_destination(SendBody, "A send", ("SendToAddress", "SendToUser", "SendToLightning"))


class SwapSide(Body):
    """An asset on a network."""

    symbol: Code
    """The asset."""
    network: Code
    """The network it lies on, in capitals."""


SIDE_MEANINGS = {"from": "`amount` is what is deducted, fee included.", "to": "`amount` is what is to be received."}


class SwapQuoteBody(Body):
    """What is to be swapped for what, and which side the amount counts."""

    from_: SwapSide = Field(alias="from")
    """What is given."""
    to: SwapSide
    """What is wanted; another asset, or the same one on another network."""
    amount: Amount
    """How much, in the asset of the side that `amount_side` names."""
    amount_side: Annotated[Literal["from", "to"], Meanings(SIDE_MEANINGS)]
    """Which side `amount` is on."""
    slippage: Annotated[float, Field(gt=0, le=50), Assumed("M8", "exclusiveMinimum", "maximum")] | None = None
    """How many percent less than quoted may be received; by default what GET /currencies says of the asset `from`."""


class UseQuote(Body):
    """The quote that is to be executed."""

    quote_id: Code
    """The quote to execute; it must be active."""
    reference: Name | None = None
    """The caller's own reference; shown on the transaction and found by `search`."""


AMOUNT_MEANINGS = {
    "fiat": "`amount` is what is paid, fee included, in `fiat_currency`.",
    "crypto": "`amount` is what is to be credited, in `symbol`.",
}


class BuyQuoteBody(Body):
    """What is to be bought, and which side the amount counts."""

    symbol: Code
    """The asset to buy."""
    network: Code
    """The network it lies on, in capitals."""
    fiat_currency: Code
    """The currency to pay in."""
    amount: Amount
    """How much, in the currency that `amount_currency` names."""
    amount_currency: Annotated[Literal["fiat", "crypto"], Meanings(AMOUNT_MEANINGS)]
    """Which side `amount` is on."""
    method: Method
    """How the fiat is going to be paid; not every currency takes every method."""


class PhonePayer(Body):
    """Who pays by mobile money."""

    phone_number: Code
    """The phone that gets the prompt to pay: international format, of the country of the quote's currency."""


class BankPayer(Body):
    """A buy by bank transfer needs no payer; one that is given has a name (decision R5)."""

    account_name: Annotated[Name, Assumed("R5")]
    """The name of the account that the transfer comes from."""
    account_number: Annotated[FreeText | None, Assumed("R5")] = None
    """The number of that account."""
    bank_code: Annotated[FreeText | None, Assumed("R5")] = None
    """The bank of that account, by its code in the country."""
    phone_number: FreeText | None = None
    """A phone number of the payer; a bank transfer does not use it."""


class BuyByMobileMoney(UseQuote):
    """The execution of a buy quote by mobile money."""

    payer: PhonePayer
    """Who pays: required by mobile money."""


class BuyByBankTransfer(UseQuote):
    """The execution of a buy quote by bank transfer."""

    payer: BankPayer | None = None
    """Who pays: optional by bank transfer."""


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
    """What is to be paid out to whom, and which side the amount counts."""

    symbol: Code
    """The stablecoin to pay with."""
    network: Code
    """The network it lies on, in capitals; its status in GET /currencies must be `active`."""
    fiat_currency: Code
    """The currency to be paid out; the beneficiary's."""
    amount: Amount
    """How much, in `amount_currency`: in `symbol` what is debited, in the fiat what the beneficiary receives."""
    amount_currency: Text
    """`symbol` or `fiat_currency`: which side `amount` is on."""
    beneficiary_id: Code
    """Who is paid: a saved bank account or mobile money number of this currency (POST /beneficiaries)."""


class BalanceParameters(Body):
    symbol: Text
    """The asset."""
    network: Text
    """The network it lies on, in capitals."""
    amount: Amount
    """What is to be available of it from now on; what is held stays held."""
