"""Listing fee products, calculating a fee, and changing a product in one environment (section "Fees"; decisions H5,
H7, M2, M9).
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import TypeVar

from simulator.engine.records.listing import Filter, Listing, ListRequest, by_field, page_of
from simulator.engine.records.records import move
from simulator.engine.rows.action import Action, ActionCall
from simulator.engine.rows.error import invalid, not_found
from simulator.engine.rows.operation import Call, OperationDecorator, Variants
from simulator.engine.text.fields import Wrong, wrong
from simulator.engine.text.shapes import Page
from simulator.kernel.dataclass import replace
from simulator.kernel.money import ZERO, Currency, subtract
from simulator.kernel.world import World
from simulator.providers.ramp import reference
from simulator.providers.ramp.fees import bodies, shapes
from simulator.providers.ramp.fees.catalogue import product_of, products
from simulator.providers.ramp.fees.pricing import breakdown, check_limits, formula, match
from simulator.providers.ramp.fees.records import (
    IN_FIAT,
    METHODS,
    PRODUCTS,
    WITH_FIAT,
    FeeProduct,
    Limits,
    NetworkFee,
    currency_of,
    first_network,
    network_fee_currency,
)
from simulator.providers.ramp.fees.shapes import FeeCalculation, render_product, show_calculation
from simulator.providers.ramp.fees.states import STATUSES
from simulator.providers.ramp.reference import UNSUPPORTED_PAIR
from simulator.providers.ramp.shapes import ASSET_CODES, FIAT_CODES, SHORT, SHORT_NETWORKS

operation = OperationDecorator("Fees")


def lookup(call: Call) -> FeeProduct:
    """Return the fee product that the path identifies. Raise `ApiError` 404 if it does not exist."""
    product = product_of(call.world, call.environment, call.path["id"])
    if product is None:
        raise not_found("fee product", call.path["id"])
    return product


@operation(
    "POST /fees/calculate",
    "The exact fee of an amount at this instant",
    answer=lambda: shapes.FeeCalculation,
    bodies=lambda: (
        bodies.CalculateFee,
        bodies.CalculateRampFee,
        bodies.CalculatePayoutFee,
        bodies.CalculateSwapFee,
        bodies.CalculateSendFee,
    ),
    variants=Variants("product", lambda: bodies.CALCULATIONS),
    reads=True,
    errors=(
        "missing_parameter",
        "invalid_parameter",
        "unsupported_pair",
        "amount_too_low",
        "amount_too_high",
        "not_found",
    ),
)
def calculate_fee(call: Call[bodies.CalculateFee, None, None]) -> FeeCalculation:
    """Finds the active fee product for an operation and calculates the exact fee for an amount. The processing fee is
    the percentage plus the flat fee, limited by the product's minimum and maximum. The network fee is added to it. A
    quote created now would have the same fee. Nothing is locked or saved. The request fails with unsupported_pair if no
    active product matches. It fails with amount_too_low or amount_too_high if the amount is outside the product's
    limits.
    """
    body = call.body
    network = None if body.network is None else SHORT[body.network]
    currency = _amount_currency(body.currency, network)
    if not currency.accepts(body.amount):  # decision H7
        raise invalid("amount", f"{currency.code} has at most {currency.decimals} decimals")
    amount = Decimal(body.amount)
    if body.product not in IN_FIAT and body.asset not in (None, currency.code):
        raise UNSUPPORTED_PAIR.error(
            f"The amount for {body.product} must be in {body.asset}, not in {currency.code}.", "asset"
        )
    product = match(
        call.world,
        call.environment,
        body.product,
        currency,
        network=network,
        asset=body.asset,
        fiat_currency=body.fiat_currency if body.product in WITH_FIAT else None,
        payment_method=body.payment_method if body.product in WITH_FIAT else None,
        to_asset=body.to_asset,
    )
    fee = formula(call.world, call.environment, product, currency, network)(amount)
    check_limits(product, amount, fee=fee)
    return show_calculation(product, amount, fee, breakdown(product, amount, currency), subtract(amount, fee.total))


def _amount_currency(code: str, network: str | None) -> Currency:
    """Return the currency with the given code on a network. Raise `ApiError` unsupported_pair if it does not exist."""
    currency = currency_of(code, network)
    if currency is None:
        raise UNSUPPORTED_PAIR.error(f"{code} is not available{f' on {network}' if network else ''}.", "currency")
    return currency


def check_new_fields(wanted: bodies.SetFeeProduct) -> Iterator[Wrong]:
    """Yield errors for an asset or a network fee currency that does not exist."""
    if wanted.asset is not None and first_network(wanted.asset) is None:
        yield wrong("asset", f"{wanted.asset} is not available on any network")
    fee = wanted.network_fee
    if fee is not None and fee.currency is not None and currency_of(fee.currency, None) is None:
        yield wrong("network_fee.currency", f"there is no currency {fee.currency}")


def set_fee_product(call: ActionCall[FeeProduct, bodies.SetFeeProduct]) -> FeeProduct:
    """Change the given fields of a fee product. Amounts must stay in the currency of the amount (decision M2). Raise
    `ApiError` invalid_parameter if the fields of the changed product conflict.
    """
    return put_changed(call.world, call.target, call.parameters)


def put_changed(world: World, old: FeeProduct, wanted: bodies.SetFeeProduct) -> FeeProduct:
    """Change the given fields of a product in a world, as `set_fee_product` does."""
    status = wanted.status if "status" in wanted.model_fields_set else old.status
    return move(world, changed_product(old, wanted), "set_fee_product", status)


def changed_product(old: FeeProduct, wanted: bodies.SetFeeProduct) -> FeeProduct:
    """Return a changed copy of a product with the same status. Raise `ApiError` invalid_parameter on a conflict."""
    given = wanted.model_fields_set
    named = wanted.model_dump(include=given & {"product", "name", "asset", "fiat_currency", "payment_method"})
    new = replace(old, **named)
    if "network" in given:
        new = replace(new, network=None if wanted.network is None else SHORT[wanted.network])
    currency = check_product(new.product, new.network, new.asset, new.fiat_currency)
    for param, code in (("fee_currency", wanted.fee_currency), ("limits.currency", wanted.limits.currency)):
        if code and code != currency.code:
            raise invalid(param, f"it must be the currency of the amount, {currency.code}")
    new = replace(
        new,
        fee_currency=currency.code,
        percentage=_changed(wanted.percentage, old.percentage),
        fixed=_changed(wanted.fixed, old.fixed),
        min_fee=_changed(wanted.min_fee, old.min_fee),
        max_fee=_changed(wanted.max_fee, None) if "max_fee" in given else old.max_fee,
        network_fee=_network_fee(wanted.network_fee, old, currency) if "network_fee" in given else old.network_fee,
        limits=Limits(
            _changed(wanted.limits.min_amount, old.limits.min_amount),
            _changed(wanted.limits.max_amount, old.limits.max_amount),
            currency.code,
        ),
    )
    check_amounts(new, currency)
    return new


OldT = TypeVar("OldT", Decimal, None)


def _changed(text: str | None, old: OldT) -> Decimal | OldT:
    """Return the new value if one was sent, otherwise the old value."""
    return Decimal(text) if text else old


def _network_fee(wanted: bodies.NetworkFeeChange | None, product: FeeProduct, currency: Currency) -> NetworkFee | None:
    if wanted is None:
        return None
    old = product.network_fee or NetworkFee(ZERO, currency.code, "customer")
    return NetworkFee(
        _changed(wanted.amount, old.amount), wanted.currency or old.currency, wanted.paid_by or old.paid_by
    )


def check_product(product: str, network: str | None, asset: str | None, fiat_code: str | None) -> Currency:
    """Return the currency of a product's amount. Raise `ApiError` invalid_parameter if its fields conflict."""
    if fiat_code is not None and product not in WITH_FIAT:
        raise invalid("fiat_currency", f"the product {product} does not have a fiat currency")
    if asset is not None and (first_network(asset) if network is None else reference.asset(asset, network)) is None:
        raise invalid("asset", f"{asset} is not available on {network or 'any network'}")
    if product in IN_FIAT:
        currency = None if fiat_code is None else reference.fiat(fiat_code)
        if currency is None:
            raise invalid("fiat_currency", f"the product {product} needs a fiat currency")
        return currency
    if asset is None:
        raise invalid("asset", f"the product {product} needs an asset")
    return _amount_currency(asset, network)


