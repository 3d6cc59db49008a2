"""The laws that a client can see: one module per chapter of the interface, each law one row and one function."""

from simulator.conformance.laws import creating, idempotency, lists, quotes, ramps
from simulator.conformance.laws.bench import ALWAYS, LAWS, Bench, observe, play

__all__ = ["ALWAYS", "LAWS", "Bench", "creating", "idempotency", "lists", "observe", "play", "quotes", "ramps"]
