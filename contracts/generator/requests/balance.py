"""Bodies of sends, swaps, buys and withdrawals."""

from __future__ import annotations

from collections.abc import Iterator

from contracts.generator.requests.values import (
    FIAT_DECIMALS,
    FIATS,
    MOBILE_COUNTRIES,
    PHONES,
    address,
    amount,
    counted,
    decimals_of,
    identifier,
    methods,
    one,
    phone,
    placed,
    some,
    stable_assets,
)
from contracts.generator.requests.variants import Narrower, Variant
from contracts.generator.schemas import Schema
from simulator.resources import reference
from simulator.wire.spelling import upper

_USERS: dict[str, Schema] = {
    "email": {"type": "string", "format": "email"},
    "phone_number": phone(*PHONES),
    "user_id": {"type": "string", "format": "uuid"},
}
_LIGHTNING_ADDRESS = {"type": "string", "pattern": r"^[a-z0-9._-]+@[a-z0-9-]+(\.[a-z0-9-]+)+$"}


def destinations(network: str) -> Iterator[Variant]:
    absent = {"type": "null"}
    yield Variant("AddressDestination", f"An address on {network}", {"address": address(network)})
    for name, shown in _USERS.items():
        fields = {other: shown if other == name else absent for other in _USERS}
        yield Variant("UserDestination", f"Another user, by {name}", fields, (name,))
    if network == "bitcoin":
        invoice = {"invoice": {"type": "string", "pattern": "^lnbc"}}
        yield Variant("LightningDestination", "A Lightning invoice", invoice, ("invoice",))
        fields = {"invoice": absent, "lightning_address": _LIGHTNING_ADDRESS}
        yield Variant("LightningDestination", "A Lightning address", fields, ("lightning_address",))


def send(model: str) -> Iterator[Variant]:
    for network, assets in reference.NETWORK_ASSETS.items():
        where = {**placed(assets, network), "amount": amount(decimals_of(network))}
        yield Variant(model, f"On {upper(network)}", {**where, "destination": tuple(destinations(network))})


def _sides(code: str, network: str) -> Iterator[Variant]:
    """What an asset can be swapped with: all but itself."""
    for where, assets in reference.NETWORK_ASSETS.items():
        others = [other for other in assets if (other, where) != (code, network)]
        if others:
            yield Variant("SwapSide", "", placed(others, where))


def swap_quote() -> Iterator[Variant]:
    for given, other in (("from", "to"), ("to", "from")):
        for code, network in reference.ASSETS:
            fields: dict[str, Narrower] = {
                **placed(code, network, f"{given}."),
                other: tuple(_sides(code, network)),
                "amount": amount(decimals_of(network)),
                "amount_side": one(given),
            }
            yield Variant("SwapQuoteBody", f"An amount of {code} {upper(network)} on the side `{given}`", fields)


def buy_quote() -> Iterator[Variant]:
    for network, assets in reference.NETWORK_ASSETS.items():
        for side, decimals in (("crypto", decimals_of(network)), ("fiat", FIAT_DECIMALS)):
            for method, fiats in methods():
                fields = {
                    **placed(assets, network),
                    "fiat_currency": some(fiats),
                    "amount": amount(decimals),
                    "amount_currency": one(side),
                    "method": one(method),
                }
                yield Variant("BuyQuoteBody", f"{upper(network)}, an amount in {side}, by {method}", fields)


def buy() -> Iterator[Variant]:
    quote = {"quote_id": identifier("bq_")}
    payer = {"payer.phone_number": phone(*MOBILE_COUNTRIES)}
    yield Variant("BuyByMobileMoney", "By mobile money", {**quote, **payer})
    yield Variant("BuyByBankTransfer", "By bank transfer", quote)


def use_quote(prefix: str, title: str) -> Iterator[Variant]:
    yield Variant("UseQuote", title, {"quote_id": identifier(prefix)})


def withdraw_quote() -> Iterator[Variant]:
    saved = {"beneficiary_id": identifier("ben_")}
    for code, network in stable_assets():
        fields = {**placed(code, network), **saved, "fiat_currency": some(FIATS), **counted(code, network)}
        yield Variant("WithdrawQuoteBody", f"{code} {upper(network)}, an amount in {code}", fields)
    for fiat in FIATS:
        for network in ("stellar", "celo"):
            codes = [code for code, where in stable_assets() if where == network]
            fields = {**placed(codes, network), **saved, "fiat_currency": one(fiat), **counted(fiat)}
            yield Variant("WithdrawQuoteBody", f"{upper(network)}, an amount in {fiat}", fields)