def check_amounts(product: FeeProduct, currency: Currency) -> None:
    """Raise `ApiError` invalid_parameter if an amount has too many decimals, or if a minimum exceeds its maximum."""
    network_fee = product.network_fee
    figures = [
        ("fixed", product.fixed, currency),
        ("min_fee", product.min_fee, currency),
        ("max_fee", product.max_fee, currency),
        ("limits.min_amount", product.limits.min_amount, currency),
        ("limits.max_amount", product.limits.max_amount, currency),
    ]
    if network_fee is not None:
        place = network_fee_currency(network_fee.currency, product.network)
        figures.append(("network_fee.amount", network_fee.amount, place))
    for param, amount, unit in figures:
        if amount is not None and unit.round_down(amount) != amount:
            raise invalid(param, f"{unit.code} has at most {unit.decimals} decimals")
    if product.max_fee is not None and product.max_fee < product.min_fee:
        raise invalid("max_fee", "it is below min_fee")
    if product.limits.max_amount < product.limits.min_amount:
        raise invalid("limits.max_amount", "it is below limits.min_amount")


def _networks(record: FeeProduct) -> tuple[str, ...]:
    return tuple(short for short in SHORT_NETWORKS if record.network in (None, SHORT[short]))


def _statuses(record: FeeProduct) -> tuple[str, ...]:
    return record.status, "all"


