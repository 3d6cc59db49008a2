"""The bodies of the fee calculator by product, and the parameters of the action on a fee product."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from simulator.resources.fees import records
from simulator.wire.fields import Amount, Body, Code, Name, Text
from simulator.wire.shapes import Assumed, FiatCode, ShortNetwork


class CalculateFee(Body):
    """What every calculation takes; `network` is required for products with a network fee, and so on."""

    product: records.ProductName
    amount: Amount
    currency: Text
    network: ShortNetwork | None = None
    asset: Annotated[Text | None, Assumed("M9")] = None
    fiat_currency: Code | None = None
    payment_method: records.PaymentMethod | None = None
    to_asset: Code | None = None


class CalculateRampFee(CalculateFee):
    """onramp and offramp."""

    network: ShortNetwork
    fiat_currency: Code


class CalculatePayoutFee(CalculateFee):
    """buy and withdraw."""

    fiat_currency: Code


class CalculateSwapFee(CalculateFee):
    """swap."""

    network: ShortNetwork
    to_asset: Code


class CalculateSendFee(CalculateFee):
    """send."""

    network: ShortNetwork


class NetworkFeeChange(Body):
    """Members that are not named keep their values."""

    model_config = ConfigDict(extra="forbid")

    amount: Amount | None = None
    currency: Text | None = None
    paid_by: records.Payer | None = None


class LimitsChange(Body):
    """Members that are not named keep their values."""

    model_config = ConfigDict(extra="forbid")

    min_amount: Amount | None = None
    max_amount: Amount | None = None
    currency: Text | None = None


class SetFeeProduct(Body):
    """Any fields of a fee product but its id and updated_at."""

    model_config = ConfigDict(extra="forbid")

    # Only fields that were sent are looked at: the defaults come from factories so that no schema shows them.
    product: records.ProductName = Field(default_factory=lambda: "onramp")
    name: Name = Field(default_factory=str)
    network: ShortNetwork | None = None
    asset: Text | None = None
    fiat_currency: FiatCode | None = None
    payment_method: records.PaymentMethod | None = None
    fee_currency: Text = Field(default_factory=str)
    percentage: Amount = Field(default_factory=str)
    fixed: Amount = Field(default_factory=str)
    min_fee: Amount = Field(default_factory=str)
    max_fee: Amount | None = None
    network_fee: NetworkFeeChange | None = None
    limits: LimitsChange = Field(default_factory=LimitsChange)
    status: Literal["active", "inactive"] = Field(default_factory=lambda: "active")
