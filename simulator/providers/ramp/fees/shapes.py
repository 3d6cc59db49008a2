"""Response models for fees and fee products (tables "Fee object" and "Fee product" of the specification)."""

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
from simulator.providers.ramp.shapes import AssetText, CurrencyText, FiatText, ShortNetworkText, short

FeeProductId = Annotated[str, Format(pattern=r"^fee_[0-9a-z_]+$"), Assumed("R9", "pattern")]
FeeCurrency = Annotated[CurrencyText, Assumed("M2", "enum")]


class ProcessingFee(TypedDict):
    """The fee for a ramp or a calculation: the processing fee and the network fee."""

    total: AmountText
    """The total fee, in `currency`: `processing_fee` plus `network_fee`."""
    currency: FeeCurrency
    """The currency of all three amounts, which is the currency of the source amount."""
    processing_fee: AmountText
    """The fee that the service charges for processing."""
    network_fee: AmountText
    """The part of the blockchain transaction fee that the customer pays, converted into `currency`."""


class AppFee(TypedDict):
    """The fee for an operation on the balance: the platform fee and the network fee."""

    total: AmountText
    """The total fee, in `currency`: `app_fee` plus `network_fee`."""
    currency: FeeCurrency
    """The currency of all three amounts. It is the fiat currency for a buy, and the source asset for other operations.
    """
    app_fee: AmountText
    """The platform's fee."""
    network_fee: AmountText
    """The part of the blockchain transaction fee that the customer pays, converted into `currency`."""


class NetworkFee(TypedDict):
    """A product's fee for the blockchain transaction, and who pays it."""

    amount: AmountText
    """The cost of the transaction, in `currency`."""
    currency: FeeCurrency
    """The currency of `amount`."""
    paid_by: records.Payer
    """The party that pays the network fee. If this is the service, the customer pays nothing."""


class ProductLimits(TypedDict):
    """The range of amounts that a product applies to. Both limits are inclusive."""

    min_amount: AmountText
    """The smallest amount, before fees. A smaller amount is rejected with amount_too_low."""
    max_amount: AmountText
    """The largest amount, before fees. A larger amount is rejected with amount_too_high."""
    currency: FeeCurrency
    """The currency of both limits, which is the currency of the amount."""


class FeeProduct(TypedDict):
    """The price of one operation. The fees in a product are indicative. The fee on a quote or an estimate is exact."""

    id: FeeProductId
    """The id of the product. A fee calculation returns it as `fee_product_id`."""
    product: records.ProductName
    """The operation that the product applies to."""
    name: str
    """A display name."""
    network: ShortNetworkText | None
    """The network of the product, or null for all networks."""
    asset: AssetText | None
    """The asset of the product, or null for all assets."""
    fiat_currency: FiatText | None
    """The fiat currency of the product. Null if the operation involves only crypto."""
    payment_method: records.PaymentMethod | None
    """The payment method of the product, or null for all methods."""
    fee_currency: FeeCurrency
    """The currency of `fixed`, `min_fee` and `max_fee`, which is the currency of the amount."""
    percentage: AmountText
    """The fee as a percentage of the amount. For example, 1.00 means 1 %."""
    fixed: AmountText
    """A flat fee, added to the percentage, in `fee_currency`."""
    min_fee: AmountText
    """The smallest processing fee. A lower fee is raised to this amount."""
    max_fee: AmountText | None
    """The largest processing fee. A higher fee is lowered to this amount. Null if there is no maximum."""
    network_fee: NetworkFee | None
    """The additional fee for the blockchain transaction, or null if there is none."""
    limits: ProductLimits
    """The range of amounts for which the product can be used."""
    status: Annotated[str, OneOf(STATUSES)]
    """The status. Only an active product sets the price of new operations."""
    updated_at: Timestamp
    """The time of the last change."""


FeeProductList = page_shape("FeeProductList", FeeProduct, "fee products", "The fee products of this page.")


class FeeBreakdown(TypedDict):
    """The parts of the processing fee: the percentage of the amount and the flat fee, limited by the minimum and
    maximum.
    """

    percentage: AmountText
    """The fee percentage of the product."""
    percentage_fee: AmountText
    """The percentage of the amount, in the amount's currency, before the minimum and maximum apply."""
    fixed: AmountText
    """The flat fee, which is added to the percentage."""
    min_fee_applied: Annotated[bool, Assumed("M9", "type")]
    """True if the fee was raised to the product's `min_fee`."""
    max_fee_applied: Annotated[bool, Assumed("M9", "type")]
    """True if the fee was lowered to the product's `max_fee`."""


class FeeCalculation(TypedDict):
    """The exact fee for an amount. A quote created now would have the same fee."""

    fee_product_id: FeeProductId
    """The fee product that matched, as used in `GET /fees/{id}`."""
    product: records.ProductName
    """The operation whose fee was calculated."""
    amount: AmountText
    """The requested amount, before fees."""
    currency: FeeCurrency
    """The currency of `amount` and `net_amount`."""
    fee: ProcessingFee
    """The fee for this amount."""
    net_amount: AmountText
    """`amount` minus the total fee."""
    breakdown: FeeBreakdown
    """The parts of the processing fee."""


def show_processing_fee(fee: records.Fee) -> ProcessingFee:
    """Return a fee in the format for ramps and fee calculations."""
    return {
        "total": fee.currency.format(fee.total),
        "currency": fee.currency.code,
        "processing_fee": fee.currency.format(fee.service_fee),
        "network_fee": fee.currency.format(fee.network_fee),
    }


def show_app_fee(fee: records.Fee) -> AppFee:
    """Return a fee in the format for wallet quotes, estimates and transactions (decision M2)."""
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
    """Return the response of the fee calculator."""
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