LISTING = Listing[FeeProduct](
    filters=(
        by_field("product", PRODUCTS, many=True, description="Only the products of these operations."),
        Filter("network", _networks, SHORT_NETWORKS, description="Only products for this network or for all networks."),
        by_field("asset", ASSET_CODES, description="Only products for this asset."),
        by_field("fiat_currency", FIAT_CODES, description="Only products for this fiat currency."),
        by_field("payment_method", METHODS, description="Only products for this payment method."),
        Filter(
            "status",
            _statuses,
            {**STATUSES, "all": "Active and inactive products."},
            many=True,
            description="The status of the products to list. By default only active products.",
        ),
    ),
    common=False,
    newest_first=False,
    defaults={"status": "active"},
)


@operation(
    "GET /fees",
    "The fee products, in the order of the table",
    answer=lambda: shapes.FeeProductList,
    query=LISTING,
    errors=("invalid_parameter",),
)
def list_fees(call: Call[None, ListRequest, None]) -> Page[shapes.FeeProduct]:
    """Lists the fee products. A fee product sets the price of an operation for a network, asset, currency and payment
    method. Inactive products are included only if you request them with `status`. The listed fees are indicative. The
    fee on a quote or an estimate is exact.
    """
    listed = list(products(call.world, call.environment).values())
    return page_of(call.query, listed, lambda row: render_product(call.world, row))


@operation("GET /fees/{id}", "One fee product", load=lookup)
def get_fee(call: Call[None, None, FeeProduct]) -> shapes.FeeProduct:
    """Returns one fee product, whether active or inactive."""
    return render_product(call.world, call.resource)


ACTIONS = (
    Action(
        "set_fee_product",
        "changes fields of a fee product",
        set_fee_product,
        kinds=("fee_product",),
        parameters=lambda: bodies.SetFeeProduct,
        check=check_new_fields,
    ),
)
