"""Wrong services with one mistake each, and the rules of `rampsim conform` that find the mistake."""

from tests.tools.conformance.mutants import errors, idempotency, lists, money, shapes, states, times, webhooks
from tests.tools.conformance.mutants.service import MUTANTS, Mutant, Tally

__all__ = [
    "MUTANTS", "Mutant", "Tally", "errors", "idempotency", "lists", "money", "shapes", "states", "times", "webhooks",
]  # fmt: skip
