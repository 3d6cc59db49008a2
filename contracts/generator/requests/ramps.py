"""Bodies of ramp quotes, confirmations and deposit wallets."""

from __future__ import annotations

from contracts.generator.requests.words import (
    FIAT_DECIMALS,
    FIATS,
    MOBILE_COUNTRIES,
    address,
    amount,
    decimals_of,
    identifier,
    inner,
    method_of,
    methods,
    narrow,
    one,
    phone,
    some,
)
from contracts.generator.schemas import Components, Schema, any_of
from simulator.resources import reference


def ramp_quote(components: Components) -> Schema:
    base = components.of("QuoteBody")
    variants = []
    for network, assets in reference.RAMP_ASSETS.items():
        for code in assets:
            for method, fiats in methods():
                fields = {
                    "network": one(network),
                    "asset": one(code),
                    "fiat_currency": some(fiats),
                    "amount": amount(decimals_of(network)),
                    "amount_currency": one(code),
                    "method": one(method),
                }
                variants.append(narrow(base, f"An amount in {code} on {network}, by {method}", fields))
        for fiat in FIATS:
            fields = {
                "network": one(network),
                "asset": some(assets),
                "fiat_currency": one(fiat),
                "amount": amount(FIAT_DECIMALS),
                "amount_currency": one(fiat),
                "method": method_of(fiat),
            }
            variants.append(narrow(base, f"An amount in {fiat}, {network}", fields))
    return any_of(variants)


def confirm(components: Components) -> Schema:
    payer = inner(components, "MobileMoneyPayer", {"phone_number": phone(*MOBILE_COUNTRIES)})
    external = address("stellar", "celo")
    return any_of(
        [
            narrow(
                components.of("ConfirmOnrampMobileMoney"),
                "Onramp by mobile money",
                {"wallet_address": external, "payer": payer},
            ),
            narrow(components.of("ConfirmOnrampBankTransfer"), "Onramp by bank transfer", {"wallet_address": external}),
            narrow(
                components.of("ConfirmOfframp"),
                "Offramp",
                {"beneficiary_id": identifier("ben_"), "refund_address": external},
            ),
        ]
    )


def wallet(components: Components) -> Schema:
    base = components.of("WalletBody")
    return any_of(
        [
            narrow(
                base,
                "On bitcoin",
                {"network": one("bitcoin")},
            ),
            narrow(
                base,
                "On stellar or celo",
                {"network": some(["stellar", "celo"]), "lightning": {"type": "boolean", "const": False}},
            ),
        ]
    )


def lightning_entry(components: Components) -> Schema:
    return any_of(
        [
            narrow(components.of("AddressBody"), "A Lightning address", {"type": one("lightning_address")}),
            narrow(components.of("InvoiceBody"), "An invoice", {"type": one("invoice")}),
        ]
    )
