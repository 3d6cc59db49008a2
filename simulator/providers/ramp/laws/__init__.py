"""The laws that a client can see: one module per chapter of the interface, each law one row and one function."""

from simulator.conformance.bench import ALWAYS, LAWS, Bench, observe, play
from simulator.providers.ramp.laws.account import auth, beneficiaries, events, profile, webhooks
from simulator.providers.ramp.laws.conventions import (
    creating,
    errors,
    idempotency,
    lists,
    paging,
    texts,
)
from simulator.providers.ramp.laws.conventions import (
    every_resource as conventions,
)
from simulator.providers.ramp.laws.money import balance, fees, orders, quotes, ramps, recurring, rounding, wallets

CHAPTERS = (
    conventions, auth, errors, profile, fees, quotes, ramps, rounding, balance, wallets, beneficiaries, recurring,
    orders, creating, texts, idempotency, paging, lists, webhooks, events,
)  # fmt: skip
"""The modules that enter their laws when they are imported."""

__all__ = ["ALWAYS", "CHAPTERS", "LAWS", "Bench", "observe", "play"]
