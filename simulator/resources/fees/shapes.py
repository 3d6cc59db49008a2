"""How fees and fee products are shown (tables "Fee object" and "Fee product" of the specification)."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated

from typing_extensions import TypedDict

from simulator.kernel.clock import format_timestamp
from simulator.kernel.money import format_decimal
from simulator.kernel.world import World
from simulator.resources import profile
from simulator.resources.fees import records
from simulator.resources.fees.pricing import Breakdown
from simulator.resources.fees.states import STATUSES
from simulator.wire.shapes import (
    AmountText,
    AssetText,
    Assumed,
    Clauses,
    CurrencyText,
    FiatText,
    Format,
    OneOf,
    Pagination,
    ShortNetworkText,
    Timestamp,
)
from simulator.wire.spelling import short

FeeProductId = Annotated[str, Format(pattern=r"^fee_[0-9a-z_]+$"), Assumed("R9")]


class ProcessingFee(TypedDict):
    total: AmountText
    currency: CurrencyText
    processing_fee: AmountText
    network_fee: AmountText


class AppFee(TypedDict):
    total: AmountText
    currency: CurrencyText
    app_fee: AmountText
    network_fee: AmountText


class NetworkFee(TypedDict):
    amount: AmountText
    currency: CurrencyText
    paid_by: records.Payer


class ProductLimits(TypedDict):
    min_amount: AmountText
    max_amount: AmountText
    currency: CurrencyText


class FeeProduct(TypedDict):
    id: FeeProductId
    product: records.ProductName
    name: str
    network: ShortNetworkText | None
    asset: AssetText | None
    fiat_currency: FiatText | None
    payment_method: records.PaymentMethod | None
    fee_currency: CurrencyText
    percentage: AmountText
    fixed: AmountText
    min_fee: AmountText
    max_fee: AmountText | None
    network_fee: NetworkFee | None
    limits: ProductLimits
    status: Annotated[str, OneOf(STATUSES)]
    updated_at: Timestamp


class FeeProductList(TypedDict):
    data: list[FeeProduct]
    pagination: Pagination


class FeeBreakdown(TypedDict):
    percentage: AmountText
    percentage_fee: AmountText
    fixed: AmountText
    min_fee_applied: Annotated[bool, Assumed("M9")]
    max_fee_applied: Annotated[bool, Assumed("M9")]


class FeeCalculation(TypedDict):
    fee_product_id: FeeProductId
    product: records.ProductName
    amount: AmountText
    currency: CurrencyText
    fee: ProcessingFee
    net_amount: AmountText
    breakdown: FeeBreakdown


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
    "Fees": (FeeCalculation, FeeBreakdown),
}
