"""The operations of fees, and the action that changes a fee product.

Chapter "Fees" of the specification, decisions H4, H5, L2, L5; action `set_fee_product` of the control interface.
"""

from __future__ import annotations

from simulator.engine.records.listing import Filter, Listing, by_field
from simulator.engine.rows.action import Action
from simulator.engine.rows.handlers import body_by, shown
from simulator.engine.rows.operation import Operation
from simulator.providers.ramp.fees import actions, bodies, shapes
from simulator.providers.ramp.fees.records import METHODS, PRODUCTS, FeeProduct
from simulator.providers.ramp.fees.shapes import render_product
from simulator.providers.ramp.fees.states import STATUSES
from simulator.providers.ramp.shapes import ASSET_CODES, FIAT_CODES, SHORT_NETWORKS
from simulator.providers.ramp.spelling import SHORT


def _networks(record: FeeProduct) -> tuple[str, ...]:
    return tuple(short for short in SHORT_NETWORKS if record.network in (None, SHORT[short]))


def _statuses(record: FeeProduct) -> tuple[str, ...]:
    return record.status, "all"


LISTING = Listing[FeeProduct](
    filters=(
        by_field("product", PRODUCTS, many=True, description="Only the products of these operations."),
        Filter("network", _networks, SHORT_NETWORKS, description="Only products for this network, or for all."),
        by_field("asset", ASSET_CODES, description="Only products for this asset."),
        by_field("fiat_currency", FIAT_CODES, description="Only products for this fiat currency."),
        by_field("payment_method", METHODS, description="Only products for this payment method."),
        Filter(
            "status",
            _statuses,
            {**STATUSES, "all": "Active and inactive ones."},
            many=True,
            description="Which products to list; the active ones when absent.",
        ),
    ),
    common=False,
    newest_first=False,
    defaults={"status": "active"},
)

OPERATIONS = (
    Operation(
        "GET",
        "/fees",
        "list_fees",
        "Fees",
        "The fee products, in the order of the table",
        actions.list_products,
        lambda: shapes.FeeProductList,
        query=LISTING,
        reads=True,
        errors=("invalid_parameter",),
        description=(
            "Lists the fee products: how each operation is priced, by network, asset, currency and payment "
            "method. Only active products unless `status` says otherwise. The figures are indicative; the fee "
            "on a quote or an estimate is exact."
        ),
    ),
    Operation(
        "GET",
        "/fees/{id}",
        "get_fee",
        "Fees",
        "One fee product",
        shown(render_product),
        lambda: shapes.FeeProduct,
        load=actions.lookup,
        reads=True,
        errors=("not_found",),
        description="Shows one fee product, active or not.",
    ),
    Operation(
        "POST",
        "/fees/calculate",
        "calculate_fee",
        "Fees",
        "The exact fee of an amount at this instant",
        actions.calculate,
        lambda: shapes.FeeCalculation,
        body=lambda: bodies.CalculateFee,
        bodies=lambda: (
            bodies.CalculateFee,
            bodies.CalculateRampFee,
            bodies.CalculatePayoutFee,
            bodies.CalculateSwapFee,
            bodies.CalculateSendFee,
        ),
        body_for=body_by("product", lambda: bodies.CALCULATIONS, lambda: bodies.CalculateFee),
        reads=True,
        errors=(
            "missing_parameter",
            "invalid_parameter",
            "unsupported_pair",
            "amount_too_low",
            "amount_too_high",
            "not_found",
        ),
        description=(
            "Finds the active fee product for an operation and works out the exact fee of an amount: the share "
            "and the flat fee, kept between the product's least and most, and the network fee. A quote made at "
            "this instant would have the same fee. Nothing is locked or stored. Refused with unsupported_pair "
            "when no active product matches, and with amount_too_low or amount_too_high outside the product's "
            "limits."
        ),
    ),
)


ACTIONS = (
    Action(
        "set_fee_product",
        "changes fields of a fee product",
        actions.set_fee_product,
        kinds=("fee_product",),
        parameters=lambda: bodies.SetFeeProduct,
        check=actions.check_new_fields,
    ),
)
