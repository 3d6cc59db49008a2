"""The operations of fees, and the action that changes a fee product.

Chapter "Fees" of the specification, decisions H4, H5, L2, L5; action `set_fee_product` of the control interface.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from typing import Any

from simulator.resources import reference
from simulator.resources.fees import actions, shapes
from simulator.resources.fees.bodies import (
    CalculateFee,
    CalculatePayoutFee,
    CalculateRampFee,
    CalculateSendFee,
    CalculateSwapFee,
    NetworkFeeChange,
    SetFeeProduct,
)
from simulator.resources.fees.records import (
    METHODS,
    PRODUCTS,
    WITH_FIAT,
    WITH_NETWORK_FEE,
    FeeProduct,
    NetworkFee,
    first_network,
)
from simulator.resources.fees.states import STATUSES
from simulator.wire.actions import Action, ActionCall
from simulator.wire.errors import invalid
from simulator.wire.fields import Wrong, wrong
from simulator.wire.listing import Filter, Listing, by_field
from simulator.wire.operation import Call, Operation
from simulator.wire.spelling import SHORT

_ASSETS = tuple(dict.fromkeys(code for code, _ in reference.ASSETS))


def _body_for(call: Call) -> type[CalculateFee]:
    product = call.raw.get("product")
    if product == "swap":
        return CalculateSwapFee
    if product not in WITH_FIAT:
        return CalculateSendFee if product == "send" else CalculateFee
    return CalculateRampFee if product in WITH_NETWORK_FEE else CalculatePayoutFee


def _network_or_all(record: FeeProduct, values: Any) -> bool:
    return record.network is None or record.network in {SHORT[value] for value in values}


def _status(record: FeeProduct, values: Any) -> bool:
    return "all" in values or record.status in values


LISTING = Listing(
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
        actions.show_product,
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
        body_for=_body_for,
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


def _check_fee_product(wanted: SetFeeProduct) -> Iterator[Wrong]:
    """What is wrong with new fields of any product."""
    if wanted.asset is not None and first_network(wanted.asset) is None:
        yield wrong("asset", f"{wanted.asset} is not available on any network")
    fee = wanted.network_fee
    if fee is not None and fee.currency is not None and not _is_currency(fee.currency):
        yield wrong("network_fee.currency", f"there is no currency {fee.currency}")


def _is_currency(code: str) -> bool:
    return reference.fiat(code) is not None or first_network(code) is not None


def _set_fee_product(call: ActionCall[FeeProduct, SetFeeProduct]) -> FeeProduct:
    wanted, old = call.parameters, call.target
    given = wanted.model_fields_set
    plain = {"product", "name", "asset", "fiat_currency", "payment_method"} & given
    changes: dict[str, Any] = {name: getattr(wanted, name) for name in sorted(plain)}
    if "network" in given:
        changes["network"] = None if wanted.network is None else SHORT[wanted.network]
    new = replace(old, **changes)
    currency = actions.check_product(new.product, new.network, new.asset, new.fiat_currency)
    for param, code in (("fee_currency", wanted.fee_currency), ("limits.currency", wanted.limits.currency)):
        if code and code != currency.code:
            raise invalid(param, f"it must be the currency of the amount, {currency.code}")
    changes["fee_currency"] = currency.code
    for name in sorted({"percentage", "fixed", "min_fee", "max_fee"} & given):
        text = getattr(wanted, name)
        changes[name] = None if text is None else Decimal(text)
    if "network_fee" in given:
        changes["network_fee"] = _network_fee(wanted.network_fee, old.network_fee, currency.code, new.network)
    limits = {name: text for name, text in wanted.limits.model_dump(exclude_none=True).items() if name != "currency"}
    changes["limits"] = replace(
        old.limits, currency=currency.code, **{name: Decimal(text) for name, text in limits.items()}
    )
    actions.check_amounts(replace(new, **changes), currency)
    return actions.change(call.world, old, changes, wanted.status if "status" in given else None)


def _network_fee(
    wanted: NetworkFeeChange | None, old: NetworkFee | None, code: str, network: str | None
) -> NetworkFee | None:
    if wanted is None:
        return None
    if old is None:
        old = NetworkFee(Decimal(0), code, "customer")
    currency = wanted.currency or old.currency
    amount = old.amount if wanted.amount is None else Decimal(wanted.amount)
    return NetworkFee(amount, currency, wanted.paid_by or old.paid_by)


ACTIONS = (
    Action(
        "set_fee_product",
        "changes fields of a fee product",
        _set_fee_product,
        kinds=("fee_product",),
        parameters=SetFeeProduct,
        check=_check_fee_product,
    ),
)
