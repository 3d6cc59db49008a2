"""The laws that a client can see: one module per chapter of the interface, each law one row and one function."""

from simulator.conformance.laws import (
    auth,
    balance,
    beneficiaries,
    conventions,
    creating,
    errors,
    events,
    fees,
    idempotency,
    lists,
    orders,
    paging,
    profile,
    quotes,
    ramps,
    recurring,
    rounding,
    texts,
    wallets,
    webhooks,
)
from simulator.conformance.laws.bench import ALWAYS, LAWS, Bench, observe, play

CHAPTERS = (
    conventions, auth, errors, profile, fees, quotes, ramps, rounding, balance, wallets, beneficiaries, recurring,
    orders, creating, texts, idempotency, paging, lists, webhooks, events,
)  # fmt: skip
"""The modules that enter their laws when they are imported."""

__all__ = ["ALWAYS", "CHAPTERS", "LAWS", "Bench", "observe", "play"]
