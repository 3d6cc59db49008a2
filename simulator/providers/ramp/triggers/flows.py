"""The orders that the test kit creates in one line: `world.flow("onramp")` and `world.flow("offramp")`.

A test can give fields of the quote and of its confirmation. The fiat currency determines the amount, the payment
method, the payer and the beneficiary, and the network determines the address.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simulator.engine.text.json import JsonObject
from simulator.kernel.dataclass import dataclass
from simulator.providers.ramp.reference import BANKS, COUNTRY_OF, PROVIDERS, has_method
from simulator.providers.ramp.samples import SAMPLES
from simulator.providers.ramp.triggers.factories import ADDRESSES
from simulator.testing.flow_row import Ask, Flow

_QUOTE = ("network", "asset", "fiat_currency", "amount", "amount_currency", "method")
_NAME = "Wanjiru Otieno"


@dataclass(frozen=True)
class _Party:
    """A payer or payee in the country of a fiat currency, for a payment method."""

    fiat: str
    method: str

    @property
    def country(self) -> str:
        return COUNTRY_OF.get(self.fiat, "KE")

    @property
    def _phone(self) -> str:
        return SAMPLES.phone_samples[self.country]

    @property
    def _account(self) -> JsonObject:
        code, bank = next(iter(BANKS[self.country].items()))
        return {"bank_code": code, "account_number": "0123456789012345"[: bank.min_digits], "account_name": _NAME}

    def payer(self) -> JsonObject:
        return {"phone_number": self._phone} if self.method == "mobile_money" else self._account

    def beneficiary(self) -> JsonObject:
        body = {"name": _NAME, "country": self.country, "fiat_currency": self.fiat}
        if self.method != "mobile_money":
            return body | {"type": "bank_account", "bank_account": self._account}
        provider = next(iter(PROVIDERS[self.country]), "")
        return body | {"type": "phone_number", "phone_number": {"phone_number": self._phone, "provider": provider}}


def _quote(type_: str, fields: Mapping[str, Any]) -> JsonObject:
    """Return the body for a quote: the given fields, plus matching values for the other fields."""
    fiat, asset = fields.get("fiat_currency", "KES"), fields.get("asset", "USDC")
    method = "mobile_money" if has_method(fiat, "mobile_money") else "bank_transfer"
    currency = fields.get("amount_currency", fiat if type_ == "onramp" else asset)
    amount = SAMPLES.amounts[currency][1] if currency in SAMPLES.amounts else "1"
    usual = {
        "network": "celo", "asset": asset, "fiat_currency": fiat, "amount": amount, "amount_currency": currency,
        "method": method,
    }  # fmt: skip
    return {"type": type_, **usual, **{name: fields[name] for name in _QUOTE if name in fields}}


def _confirmed(call: Ask, quote: JsonObject, usual: JsonObject, fields: Mapping[str, Any]) -> JsonObject:
    given = {name: value for name, value in fields.items() if name not in _QUOTE}
    made = call("POST", "/quotes", quote)
    return call("POST", f"/quotes/{made['id']}/confirm", usual | given)


def _onramp(call: Ask, fields: Mapping[str, Any]) -> JsonObject:
    body = _quote("onramp", fields)
    party = _Party(str(body["fiat_currency"]), str(body["method"]))
    usual = {"wallet_address": _address(body), "payer": party.payer()}
    return _confirmed(call, body, usual, fields)


def _offramp(call: Ask, fields: Mapping[str, Any]) -> JsonObject:
    body = _quote("offramp", fields)
    usual: JsonObject = {"refund_address": _address(body)}
    if "beneficiary_id" not in fields:
        party = _Party(str(body["fiat_currency"]), str(body["method"]))
        usual["beneficiary_id"] = call("POST", "/beneficiaries", party.beneficiary())["id"]
    return _confirmed(call, body, usual, fields)


def _address(quote: JsonObject) -> str:
    return ADDRESSES.get(str(quote["network"]), ADDRESSES["celo"])


_STATUSES = ("processing", "completed", "failed", "refunded", "expired")
_EVENTS = {status: f"transaction.{status}" for status in _STATUSES}

FLOWS: Mapping[str, Flow] = {
    "onramp": Flow(
        _onramp,
        (*_QUOTE, "wallet_address", "memo", "payer", "reference"),
        "/transactions/",
        {"awaiting_payment": ""} | _EVENTS,
    ),
    "offramp": Flow(
        _offramp,
        (*_QUOTE, "beneficiary_id", "refund_address", "reference"),
        "/transactions/",
        {"awaiting_deposit": ""} | _EVENTS,
    ),
}
"""The flows by name."""
