"""Request bodies of the fee calculator, one for each product, and the parameters of the action `set_fee_product`."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from simulator.engine.text.fields import Amount, Body, Code, Name, Text
from simulator.engine.text.shapes import Assumed, Meanings, OneOf
from simulator.providers.ramp.fees import records
from simulator.providers.ramp.fees.states import STATUSES
from simulator.providers.ramp.shapes import ASSET_CODES, CURRENCY_CODES, FIAT_CODES, FiatCode, ShortNetwork


class CalculateFee(Body):
    """The operation to calculate a fee for. The product determines which other fields are required."""

    product: records.ProductName
    """The operation to calculate a fee for."""
    amount: Amount
    """The amount before fees, in `currency`."""
    currency: Annotated[Text, OneOf(CURRENCY_CODES)]
    """The currency of `amount`. It is the fiat currency for `onramp` and `buy`, and the asset for all other products.
    """
    network: ShortNetwork | None = None
    """The network of the operation. Required if the product includes a network fee."""
    asset: Annotated[Annotated[Text, OneOf(ASSET_CODES)] | None, Assumed("M9")] = None
    """The asset of an onramp or buy. Required if the fee depends on the asset."""
    fiat_currency: Annotated[Code, OneOf(FIAT_CODES)] | None = None
    """The fiat currency. Required for `onramp`, `offramp`, `buy` and `withdraw`."""
    payment_method: records.PaymentMethod | None = None
    """The payment method for the fiat. Required if the fee depends on it."""
    to_asset: Annotated[Code, OneOf(ASSET_CODES)] | None = None
    """The target asset. Required for `swap`."""


class CalculateRampFee(CalculateFee):
    """An onramp or offramp to calculate a fee for."""

    network: ShortNetwork
    """The network of the ramp."""
    fiat_currency: Annotated[Code, OneOf(FIAT_CODES)]
    """The fiat currency of the ramp."""


class CalculatePayoutFee(CalculateFee):
    """A buy or withdrawal to calculate a fee for."""

    fiat_currency: Annotated[Code, OneOf(FIAT_CODES)]
    """The fiat currency of the payment or payout."""


class CalculateSwapFee(CalculateFee):
    """A swap to calculate a fee for."""

    network: ShortNetwork
    """The network of the source asset."""
    to_asset: Annotated[Code, OneOf(ASSET_CODES)]
    """The target asset."""


class CalculateSendFee(CalculateFee):
    """A send to calculate a fee for."""

    network: ShortNetwork
    """The network of the send."""


class NetworkFeeChange(Body):
    """The changes to a network fee. Omitted fields do not change."""

    model_config = ConfigDict(extra="forbid")

    amount: Amount | None = None
    """The cost of the blockchain transaction."""
    currency: Text | None = None
    """The currency of `amount`."""
    paid_by: records.Payer | None = None
    """The party that pays the network fee."""


class LimitsChange(Body):
    """The changes to the limits. Omitted fields do not change."""

    model_config = ConfigDict(extra="forbid")

    min_amount: Amount | None = None
    """The smallest amount, in `currency`."""
    max_amount: Amount | None = None
    """The largest amount, in `currency`."""
    currency: Text | None = None
    """The currency of both limits. It must be the currency of the amount."""


class SetFeeProduct(Body):
    """The changes to a fee product. All fields except id and updated_at can be changed."""

    model_config = ConfigDict(extra="forbid")

    # Only the fields that were sent are used. The default values come from factories, because a plain default value
    # would appear in the schema.
    product: records.ProductName = Field(default_factory=lambda: "onramp")
    """The operation that the product applies to."""
    name: Name = Field(default_factory=str)
    """A display name."""
    network: ShortNetwork | None = None
    """The network of the product, or null for all networks."""
    asset: Text | None = None
    """The asset of the product, or null for all assets."""
    fiat_currency: FiatCode | None = None
    """The fiat currency of the product. Null if the operation involves only crypto."""
    payment_method: records.PaymentMethod | None = None
    """The payment method of the product, or null for all methods."""
    fee_currency: Text = Field(default_factory=str)
    """The currency of the fees. It must be the currency of the amount."""
    percentage: Amount = Field(default_factory=str)
    """The fee as a percentage of the amount."""
    fixed: Amount = Field(default_factory=str)
    """A flat fee, added to the percentage."""
    min_fee: Amount = Field(default_factory=str)
    """The smallest processing fee."""
    max_fee: Amount | None = None
    """The largest processing fee, or null if there is no maximum."""
    network_fee: NetworkFeeChange | None = None
    """The additional fee for the blockchain transaction, or null if there is none."""
    limits: LimitsChange = Field(default_factory=LimitsChange)
    """The range of amounts that the product applies to."""
    status: Annotated[Literal["active", "inactive"], Meanings(STATUSES)] = Field(default_factory=lambda: "active")
    """The status. Only an active product is used to price new operations."""


CALCULATIONS: Mapping[str, type[CalculateFee]] = {
    "onramp": CalculateRampFee,
    "offramp": CalculateRampFee,
    "buy": CalculatePayoutFee,
    "withdraw": CalculatePayoutFee,
    "swap": CalculateSwapFee,
    "send": CalculateSendFee,
}
