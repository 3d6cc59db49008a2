"""Request bodies of operations under /wallet, and the parameters of the balance actions (section "Destination object";
decisions S14, S23, R5).
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
    """The destination in a request whose `type` is missing or unknown."""

    type: Annotated[DestinationType, Meanings(DESTINATION_MEANINGS), Assumed("S14", "enum")]
    """The type of destination. It determines which other fields are required."""


class AddressDestination(AnyDestination):
    """An on-chain address."""

    type: Literal["address"]
    """Always `address`."""
    address: Code
    """The recipient's address on the network. Its checksum is verified."""
    memo: FreeText | None = None
    """The memo for a payment on stellar. Exchanges and custodial wallets use it to identify their customer."""


def _nothing_given() -> NoReturn:
    """Report a destination without any fields as missing, before malformed values (decision H2)."""
    raise PydanticCustomError("missing", "the destination is missing")


class UserDestination(AnyDestination):
    """Another user of the service, identified by exactly one of the three fields (decision S23)."""

    type: Literal["platform_user"]
    """Always `platform_user`."""
    email: Code | None = None
    """The user's e-mail address."""
    phone_number: Code | None = None
    """The user's phone number, in international format."""
    user_id: Code | None = None
    """The user's id, as returned by GET /profile for that user."""

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
    """The invoice (BOLT11) to pay.

    The amount must be exactly the invoice's amount. If both fields are given, the invoice is paid.
    """
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
    """Return one subclass of `base` for each destination type. In each subclass, `field` has the model for that type.

    `names` are the model names in the contract. The descriptions of the models start with `about`.
    """
    made: dict[str, type[BodyT]] = {}
    ways = ("to an address", "to another user", "over Lightning")
    for (type_, model), name, way in zip(models.items(), names, ways, strict=True):
        fields: Any = {field: (model, ...)}  # mypy mistakes the keyword arguments for options of create_model
        made[type_] = create_model(name, __base__=base, __doc__=f"{about} {way}.", __module__=base.__module__, **fields)
    return made


class EstimateBody(Body):
    """The terms of a send whose cost is estimated."""

    symbol: Code
    """The asset to send."""
    network: Code
    """The network to send on, in upper case. Its status in GET /currencies must be `active`."""
    amount: Amount
    """The amount to send, in `symbol`, before the fee is deducted.

    It must be between min_withdraw and max_withdraw in GET /currencies.
    """
    destination: AnyDestination
    """The recipient."""


ESTIMATES = by_destination(
    EstimateBody, "The estimate of a send", ("EstimateToAddress", "EstimateToUser", "EstimateToLightning")
)


class SendBody(EstimateBody):
    """The terms of a send."""

    reference: Name | None = None
    """Your own reference. It is stored with the transaction, and searches in lists find it."""
    description: Note | None = None
    """A note about the send."""


SENDS = by_destination(SendBody, "A send", ("SendToAddress", "SendToUser", "SendToLightning"))


class SwapSide(Body):
    """An asset on a network, as one side of a swap."""

    symbol: Code
    """The asset."""
    network: Code
    """The network of the asset, in upper case."""


SIDE_MEANINGS = {"from": "`amount` is the total deducted, fee included.", "to": "`amount` is the amount to receive."}


class SwapQuoteBody(Body):
    """The two sides of a swap. The amount is either the amount to pay or the amount to receive."""

    from_: SwapSide = Field(alias="from")
    """The asset to pay with."""
    to: SwapSide
    """The asset to receive. It can be another asset, or the same asset on another network."""
    amount: Amount
    """The amount, in the asset of the side that `amount_side` selects."""
    amount_side: Annotated[Literal["from", "to"], Meanings(SIDE_MEANINGS)]
    """The side that `amount` refers to."""
    slippage: Annotated[float, Field(gt=0, le=50), Assumed("M8", "exclusiveMinimum", "maximum")] | None = None
    """The maximum slippage, in percent. The default is the `slippage` of the asset `from` in GET /currencies."""


class UseQuote(Body):
    """The id of the quote to execute."""

    quote_id: Code
    """The quote to execute. It must be active."""
    reference: Name | None = None
    """Your own reference. It is stored with the transaction, and searches in lists find it."""


AMOUNT_MEANINGS = {
    "fiat": "`amount` is the total paid, fee included, in `fiat_currency`.",
    "crypto": "`amount` is the amount to credit, in `symbol`.",
}


class BuyQuoteBody(Body):
    """The terms of a purchase. The amount is either the fiat to pay or the crypto to receive."""

    symbol: Code
    """The asset to buy."""
    network: Code
    """The network of the asset, in upper case."""
    fiat_currency: Code
    """The currency to pay in."""
    amount: Amount
    """The amount, in the currency that `amount_currency` selects."""
    amount_currency: Annotated[Literal["fiat", "crypto"], Meanings(AMOUNT_MEANINGS)]
    """The side that `amount` refers to."""
    method: Method
    """The payment method for the fiat. Some currencies do not support every method."""


class PhonePayer(Body):
    """The payer of a purchase by mobile money."""

    phone_number: Code
    """The phone number that receives the payment prompt.

    It must be in international format and belong to the country of the quote's currency.
    """


class BankPayer(Body):
    """The payer of a purchase by bank transfer.

    The payer is optional. If it is given, it must have a name (decision R5).
    """

    account_name: Annotated[Name, Assumed("R5")]
    """The name on the payer's account."""
    account_number: Annotated[FreeText | None, Assumed("R5")] = None
    """The payer's account number."""
    bank_code: Annotated[FreeText | None, Assumed("R5")] = None
    """The code of the payer's bank."""
    phone_number: FreeText | None = None
    """The payer's phone number. Not used with bank transfers."""


class BuyByMobileMoney(UseQuote):
    """The request to execute a buy quote that is paid by mobile money."""

    payer: PhonePayer
    """The payer. Required for mobile money."""


class BuyByBankTransfer(UseQuote):
    """The request to execute a buy quote that is paid by bank transfer."""

    payer: BankPayer | None = None
    """The payer. Optional for bank transfers."""


class AnyPayer(Body):
    """The payer in a request with an unknown quote. Each given field must be a string (decision H2)."""

    account_name: FreeText | None = None
    account_number: FreeText | None = None
    bank_code: FreeText | None = None
    phone_number: FreeText | None = None


class BuyWithUnknownQuote(UseQuote):
    """The request to execute an unknown buy quote. The quote would determine the required payer fields."""

    payer: AnyPayer | None = None


class WithdrawQuoteBody(Body):
    """The terms of a payout. The amount is either the debit or the payout."""

    symbol: Code
    """The stablecoin to pay with."""
    network: Code
    """The network of the stablecoin, in upper case. Its status in GET /currencies must be `active`."""
    fiat_currency: Code
    """The currency of the payout, which is the beneficiary's currency."""
    amount: Amount
    """The amount, in `amount_currency`. It is either the amount to debit in `symbol` or the fiat amount to pay out."""
    amount_currency: Text
    """The currency of `amount`, which is the value of either `symbol` or `fiat_currency`."""
    beneficiary_id: Code
    """The payout recipient.

    It must be a saved bank account or mobile money number in this currency (see POST /beneficiaries).
    """


class BalanceParameters(Body):
    symbol: Text
    """The asset."""
    network: Text
    """The network of the asset, in upper case."""
    amount: Amount
    """The new available amount. Held amounts do not change."""
