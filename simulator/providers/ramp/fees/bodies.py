"""The bodies of the fee calculator by product, and the parameters of the action on a fee product."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from simulator.engine.text.fields import Amount, Body, Code, Name, Text
from simulator.engine.text.shapes import Assumed, Meanings, OneOf
from simulator.providers.ramp.fees import records
from simulator.providers.ramp.fees.states import STATUSES
from simulator.providers.ramp.shapes import ASSET_CODES, CURRENCY_CODES, FIAT_CODES, FiatCode, ShortNetwork


class CalculateFee(Body):
    """What is to be priced. The product decides which further fields are needed."""

    product: records.ProductName
    """The operation to price."""
    amount: Amount
    """The amount to price, before fees, in `currency`."""
    currency: Annotated[Text, OneOf(CURRENCY_CODES)]
    """The currency of `amount`: the fiat currency for `onramp` and `buy`, else the asset."""
    network: ShortNetwork | None = None
    """The network of the operation; needed where the product has a network fee."""
    asset: Annotated[Annotated[Text, OneOf(ASSET_CODES)] | None, Assumed("M9")] = None
    """The asset of an onramp or buy, where products differ by it."""
    fiat_currency: Annotated[Code, OneOf(FIAT_CODES)] | None = None
    """The fiat currency; needed for `onramp`, `offramp`, `buy` and `withdraw`."""
    payment_method: records.PaymentMethod | None = None
    """How the fiat moves; needed where the price differs by it."""
    to_asset: Annotated[Code, OneOf(ASSET_CODES)] | None = None
    """The asset swapped to; needed for `swap`."""


class CalculateRampFee(CalculateFee):
    """What is to be priced is an onramp or offramp."""

    network: ShortNetwork
    """The network of the ramp."""
    fiat_currency: Annotated[Code, OneOf(FIAT_CODES)]
    """The fiat currency of the ramp."""


class CalculatePayoutFee(CalculateFee):
    """What is to be priced is a buy or a withdrawal."""

    fiat_currency: Annotated[Code, OneOf(FIAT_CODES)]
    """The fiat currency that is paid or paid out."""


class CalculateSwapFee(CalculateFee):
    """What is to be priced is a swap."""

    network: ShortNetwork
    """The network swapped from."""
    to_asset: Annotated[Code, OneOf(ASSET_CODES)]
    """The asset swapped to."""


class CalculateSendFee(CalculateFee):
    """What is to be priced is a send."""

    network: ShortNetwork
    """The network that is sent on."""


class NetworkFeeChange(Body):
    """Members that are not named keep their values."""

    model_config = ConfigDict(extra="forbid")

    amount: Amount | None = None
    """What the blockchain transaction costs."""
    currency: Text | None = None
    """The currency of `amount`."""
    paid_by: records.Payer | None = None
    """Who bears it."""


class LimitsChange(Body):
    """Members that are not named keep their values."""

    model_config = ConfigDict(extra="forbid")

    min_amount: Amount | None = None
    """The least amount, in `currency`."""
    max_amount: Amount | None = None
    """The most, in `currency`."""
    currency: Text | None = None
    """The currency of both: that of the amount."""


class SetFeeProduct(Body):
    """Any fields of a fee product but its id and updated_at."""

    model_config = ConfigDict(extra="forbid")

    # Only fields that were sent are looked at: the defaults come from factories so that no schema shows them.
    product: records.ProductName = Field(default_factory=lambda: "onramp")
    """The operation that it prices."""
    name: Name = Field(default_factory=str)
    """A name to show."""
    network: ShortNetwork | None = None
    """The network that it is for; null for all."""
    asset: Text | None = None
    """The asset that it is for; null for all."""
    fiat_currency: FiatCode | None = None
    """The fiat currency that it is for; null where only crypto moves."""
    payment_method: records.PaymentMethod | None = None
    """The payment method that it is for; null for all."""
    fee_currency: Text = Field(default_factory=str)
    """The currency of the fees: that of the amount."""
    percentage: Amount = Field(default_factory=str)
    """The share of the amount, in percent."""
    fixed: Amount = Field(default_factory=str)
    """A flat fee, added to the share."""
    min_fee: Amount = Field(default_factory=str)
    """The least processing fee."""
    max_fee: Amount | None = None
    """The most processing fee; null for no cap."""
    network_fee: NetworkFeeChange | None = None
    """What the blockchain transaction costs on top; null where there is none."""
    limits: LimitsChange = Field(default_factory=LimitsChange)
    """Between which amounts the product can be used."""
    status: Annotated[Literal["active", "inactive"], Meanings(STATUSES)] = Field(default_factory=lambda: "active")
    """Whether new operations may use it."""


CALCULATIONS: Mapping[str, type[CalculateFee]] = {
    "onramp": CalculateRampFee,
    "offramp": CalculateRampFee,
    "buy": CalculatePayoutFee,
    "withdraw": CalculatePayoutFee,
    "swap": CalculateSwapFee,
    "send": CalculateSendFee,
}
