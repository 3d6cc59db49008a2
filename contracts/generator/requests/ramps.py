"""Bodies of ramp quotes, confirmations and deposit wallets."""

from __future__ import annotations

from collections.abc import Iterator

from contracts.generator.requests.values import (
    FIATS,
    MOBILE_COUNTRIES,
    address,
    counted,
    identifier,
    method_of,
    methods,
    one,
    phone,
    some,
)
from contracts.generator.requests.variants import Variant
from simulator.resources import reference


def ramp_quote() -> Iterator[Variant]:
    for network, assets in reference.RAMP_ASSETS.items():
        for code in assets:
            for method, fiats in methods():
                fields = {
                    "network": one(network),
                    "asset": one(code),
                    "fiat_currency": some(fiats),
                    **counted(code, network),
                    "method": one(method),
                }
                yield Variant("QuoteBody", f"An amount in {code} on {network}, by {method}", fields)
        for fiat in FIATS:
            fields = {
                "network": one(network),
                "asset": some(assets),
                "fiat_currency": one(fiat),
                **counted(fiat),
                "method": method_of(fiat),
            }
            yield Variant("QuoteBody", f"An amount in {fiat}, {network}", fields)


def confirm() -> Iterator[Variant]:
    external = address("stellar", "celo")
    by_phone = {"wallet_address": external, "payer.phone_number": phone(*MOBILE_COUNTRIES)}
    yield Variant("ConfirmOnrampMobileMoney", "Onramp by mobile money", by_phone)
    yield Variant("ConfirmOnrampBankTransfer", "Onramp by bank transfer", {"wallet_address": external})
    yield Variant("ConfirmOfframp", "Offramp", {"beneficiary_id": identifier("ben_"), "refund_address": external})


def wallet() -> Iterator[Variant]:
    yield Variant("WalletBody", "On bitcoin", {"network": one("bitcoin")})
    fields = {"network": some(["stellar", "celo"]), "lightning": {"type": "boolean", "const": False}}
    yield Variant("WalletBody", "On stellar or celo", fields)


def lightning_entry() -> Iterator[Variant]:
    yield Variant("AddressBody", "A Lightning address", {"type": one("lightning_address")})
    yield Variant("InvoiceBody", "An invoice", {"type": one("invoice")})
