"""Which codes and forms the text fields of request bodies take, by model.

The models take any text where a wrong one is 422 and not malformed (decision H5). An enum here is a list of the
specification; of what only the simulator knows the values, they stand as known ones.
"""

from __future__ import annotations

from collections.abc import Mapping

from contracts.generator.requests.values import STABLE, some
from contracts.generator.schemas import Schema
from simulator.resources import reference
from simulator.resources.auth.bodies import TokenBody
from simulator.resources.balance.bodies import BuyQuoteBody, EstimateBody, SwapSide, WithdrawQuoteBody
from simulator.resources.beneficiaries.bodies import AnyBeneficiary, BankAccount, PhoneNumber, WalletAddress
from simulator.resources.recurring.bodies import NewRecurring, Source
from simulator.resources.webhooks.bodies import NewWebhook, WebhookChange
from simulator.wire.events import EVENT_TYPES
from simulator.wire.fields import Body
from simulator.wire.shapes import ASSET_CODES, CURRENCY_CODES, FIAT_CODES, WALLET_NETWORKS


def _one_of(meanings: Mapping[str, str]) -> Schema:
    return {**some(meanings), "x-enum-descriptions": dict(meanings)}


_ASSET, _FIAT, _CURRENCY = _one_of(ASSET_CODES), _one_of(FIAT_CODES), _one_of(CURRENCY_CODES)
_NETWORK = _one_of(WALLET_NETWORKS)
_STABLE = {code: ASSET_CODES[code] for code in STABLE}
_HELD = {"symbol": _ASSET, "network": _NETWORK}
_PHONE = {
    "type": "string",
    "pattern": r"^\+[1-9][0-9]{6,14}$",
    "examples": ["+254712345678"],
}
_EVENTS = {
    "type": "array",
    "items": _one_of({"*": "Every event.", **{name: f"When {row.sent_when}." for name, row in EVENT_TYPES.items()}}),
    "minItems": 1,
    "examples": [["*"], ["transaction.completed", "transaction.failed"]],
}


def _known(values: Mapping[str, object]) -> Schema:
    return {"type": "string", "examples": list(values)[:2], "x-known-values": list(values)}


_BANKS = {code: bank for banks in reference.BANKS.values() for code, bank in banks.items()}
_PROVIDERS = dict.fromkeys(provider for providers in reference.PROVIDERS.values() for provider in providers)

FIELDS: Mapping[type[Body], Mapping[str, Schema]] = {
    TokenBody: {
        "public_key": {"type": "string", "pattern": "^pk_(test|live)_"},
        "secret_key": {"type": "string", "pattern": "^sk_(test|live)_"},
    },
    EstimateBody: _HELD,
    SwapSide: _HELD,
    BuyQuoteBody: {**_HELD, "fiat_currency": _FIAT},
    WithdrawQuoteBody: {
        "symbol": _one_of(_STABLE),
        "network": _NETWORK,
        "fiat_currency": _FIAT,
        "amount_currency": _one_of({**FIAT_CODES, **_STABLE}),
    },
    Source: _HELD,
    NewRecurring: {"amount_currency": _CURRENCY},
    AnyBeneficiary: {"fiat_currency": _FIAT},
    BankAccount: {"bank_code": _known(_BANKS)},
    PhoneNumber: {"phone_number": _PHONE, "provider": _known(_PROVIDERS)},
    WalletAddress: {"asset": _known(dict.fromkeys([*ASSET_CODES, "cUSD"]))},
    NewWebhook: {"events": _EVENTS},
    WebhookChange: {"events": _EVENTS},
}
