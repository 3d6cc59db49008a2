"""Which codes and forms the text fields of request bodies take, by model.

The models take any text where a wrong one is 422 and not malformed (decision H5). An enum here is a list of the
specification; of what only the simulator knows the values, they stand as known ones.
"""

from __future__ import annotations

from collections.abc import Mapping

from contracts.generator.requests.values import FIATS, NETWORKS, STABLE, some
from contracts.generator.schemas import Schema
from simulator.resources import reference
from simulator.resources.auth.bodies import TokenBody
from simulator.resources.balance.bodies import BuyQuoteBody, EstimateBody, SwapSide, WithdrawQuoteBody
from simulator.resources.beneficiaries.bodies import AnyBeneficiary, BankAccount, PhoneNumber, WalletAddress
from simulator.resources.fees.bodies import CalculateFee
from simulator.resources.ramps.bodies import QuoteBody
from simulator.resources.recurring.bodies import NewRecurring, Source
from simulator.resources.webhooks.bodies import NewWebhook, WebhookChange
from simulator.wire.events import EVENT_TYPES
from simulator.wire.fields import Body

_RAMPED = some(dict.fromkeys(code for codes in reference.RAMP_ASSETS.values() for code in codes))
_ASSET = some(dict.fromkeys(code for code, _ in reference.ASSETS))
_FIAT = some(FIATS)
_CURRENCY = some([*FIATS, *_ASSET["enum"]])
_NETWORK = some(NETWORKS)
_HELD = {"symbol": _ASSET, "network": _NETWORK}
_PHONE = {
    "type": "string",
    "pattern": r"^\+[1-9][0-9]{6,14}$",
    "examples": ["+254712345678"],
}
_EVENTS = {
    "type": "array",
    "items": some(["*", *EVENT_TYPES]),
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
    QuoteBody: {"asset": _RAMPED, "fiat_currency": _FIAT, "amount_currency": some([*FIATS, *_RAMPED["enum"]])},
    CalculateFee: {"currency": _CURRENCY, "asset": _ASSET, "fiat_currency": _FIAT, "to_asset": _ASSET},
    EstimateBody: _HELD,
    SwapSide: _HELD,
    BuyQuoteBody: {**_HELD, "fiat_currency": _FIAT},
    WithdrawQuoteBody: {
        "symbol": some(STABLE),
        "network": _NETWORK,
        "fiat_currency": _FIAT,
        "amount_currency": some([*FIATS, *STABLE]),
    },
    Source: _HELD,
    NewRecurring: {"amount_currency": _CURRENCY},
    AnyBeneficiary: {"fiat_currency": _FIAT},
    BankAccount: {"bank_code": _known(_BANKS)},
    PhoneNumber: {"phone_number": _PHONE, "provider": _known(_PROVIDERS)},
    WalletAddress: {"asset": _known(dict.fromkeys([*_ASSET["enum"], "cUSD"]))},
    NewWebhook: {"events": _EVENTS},
    WebhookChange: {"events": _EVENTS},
}
