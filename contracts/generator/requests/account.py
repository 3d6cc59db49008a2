"""Bodies of the token exchange, beneficiaries, the profile and webhook endpoints."""

from __future__ import annotations

from contracts.generator.requests.words import PHONES, Builder, address, inner, narrow, one, phone, some
from contracts.generator.schemas import Components, Schema, any_of, mark
from simulator.resources import reference
from simulator.wire.events import EVENT_TYPES
from simulator.wire.spelling import short


def token(components: Components) -> Schema:
    keys = {
        "public_key": {"type": "string", "pattern": "^pk_(test|live)_"},
        "secret_key": {"type": "string", "pattern": "^sk_(test|live)_"},
    }
    return narrow(components.of("TokenBody"), "TokenBody", keys)


def beneficiary(components: Components) -> Schema:
    kinds = {
        "bank_account": _bank_accounts(components),
        "phone_number": _phone_numbers(components),
        "wallet_address": _wallet_addresses(components),
    }
    names = {
        "bank_account": "BankAccountBeneficiary",
        "phone_number": "PhoneNumberBeneficiary",
        "wallet_address": "WalletAddressBeneficiary",
    }
    for kind, variants in kinds.items():
        components.schemas[names[kind]] = {"title": names[kind], **any_of(variants)}
    references = {kind: f"#/components/schemas/{name}" for kind, name in names.items()}
    return {
        "oneOf": [{"$ref": reference} for reference in references.values()],
        "discriminator": {"propertyName": "type", "mapping": references},
    }


def _own(base: Schema, kind: str) -> Schema:
    """Without the detail objects of the other types, which are ignored."""
    for name in {"bank_account", "phone_number", "wallet_address"} - {kind}:
        base["properties"].pop(name, None)
    return base


def _bank_accounts(components: Components) -> list[Schema]:
    variants = []
    for country, banks in reference.BANKS.items():
        digits = next(iter(banks.values()))
        details = inner(
            components,
            "BankAccount",
            {
                "bank_code": some(banks),
                "account_number": {
                    "type": "string",
                    "pattern": f"^[0-9]{{{digits.min_digits},{digits.max_digits}}}$",
                },
            },
        )
        fields = {
            "country": one(country),
            "fiat_currency": one(reference.COUNTRIES[country]),
            "bank_account": mark(details, "Beneficiary"),
        }
        base = _own(components.of("BankAccountBeneficiary"), "bank_account")
        variants.append(narrow(base, f"A bank account in {country}", fields))
    return variants


def _phone_numbers(components: Components) -> list[Schema]:
    variants = []
    for country, providers in reference.PROVIDERS.items():
        if not providers:
            continue
        details = inner(components, "PhoneNumber", {"phone_number": phone(country), "provider": some(providers)})
        fields = {
            "country": one(country),
            "fiat_currency": one(reference.COUNTRIES[country]),
            "phone_number": mark(details, "Beneficiary"),
        }
        base = _own(components.of("PhoneNumberBeneficiary"), "phone_number")
        variants.append(narrow(base, f"A mobile money number in {country}", fields))
    return variants


def _wallet_addresses(components: Components) -> list[Schema]:
    variants = []
    for network, assets in reference.NETWORK_ASSETS.items():
        spelled = [*assets, "cUSD"] if "CUSD" in assets else list(assets)
        details = inner(
            components,
            "WalletAddress",
            {"wallet_address": address(network), "network": one(short(network)), "asset": some(spelled)},
        )
        base = _own(components.of("WalletAddressBeneficiary"), "wallet_address")
        for name in ("country", "fiat_currency"):
            base["properties"].pop(name, None)
        variants.append(narrow(base, f"An address on {short(network)}", {"wallet_address": details}))
    return variants


def profile(components: Components) -> Schema:
    return narrow(components.of("PatchProfile"), "PatchProfile", {"phone_number": phone(*PHONES)})


_URL = {"type": "string", "format": "uri", "pattern": "^https?://[A-Za-z0-9]", "maxLength": 2048}


_EVENTS = {
    "type": "array",
    "items": {"type": "string", "enum": ["*", *EVENT_TYPES]},
    "minItems": 1,
    "examples": [["*"], ["transaction.completed", "transaction.failed"]],
}


def webhook(model: str) -> Builder:
    def build(components: Components) -> Schema:
        body = narrow(components.of(model), model, {"url": _URL, "events": _EVENTS})
        for schema in body["properties"].values():
            schema.pop("default", None)
        return body

    return build
