"""Services that are wrong in one thing each, and the table that says which rule of `rampsim conform` finds it."""

from tests.tools.conformance.mutants import errors, idempotency, lists, money, shapes, states, times, webhooks
from tests.tools.conformance.mutants.service import MUTANTS, Mutant, Tally

__all__ = [
    "MUTANTS", "Mutant", "Tally", "errors", "idempotency", "lists", "money", "shapes", "states", "times", "webhooks",
]  # fmt: skip
