"""Bodies of sends, swaps, buys and withdrawals."""

from __future__ import annotations

from collections.abc import Mapping

from contracts.generator.requests.words import (
    FIAT_DECIMALS,
    FIATS,
    MOBILE_COUNTRIES,
    PHONES,
    Builder,
    address,
    amount,
    decimals_of,
    identifier,
    inner,
    methods,
    narrow,
    one,
    phone,
    some,
    stable_assets,
)
from contracts.generator.schemas import Components, Schema, any_of
from simulator.resources import reference
from simulator.wire.spelling import upper


def destinations(components: Components, network: str) -> Schema:
    absent = {"type": "null"}
    users = ("email", "phone_number", "user_id")
    shown: Mapping[str, Schema] = {
        "email": {"type": "string", "format": "email"},
        "phone_number": phone(*PHONES),
        "user_id": {"type": "string", "format": "uuid"},
    }
    options = [
        narrow(components.of("AddressDestination"), f"An address on {network}", {"address": address(network)}),
        *(
            narrow(
                components.of("UserDestination"),
                f"Another user, by {name}",
                {other: shown[name] if other == name else absent for other in users},
                (name,),
            )
            for name in users
        ),
    ]
    if network == "bitcoin":
        lightning = components.of("LightningDestination")
        options += [
            narrow(lightning, "A Lightning invoice", {"invoice": {"type": "string", "pattern": "^lnbc"}}, ("invoice",)),
            narrow(
                lightning,
                "A Lightning address",
                {
                    "invoice": absent,
                    "lightning_address": {"type": "string", "pattern": r"^[a-z0-9._-]+@[a-z0-9-]+(\.[a-z0-9-]+)+$"},
                },
                ("lightning_address",),
            ),
        ]
    return {"anyOf": options}


def send(model: str) -> Builder:
    def build(components: Components) -> Schema:
        return any_of(
            [
                narrow(
                    components.of(model),
                    f"On {upper(network)}",
                    {
                        "symbol": some(assets),
                        "network": one(upper(network)),
                        "amount": amount(decimals_of(network)),
                        "destination": destinations(components, network),
                    },
                )
                for network, assets in reference.NETWORK_ASSETS.items()
            ]
        )

    return build


def pairs(components: Components, name: str, without: tuple[str, str] = ("", "")) -> Schema:
    """The sides {symbol, network} there are."""
    options = []
    for network, assets in reference.NETWORK_ASSETS.items():
        codes = [code for code in assets if (code, network) != without]
        if codes:
            options.append(inner(components, name, {"symbol": some(codes), "network": one(upper(network))}))
    return {"anyOf": options}


def side(components: Components, name: str, code: str, network: str) -> Schema:
    return inner(components, name, {"symbol": one(code), "network": one(upper(network))})


def swap_quote(components: Components) -> Schema:
    base = components.of("SwapQuoteBody")
    variants = []
    for given, other in (("from", "to"), ("to", "from")):
        for code, network in reference.ASSETS:
            fields = {
                given: side(components, "SwapSide", code, network),
                other: pairs(components, "SwapSide", (code, network)),
                "amount": amount(decimals_of(network)),
                "amount_side": one(given),
            }
            variants.append(narrow(base, f"An amount of {code} {upper(network)} on the side `{given}`", fields))
    return any_of(variants)


def buy_quote(components: Components) -> Schema:
    base = components.of("BuyQuoteBody")
    variants = []
    for network, assets in reference.NETWORK_ASSETS.items():
        for side, decimals in (("crypto", decimals_of(network)), ("fiat", FIAT_DECIMALS)):
            for method, fiats in methods():
                fields = {
                    "symbol": some(assets),
                    "network": one(upper(network)),
                    "fiat_currency": some(fiats),
                    "amount": amount(decimals),
                    "amount_currency": one(side),
                    "method": one(method),
                }
                variants.append(narrow(base, f"{upper(network)}, an amount in {side}, by {method}", fields))
    return any_of(variants)


def buy(components: Components) -> Schema:
    payer = inner(components, "PhonePayer", {"phone_number": phone(*MOBILE_COUNTRIES)})
    quote = {"quote_id": identifier("bq_")}
    return any_of(
        [
            narrow(components.of("BuyByMobileMoney"), "By mobile money", {**quote, "payer": payer}),
            narrow(components.of("BuyByBankTransfer"), "By bank transfer", quote),
        ]
    )


def use_quote(prefix: str, title: str) -> Builder:
    def build(components: Components) -> Schema:
        return narrow(components.of("UseQuote"), title, {"quote_id": identifier(prefix)})

    return build


def withdraw_quote(components: Components) -> Schema:
    base = components.of("WithdrawQuoteBody")
    saved = {"beneficiary_id": identifier("ben_")}
    variants = []
    for code, network in stable_assets():
        asset = {"symbol": one(code), "network": one(upper(network)), **saved}
        by_asset = {
            **asset,
            "fiat_currency": some(FIATS),
            "amount": amount(decimals_of(network)),
            "amount_currency": one(code),
        }
        variants.append(narrow(base, f"{code} {upper(network)}, an amount in {code}", by_asset))
    for fiat in FIATS:
        for network in ("stellar", "celo"):
            codes = [code for code, where in stable_assets() if where == network]
            by_fiat = {
                "symbol": some(codes),
                "network": one(upper(network)),
                **saved,
                "fiat_currency": one(fiat),
                "amount": amount(FIAT_DECIMALS),
                "amount_currency": one(fiat),
            }
            variants.append(narrow(base, f"{upper(network)}, an amount in {fiat}", by_fiat))
    return any_of(variants)
