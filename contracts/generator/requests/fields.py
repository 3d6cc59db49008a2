"""Which codes and forms the text fields of request bodies take, by model.

The models take any text where a wrong one is 422 and not malformed (decision H5). An enum here is a list of the
specification; of what only the simulator knows the values, they stand as known ones.
"""

from __future__ import annotations

from collections.abc import Mapping

from contracts.generator.requests.values import STABLE
from contracts.generator.schemas import Schema
from simulator.engine.text.fields import Body
from simulator.engine.text.shapes import explained, guesses
from simulator.engine.webhooks.bodies import NewWebhook, WebhookChange
from simulator.host import vocabulary
from simulator.providers.ramp import reference
from simulator.providers.ramp.auth.bodies import TokenBody
from simulator.providers.ramp.balance.bodies import BuyQuoteBody, EstimateBody, SwapSide, WithdrawQuoteBody
from simulator.providers.ramp.beneficiaries.bodies import AnyBeneficiary, BankAccount, PhoneNumber, WalletAddress
from simulator.providers.ramp.recurring.bodies import NewRecurring, Source
from simulator.providers.ramp.shapes import ASSET_CODES, CURRENCY_CODES, FIAT_CODES, WALLET_NETWORKS


def _one_of(meanings: Mapping[str, str]) -> Schema:
    return explained({"type": "string", "enum": list(meanings)}, meanings)


def _known(meanings: Mapping[str, str]) -> Schema:
    values = list(meanings)
    return explained({"type": "string", "examples": values[:2], "x-known-values": values}, meanings)


_FIAT = _one_of(FIAT_CODES)
_NETWORK = _one_of(WALLET_NETWORKS)
_HELD = {"symbol": _one_of(ASSET_CODES), "network": _NETWORK}
_STABLE = {code: ASSET_CODES[code] for code in STABLE}
_PHONE = {"type": "string", "pattern": r"^\+[1-9][0-9]{6,14}$", "examples": ["+254712345678"]}
_EVENTS = {
    "type": "array",
    "items": _one_of({"*": "Every event.", **vocabulary().event_meanings}),
    "minItems": 1,
    **guesses({"minItems": "H5"}),
    "examples": [["*"], ["transaction.completed", "transaction.failed"]],
}


def _banks() -> dict[str, str]:
    """By code the bank that has it, or the banks: each country has its own codes."""
    found: dict[str, list[str]] = {}
    for banks in reference.BANKS.values():
        for code, bank in banks.items():
            found.setdefault(code, []).append(f"{bank.name} ({bank.country})")
    return {code: f"{', '.join(names)}." for code, names in found.items()}


FIELDS: Mapping[type[Body], Mapping[str, Schema]] = {
    TokenBody: {
        "public_key": {"type": "string", "pattern": "^pk_(test|live)_"},
        "secret_key": {"type": "string", "pattern": "^sk_(test|live)_"},
    },
    EstimateBody: _HELD,
    SwapSide: _HELD,
    BuyQuoteBody: {**_HELD, "fiat_currency": _FIAT},
    WithdrawQuoteBody: {
        "symbol": {**_one_of(_STABLE), **guesses({"enum": "M6"})},
        "network": _NETWORK,
        "fiat_currency": _FIAT,
        "amount_currency": {**_one_of({**FIAT_CODES, **_STABLE}), **guesses({"enum": "M6"})},
    },
    Source: _HELD,
    NewRecurring: {"amount_currency": _one_of(CURRENCY_CODES)},
    AnyBeneficiary: {"fiat_currency": _FIAT},
    BankAccount: {"bank_code": _known(_banks())},
    PhoneNumber: {"phone_number": _PHONE, "provider": _known(reference.PROVIDER_CODES)},
    WalletAddress: {"asset": _known({**ASSET_CODES, "cUSD": "Another spelling of CUSD."})},
    NewWebhook: {"events": _EVENTS},
    WebhookChange: {"events": _EVENTS},
}
