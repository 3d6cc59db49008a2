"""How fees and fee products are shown (tables "Fee object" and "Fee product" of the specification)."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated

from typing_extensions import TypedDict

from simulator.engine.text.shapes import AmountText, Assumed, Clauses, Format, OneOf, Timestamp, page_shape
from simulator.kernel.clock import format_timestamp
from simulator.kernel.money import format_decimal
from simulator.kernel.world import World
from simulator.providers.ramp import profile
from simulator.providers.ramp.fees import records
from simulator.providers.ramp.fees.pricing import Breakdown
from simulator.providers.ramp.fees.states import STATUSES
from simulator.providers.ramp.shapes import AssetText, CurrencyText, FiatText, ShortNetworkText
from simulator.providers.ramp.spelling import short

FeeProductId = Annotated[str, Format(pattern=r"^fee_[0-9a-z_]+$"), Assumed("R9", "pattern")]
FeeCurrency = Annotated[CurrencyText, Assumed("M2", "enum")]


class ProcessingFee(TypedDict):
    """What a ramp or a calculation costs: the processing fee and the network fee."""

    total: AmountText
    """The whole fee: `processing_fee` and `network_fee` together, in `currency`."""
    currency: FeeCurrency
    """The currency of all three amounts: that of the source side."""
    processing_fee: AmountText
    """What the service takes for the processing."""
    network_fee: AmountText
    """What the blockchain transaction costs the customer, converted into `currency`."""


class AppFee(TypedDict):
    """What an operation on the balance costs: the platform fee and the network fee."""

    total: AmountText
    """The whole fee: `app_fee` and `network_fee` together, in `currency`."""
    currency: FeeCurrency
    """The currency of all three amounts: the fiat currency of a buy, else the asset that is paid with."""
    app_fee: AmountText
    """What the platform takes."""
    network_fee: AmountText
    """What the blockchain transaction costs the customer, converted into `currency`."""


class NetworkFee(TypedDict):
    """What the blockchain transaction of a product costs, and who pays it."""

    amount: AmountText
    """What the transaction costs, in `currency`."""
    currency: FeeCurrency
    """The currency of `amount`."""
    paid_by: records.Payer
    """Who bears it. What the service bears costs the customer nothing."""


class ProductLimits(TypedDict):
    """Between which amounts a product can be used, both inclusive."""

    min_amount: AmountText
    """The least amount, before fees; less is refused with amount_too_low."""
    max_amount: AmountText
    """The most, before fees; more is refused with amount_too_high."""
    currency: FeeCurrency
    """The currency of both bounds: that of the amount."""


class FeeProduct(TypedDict):
    """How one operation is priced. The figures are indicative; the fee on a quote or an estimate is exact."""

    id: FeeProductId
    """Names the product; a calculation shows it as `fee_product_id`."""
    product: records.ProductName
    """The operation that it prices."""
    name: str
    """A name to show."""
    network: ShortNetworkText | None
    """The network that it is for; null for all."""
    asset: AssetText | None
    """The asset that it is for; null for all."""
    fiat_currency: FiatText | None
    """The fiat currency that it is for; null where only crypto moves."""
    payment_method: records.PaymentMethod | None
    """The payment method that it is for; null for all."""
    fee_currency: FeeCurrency
    """The currency of `fixed`, `min_fee` and `max_fee`: that of the amount."""
    percentage: AmountText
    """The share of the amount, in percent: 1.00 is 1 %."""
    fixed: AmountText
    """A flat fee, added to the share, in `fee_currency`."""
    min_fee: AmountText
    """The least processing fee; a lower one is raised to it."""
    max_fee: AmountText | None
    """The most processing fee; a higher one is lowered to it. Null for no cap."""
    network_fee: NetworkFee | None
    """What the blockchain transaction costs on top; null where there is none."""
    limits: ProductLimits
    """Between which amounts the product can be used."""
    status: Annotated[str, OneOf(STATUSES)]
    """Whether new operations may use it."""
    updated_at: Timestamp
    """When the product last changed."""


FeeProductList = page_shape("FeeProductList", FeeProduct, "fee products", "The fee products of this page.")


class FeeBreakdown(TypedDict):
    """How the processing fee comes about: the share of the amount and the flat fee, kept between bounds."""

    percentage: AmountText
    """The share that the product takes, in percent."""
    percentage_fee: AmountText
    """What that share of the amount is, in the currency of the amount, before the bounds."""
    fixed: AmountText
    """The flat fee that is added to it."""
    min_fee_applied: Annotated[bool, Assumed("M9", "type")]
    """Whether the sum was raised to the product's `min_fee`."""
    max_fee_applied: Annotated[bool, Assumed("M9", "type")]
    """Whether the sum was lowered to the product's `max_fee`."""


