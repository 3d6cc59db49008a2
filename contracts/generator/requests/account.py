"""Bodies of the token exchange, beneficiaries, the profile and webhook endpoints."""

from __future__ import annotations

from collections.abc import Iterator

from contracts.generator.requests.values import PHONES, address, one, phone, some
from contracts.generator.requests.variants import Variant
from simulator.resources import reference
from simulator.wire.events import EVENT_TYPES
from simulator.wire.spelling import short


def token() -> Iterator[Variant]:
    keys = {
        "public_key": {"type": "string", "pattern": "^pk_(test|live)_"},
        "secret_key": {"type": "string", "pattern": "^sk_(test|live)_"},
    }
    yield Variant("TokenBody", "TokenBody", keys)


def beneficiary() -> Iterator[Variant]:
    """Each without the details of the other types, which are ignored."""
    for country, banks in reference.BANKS.items():
        digits = next(iter(banks.values()))
        number = {"type": "string", "pattern": f"^[0-9]{{{digits.min_digits},{digits.max_digits}}}$"}
        fields = {
            "country": one(country),
            "fiat_currency": one(reference.COUNTRIES[country]),
            "bank_account.bank_code": some(banks),
            "bank_account.account_number": number,
        }
        others = ("phone_number", "wallet_address")
        yield Variant("BankAccountBeneficiary", f"A bank account in {country}", fields, without=others)
    for country, providers in reference.PROVIDERS.items():
        if not providers:
            continue
        fields = {
            "country": one(country),
            "fiat_currency": one(reference.COUNTRIES[country]),
            "phone_number.phone_number": phone(country),
            "phone_number.provider": some(providers),
        }
        others = ("bank_account", "wallet_address")
        yield Variant("PhoneNumberBeneficiary", f"A mobile money number in {country}", fields, without=others)
    for network, assets in reference.NETWORK_ASSETS.items():
        fields = {
            "wallet_address.wallet_address": address(network),
            "wallet_address.network": one(short(network)),
            "wallet_address.asset": some([*assets, "cUSD"] if "CUSD" in assets else assets),
        }
        without = ("bank_account", "phone_number", "country", "fiat_currency")
        yield Variant("WalletAddressBeneficiary", f"An address on {short(network)}", fields, without=without)


def profile() -> Iterator[Variant]:
    yield Variant("PatchProfile", "PatchProfile", {"phone_number": phone(*PHONES)})


def webhook(model: str) -> Iterator[Variant]:
    url = {"type": "string", "format": "uri", "pattern": "^https?://[A-Za-z0-9]", "maxLength": 2048}
    events = {
        "type": "array",
        "items": {"type": "string", "enum": ["*", *EVENT_TYPES]},
        "minItems": 1,
        "examples": [["*"], ["transaction.completed", "transaction.failed"]],
    }
    yield Variant(model, model, {"url": url, "events": events})
