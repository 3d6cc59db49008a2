"""Bodies of the fee calculator."""

from __future__ import annotations

from contracts.generator.requests.words import (
    FIAT_DECIMALS,
    FIATS,
    MOBILE,
    STABLE,
    amount,
    decimals_of,
    narrow,
    one,
    some,
)
from contracts.generator.schemas import Components, Schema, any_of
from simulator.resources import reference
from simulator.wire.spelling import short


def calculate(components: Components) -> Schema:
    base = components.of("CalculateFee")
    variants = [*_calculate_in_fiat(base), *_calculate_in_asset(base)]
    return any_of(variants)


def _calculate_in_fiat(base: Schema) -> list[Schema]:
    variants = []
    for fiat in FIATS:
        methods = ["bank_account", *(["phone_number"] if fiat in MOBILE else [])]
        priced_by_method = ("payment_method",) if fiat == "ZMW" else ()
        common = {
            "amount": amount(FIAT_DECIMALS),
            "currency": one(fiat),
            "fiat_currency": one(fiat),
            "payment_method": some(methods),
        }
        for network, assets in reference.RAMP_ASSETS.items():
            fields = {**common, "product": one("onramp"), "network": one(network), "asset": some(assets)}
            required = ("network", "fiat_currency", *priced_by_method)
            variants.append(narrow(base, f"An onramp from {fiat} to {network}", fields, required))
        fields = {**common, "product": one("buy")}
        del_network = narrow(base, f"A buy with {fiat}", fields, ("fiat_currency", *priced_by_method))
        for name in ("network", "asset", "to_asset"):
            del_network["properties"].pop(name)
        variants.append(del_network)
    return variants


def _calculate_in_asset(base: Schema) -> list[Schema]:
    variants = []
    for network, assets in reference.NETWORK_ASSETS.items():
        where = {"network": one(short(network)), "amount": amount(decimals_of(network)), "currency": some(assets)}
        if network in reference.RAMP_ASSETS:
            fields = {**where, "product": one("offramp"), "fiat_currency": some(FIATS)}
            variants.append(
                _without_asset(narrow(base, f"An offramp from {network}", fields, ("network", "fiat_currency")))
            )
        fields = {**where, "product": one("send")}
        variants.append(_without_asset(narrow(base, f"A send on {short(network)}", fields, ("network",))))
        codes = dict.fromkeys(code for code, _ in reference.ASSETS)
        fields = {**where, "product": one("swap"), "to_asset": some(codes)}
        variants.append(_without_asset(narrow(base, f"A swap from {short(network)}", fields, ("network", "to_asset"))))
    fields = {
        "product": one("withdraw"),
        "amount": amount(6),
        "currency": some(STABLE),
        "fiat_currency": some(FIATS),
    }
    variants.append(_without_asset(narrow(base, "A withdrawal", fields, ("fiat_currency",))))
    fields = {
        "product": some(["internal_transfer", "deposit"]),
        "amount": amount(6),
        "currency": some(dict.fromkeys(code for code, _ in reference.ASSETS)),
    }
    variants.append(_without_asset(narrow(base, "A transfer to another user, or a deposit", fields)))
    return variants


def _without_asset(variant: Schema) -> Schema:
    """The amount is in the asset, which therefore need not be named."""
    variant["properties"].pop("asset", None)
    return variant
