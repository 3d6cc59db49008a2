"""The operations of fees, and the action that changes a fee product.

Chapter "Fees" of the specification, decisions H4, H5, L2, L5; action `set_fee_product` of the control interface.
"""

from __future__ import annotations

from collections.abc import Mapping

from simulator.resources import reference
from simulator.resources.fees import actions, shapes
from simulator.resources.fees.bodies import (
    CalculateFee,
    CalculatePayoutFee,
    CalculateRampFee,
    CalculateSendFee,
    CalculateSwapFee,
    SetFeeProduct,
)
from simulator.resources.fees.records import METHODS, PRODUCTS, FeeProduct
from simulator.resources.fees.shapes import render_product
from simulator.resources.fees.states import STATUSES
from simulator.wire.actions import Action
from simulator.wire.handlers import body_by, shown
from simulator.wire.listing import Filter, Listing, by_field
from simulator.wire.operation import Operation
from simulator.wire.spelling import SHORT

_ASSETS = tuple(dict.fromkeys(code for code, _ in reference.ASSETS))


def _network_or_all(record: FeeProduct, values: frozenset[str]) -> bool:
    return record.network is None or record.network in {SHORT[value] for value in values}


def _status(record: FeeProduct, values: frozenset[str]) -> bool:
    return "all" in values or record.status in values


LISTING = Listing[FeeProduct](
    filters=(
        by_field("product", PRODUCTS, many=True),
        Filter("network", _network_or_all, tuple(SHORT)),
        by_field("asset", _ASSETS),
        by_field("fiat_currency", tuple(reference.FIATS)),
        by_field("payment_method", METHODS),
        Filter("status", _status, (*STATUSES, "all"), many=True),
    ),
    common=False,
    newest_first=False,
    defaults={"status": "active"},
)

_CALCULATIONS: Mapping[str, type[CalculateFee]] = {
    "onramp": CalculateRampFee,
    "offramp": CalculateRampFee,
    "buy": CalculatePayoutFee,
    "withdraw": CalculatePayoutFee,
    "swap": CalculateSwapFee,
    "send": CalculateSendFee,
}

OPERATIONS = (
    Operation(
        "GET",
        "/fees",
        "list_fees",
        "Fees",
        "The fee products, in the order of the table",
        actions.list_products,
        shapes.FeeProductList,
        query=LISTING,
        reads=True,
        errors=("invalid_parameter",),
    ),
    Operation(
        "GET",
        "/fees/{id}",
        "get_fee",
        "Fees",
        "One fee product",
        shown(render_product),
        shapes.FeeProduct,
        load=actions.lookup,
        reads=True,
        errors=("not_found",),
    ),
    Operation(
        "POST",
        "/fees/calculate",
        "calculate_fee",
        "Fees",
        "The exact fee of an amount at this instant",
        actions.calculate,
        shapes.FeeCalculation,
        body=CalculateFee,
        bodies=(CalculateFee, CalculateRampFee, CalculatePayoutFee, CalculateSwapFee, CalculateSendFee),
        body_for=body_by("product", _CALCULATIONS, CalculateFee),
        reads=True,
        errors=(
            "missing_parameter",
            "invalid_parameter",
            "unsupported_pair",
            "amount_too_low",
            "amount_too_high",
            "not_found",
        ),
    ),
)


ACTIONS = (
    Action(
        "set_fee_product",
        "changes fields of a fee product",
        actions.set_fee_product,
        kinds=("fee_product",),
        parameters=SetFeeProduct,
        check=actions.check_new_fields,
    ),
)
