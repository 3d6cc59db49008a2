"""The shapes of fees and fee products (tables "Fee object" and "Fee product" of the specification)."""

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
    """The cost of a ramp or a calculation: the processing fee and the network fee."""

    total: AmountText
    """The whole fee in `currency`: `processing_fee` plus `network_fee`."""
    currency: FeeCurrency
    """The currency of all three amounts: that of the source side."""
    processing_fee: AmountText
    """The service's fee for the processing."""
    network_fee: AmountText
    """The customer's cost of the blockchain transaction, converted into `currency`."""


class AppFee(TypedDict):
    """The cost of an operation on the balance: the platform fee and the network fee."""

    total: AmountText
    """The whole fee in `currency`: `app_fee` plus `network_fee`."""
    currency: FeeCurrency
    """The currency of all three amounts: the fiat currency of a buy, otherwise the source asset."""
    app_fee: AmountText
    """The platform's fee."""
    network_fee: AmountText
    """The customer's cost of the blockchain transaction, converted into `currency`."""


class NetworkFee(TypedDict):
    """The cost of the blockchain transaction of a product, and the party that pays it."""

    amount: AmountText
    """The cost of the transaction, in `currency`."""
    currency: FeeCurrency
    """The currency of `amount`."""
    paid_by: records.Payer
    """The party that pays it. If it is the service, the customer pays nothing."""


class ProductLimits(TypedDict):
    """The range of amounts for which a product can be used, both limits inclusive."""

    min_amount: AmountText
    """The smallest amount, before fees. Less is refused with amount_too_low."""
    max_amount: AmountText
    """The largest amount, before fees. More is refused with amount_too_high."""
    currency: FeeCurrency
    """The currency of both limits: that of the amount."""


class FeeProduct(TypedDict):
    """The price of one operation. The figures are indicative. The fee on a quote or an estimate is exact."""

    id: FeeProductId
    """The id of the product. A calculation shows it as `fee_product_id`."""
    product: records.ProductName
    """The operation that the product prices."""
    name: str
    """A display name."""
    network: ShortNetworkText | None
    """The network of the product, or null for all."""
    asset: AssetText | None
    """The asset of the product, or null for all."""
    fiat_currency: FiatText | None
    """The fiat currency of the product. Null if only crypto moves."""
    payment_method: records.PaymentMethod | None
    """The payment method of the product, or null for all."""
    fee_currency: FeeCurrency
    """The currency of `fixed`, `min_fee` and `max_fee`: that of the amount."""
    percentage: AmountText
    """The percentage of the amount: 1.00 is 1 %."""
    fixed: AmountText
    """A flat fee, added to the percentage, in `fee_currency`."""
    min_fee: AmountText
    """The smallest processing fee. A lower fee is raised to it."""
    max_fee: AmountText | None
    """The largest processing fee. A higher fee is lowered to it. Null for no cap."""
    network_fee: NetworkFee | None
    """The cost of the blockchain transaction on top, or null for none."""
    limits: ProductLimits
    """The range of amounts for which the product can be used."""
    status: Annotated[str, OneOf(STATUSES)]
    """The status. Only an active product prices new operations."""
    updated_at: Timestamp
    """The time of the last change."""


FeeProductList = page_shape("FeeProductList", FeeProduct, "fee products", "The fee products of this page.")


class FeeBreakdown(TypedDict):
    """The parts of the processing fee: the percentage of the amount and the flat fee, within minimum and maximum."""

    percentage: AmountText
    """The percentage of the product."""
    percentage_fee: AmountText
    """That percentage of the amount, in the currency of the amount, before minimum and maximum."""
    fixed: AmountText
    """The flat fee that is added."""
    min_fee_applied: Annotated[bool, Assumed("M9", "type")]
    """True if the sum was raised to the product's `min_fee`."""
    max_fee_applied: Annotated[bool, Assumed("M9", "type")]
    """True if the sum was lowered to the product's `max_fee`."""


class FeeCalculation(TypedDict):
    """The exact fee of an amount, as on a quote at this time."""

    fee_product_id: FeeProductId
    """The fee product that matched, for `GET /fees/{id}`."""
    product: records.ProductName
    """The operation that was priced."""
    amount: AmountText
    """The requested amount, before fees."""
    currency: FeeCurrency
    """The currency of `amount` and `net_amount`."""
    fee: ProcessingFee
    """The fee of that amount."""
    net_amount: AmountText
    """`amount` minus the whole fee."""
    breakdown: FeeBreakdown
    """The parts of the processing fee."""


def show_processing_fee(fee: records.Fee) -> ProcessingFee:
    """Return the fee of a ramp or a calculation."""
    return {
        "total": fee.currency.format(fee.total),
        "currency": fee.currency.code,
        "processing_fee": fee.currency.format(fee.service_fee),
        "network_fee": fee.currency.format(fee.network_fee),
    }


def show_app_fee(fee: records.Fee) -> AppFee:
    """Return the fee of a wallet quote, estimate or transaction (decision M2)."""
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
