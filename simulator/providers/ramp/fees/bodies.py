"""Request bodies of the fee calculator by product, and the parameters of the action on a fee product."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from simulator.engine.text.fields import Amount, Body, Code, Name, Text
from simulator.engine.text.shapes import Assumed, Meanings, OneOf
from simulator.providers.ramp.fees import records
from simulator.providers.ramp.fees.states import STATUSES
from simulator.providers.ramp.shapes import ASSET_CODES, CURRENCY_CODES, FIAT_CODES, FiatCode, ShortNetwork


class CalculateFee(Body):
    """The operation to price. The product decides which other fields are required."""

    product: records.ProductName
    """The operation to price."""
    amount: Amount
    """The amount to price, before fees, in `currency`."""
    currency: Annotated[Text, OneOf(CURRENCY_CODES)]
    """The currency of `amount`: the fiat currency for `onramp` and `buy`, otherwise the asset."""
    network: ShortNetwork | None = None
    """The network of the operation. Required if the product has a network fee."""
    asset: Annotated[Annotated[Text, OneOf(ASSET_CODES)] | None, Assumed("M9")] = None
    """The asset of an onramp or buy, if products differ by asset."""
    fiat_currency: Annotated[Code, OneOf(FIAT_CODES)] | None = None
    """The fiat currency. Required for `onramp`, `offramp`, `buy` and `withdraw`."""
    payment_method: records.PaymentMethod | None = None
    """The payment method for the fiat. Required if the price depends on it."""
    to_asset: Annotated[Code, OneOf(ASSET_CODES)] | None = None
    """The target asset. Required for `swap`."""


class CalculateRampFee(CalculateFee):
    """An onramp or offramp to price."""

    network: ShortNetwork
    """The network of the ramp."""
    fiat_currency: Annotated[Code, OneOf(FIAT_CODES)]
    """The fiat currency of the ramp."""


class CalculatePayoutFee(CalculateFee):
    """A buy or withdrawal to price."""

    fiat_currency: Annotated[Code, OneOf(FIAT_CODES)]
    """The fiat currency of the payment or payout."""


class CalculateSwapFee(CalculateFee):
    """A swap to price."""

    network: ShortNetwork
    """The network of the source asset."""
    to_asset: Annotated[Code, OneOf(ASSET_CODES)]
    """The target asset."""


class CalculateSendFee(CalculateFee):
    """A send to price."""

    network: ShortNetwork
    """The network of the send."""


class NetworkFeeChange(Body):
    """Fields that are not given keep their values."""

    model_config = ConfigDict(extra="forbid")

    amount: Amount | None = None
    """The cost of the blockchain transaction."""
    currency: Text | None = None
    """The currency of `amount`."""
    paid_by: records.Payer | None = None
    """The party that pays it."""


class LimitsChange(Body):
    """Fields that are not given keep their values."""

    model_config = ConfigDict(extra="forbid")

    min_amount: Amount | None = None
    """The smallest amount, in `currency`."""
    max_amount: Amount | None = None
    """The largest amount, in `currency`."""
    currency: Text | None = None
    """The currency of both limits: that of the amount."""


class SetFeeProduct(Body):
    """Any fields of a fee product except its id and updated_at."""

    model_config = ConfigDict(extra="forbid")

    # Only fields that were sent are used. The defaults come from factories so that no schema shows them.
    product: records.ProductName = Field(default_factory=lambda: "onramp")
    """The operation that the product prices."""
    name: Name = Field(default_factory=str)
    """A display name."""
    network: ShortNetwork | None = None
    """The network of the product, or null for all."""
    asset: Text | None = None
    """The asset of the product, or null for all."""
    fiat_currency: FiatCode | None = None
    """The fiat currency of the product. Null if only crypto moves."""
    payment_method: records.PaymentMethod | None = None
    """The payment method of the product, or null for all."""
    fee_currency: Text = Field(default_factory=str)
    """The currency of the fees: that of the amount."""
    percentage: Amount = Field(default_factory=str)
    """The percentage of the amount."""
    fixed: Amount = Field(default_factory=str)
    """A flat fee, added to the percentage."""
    min_fee: Amount = Field(default_factory=str)
    """The smallest processing fee."""
    max_fee: Amount | None = None
    """The largest processing fee, or null for no cap."""
    network_fee: NetworkFeeChange | None = None
    """The cost of the blockchain transaction on top, or null for none."""
    limits: LimitsChange = Field(default_factory=LimitsChange)
    """The range of amounts for which the product can be used."""
    status: Annotated[Literal["active", "inactive"], Meanings(STATUSES)] = Field(default_factory=lambda: "active")
    """The status. Only an active product prices new operations."""


CALCULATIONS: Mapping[str, type[CalculateFee]] = {
    "onramp": CalculateRampFee,
    "offramp": CalculateRampFee,
    "buy": CalculatePayoutFee,
    "withdraw": CalculatePayoutFee,
    "swap": CalculateSwapFee,
    "send": CalculateSendFee,
}