class FeeCalculation(TypedDict):
    """The exact fee of an amount, as a quote made at this instant would have it."""

    fee_product_id: FeeProductId
    """The fee product that matched, for `GET /fees/{id}`."""
    product: records.ProductName
    """The operation that was priced."""
    amount: AmountText
    """The amount that was asked about, before fees."""
    currency: FeeCurrency
    """The currency of `amount` and `net_amount`."""
    fee: ProcessingFee
    """The fee of that amount."""
    net_amount: AmountText
    """What is left of `amount` after the whole fee."""
    breakdown: FeeBreakdown
    """How the processing fee comes about."""


def show_processing_fee(fee: records.Fee) -> ProcessingFee:
    """The fee of ramps and of the calculator."""
    return {
        "total": fee.currency.format(fee.total),
        "currency": fee.currency.code,
        "processing_fee": fee.currency.format(fee.service_fee),
        "network_fee": fee.currency.format(fee.network_fee),
    }


def show_app_fee(fee: records.Fee) -> AppFee:
    """The fee of wallet quotes, estimates and transactions (decision M2)."""
    return {
        "total": fee.currency.format(fee.total),
        "currency": fee.currency.code,
        "app_fee": fee.currency.format(fee.service_fee),
        "network_fee": fee.currency.format(fee.network_fee),
    }


def render_product(world: World, record: records.FeeProduct) -> FeeProduct:
    show = record.currency.format
    updated_at_ms = record.updated_at_ms or profile.profile_of(world).created_at_ms
    return {
        "id": record.id,
        "product": record.product,
        "name": record.name,
        "network": None if record.network is None else short(record.network),
        "asset": record.asset,
        "fiat_currency": record.fiat_currency,
        "payment_method": record.payment_method,
        "fee_currency": record.fee_currency,
        "percentage": format_decimal(record.percentage),
        "fixed": show(record.fixed),
        "min_fee": show(record.min_fee),
        "max_fee": None if record.max_fee is None else show(record.max_fee),
        "network_fee": _show_network_fee(record),
        "limits": {
            "min_amount": show(record.limits.min_amount),
            "max_amount": show(record.limits.max_amount),
            "currency": record.limits.currency,
        },
        "status": record.status,
        "updated_at": format_timestamp(updated_at_ms),
    }


def _show_network_fee(record: records.FeeProduct) -> NetworkFee | None:
    fee = record.network_fee
    if fee is None:
        return None
    currency = records.network_fee_currency(fee.currency, record.network)
    return {"amount": currency.format(fee.amount), "currency": fee.currency, "paid_by": fee.paid_by}


def show_calculation(
    product: records.FeeProduct, amount: Decimal, fee: records.Fee, how: Breakdown, net_amount: Decimal
) -> FeeCalculation:
    """The answer of the fee calculator."""
    show = fee.currency.format
    return {
        "fee_product_id": product.id,
        "product": product.product,
        "amount": show(amount),
        "currency": fee.currency.code,
        "fee": show_processing_fee(fee),
        "net_amount": show(net_amount),
        "breakdown": {
            "percentage": format_decimal(product.percentage),
            "percentage_fee": show(how.percentage_fee),
            "fixed": show(product.fixed),
            "min_fee_applied": how.min_fee_applied,
            "max_fee_applied": how.max_fee_applied,
        },
    }


CLAUSES: Clauses = {
    "Fee object": (ProcessingFee, AppFee),
    "Fee product": (FeeProduct, NetworkFee, ProductLimits),
    "Fees": (FeeProductList, FeeCalculation, FeeBreakdown),
}
