"""Behaviour rules (laws) that a client can check. Each module contains the rules for one section of the API."""

from simulator.conformance.laws import RequestHooks, Rulebook
from simulator.conformance.rules import AssumedPoint, Finding
from simulator.providers.ramp.laws import requests, stock
from simulator.providers.ramp.laws.account import auth, beneficiaries, events, profile, webhooks
from simulator.providers.ramp.laws.conventions import (
    creating,
    errors,
    every_resource,
    idempotency,
    lists,
    paging,
    texts,
)
from simulator.providers.ramp.laws.money import (
    balance,
    exchange,
    fees,
    orders,
    quotes,
    ramps,
    recurring,
    rounding,
    wallets,
)  # fmt: skip

_NOT_SHOWN = ("GET /webhooks", "GET /wallet/assets", "GET /currencies")
"""Lists whose response the specification does not show."""
_OPTIONAL_TEXTS = ("reference", "label", "description", "pause_reason")


def _is_bare_list(found: Finding) -> bool:
    return found.operation in _NOT_SHOWN and found.answer.startswith("[")


def _lacks_an_optional_text(found: Finding) -> bool:
    return (
        found.rule in ("shape.required", "event.shape")
        and found.place.rpartition(".")[2] in _OPTIONAL_TEXTS
        and found.message.endswith("is a required property")
    )


_MODULES = (
    auth, balance, exchange, beneficiaries, creating, errors, quotes, recurring, webhooks, events, every_resource, fees,
    idempotency, lists, orders, paging, profile, ramps, rounding, texts, wallets,
)  # fmt: skip
_ASSUMED = AssumedPoint("L6", _is_bare_list), AssumedPoint("H19", _lacks_an_optional_text)
_BEYOND_SCHEMAS = "limits, balances, states, fields that a quote requires"

RULEBOOK: Rulebook = Rulebook.of(_MODULES, stock.provide, _ASSUMED, _BEYOND_SCHEMAS)
"""All rules for `rampsim conform`, in the order used in its reports."""

REQUEST_HOOKS: RequestHooks = RequestHooks(requests.before_call, requests.after_call)
