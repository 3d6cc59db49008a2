"""Bodies of the fee calculator."""

from __future__ import annotations

from collections.abc import Iterator

from contracts.generator.requests.values import FIAT_DECIMALS, FIATS, MOBILE, STABLE, amount, decimals_of, one, some
from contracts.generator.requests.variants import Variant
from simulator.resources import reference
from simulator.wire.spelling import short

_MODEL = "CalculateFee"
_IN_THE_ASSET = ("asset",)
"""Where the amount is in the asset, it need not be named."""


def calculate() -> Iterator[Variant]:
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
            yield Variant(_MODEL, f"An onramp from {fiat} to {network}", fields, required)
        fields = {**common, "product": one("buy")}
        required, without = ("fiat_currency", *priced_by_method), ("network", "asset", "to_asset")
        yield Variant(_MODEL, f"A buy with {fiat}", fields, required, without)
    codes = dict.fromkeys(code for code, _ in reference.ASSETS)
    for network, assets in reference.NETWORK_ASSETS.items():
        name = short(network)
        where = {"network": one(name), "amount": amount(decimals_of(network)), "currency": some(assets)}
        if network in reference.RAMP_ASSETS:
            fields = {**where, "product": one("offramp"), "fiat_currency": some(FIATS)}
            yield Variant(_MODEL, f"An offramp from {network}", fields, ("network", "fiat_currency"), _IN_THE_ASSET)
        fields = {**where, "product": one("send")}
        yield Variant(_MODEL, f"A send on {name}", fields, ("network",), _IN_THE_ASSET)
        fields = {**where, "product": one("swap"), "to_asset": some(codes)}
        yield Variant(_MODEL, f"A swap from {name}", fields, ("network", "to_asset"), _IN_THE_ASSET)
    fields = {"product": one("withdraw"), "amount": amount(6), "currency": some(STABLE), "fiat_currency": some(FIATS)}
    yield Variant(_MODEL, "A withdrawal", fields, ("fiat_currency",), _IN_THE_ASSET)
    fields = {"product": some(["internal_transfer", "deposit"]), "amount": amount(6), "currency": some(codes)}
    yield Variant(_MODEL, "A transfer to another user, or a deposit", fields, without=_IN_THE_ASSET)
