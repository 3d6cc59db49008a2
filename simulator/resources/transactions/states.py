"""The state table of deposit transactions: they are made when the money is already there (decision S12)."""

from __future__ import annotations

from simulator.kernel.machine import Machine, Move

DEPOSIT_TRANSACTION = Machine(
    "deposit transaction",
    initial=(Move("credit", "completed", basis="S12"),),
    rows={"completed": ()},
)
STATUSES = (
    "pending",
    "awaiting_payment",
    "awaiting_deposit",
    "processing",
    "completed",
    "failed",
    "expired",
    "refunded",
)
"""Every status a transaction of any type can have."""

IN_FLIGHT = ("pending", "processing")
"""A transaction of the balance that may still succeed."""
