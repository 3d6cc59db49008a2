"""The state table of deposit transactions: they are made when the money is already there (decision S12)."""

from __future__ import annotations

from simulator.kernel.machine import Machine, Move

DEPOSIT_TRANSACTION = Machine(
    "deposit transaction",
    initial=(Move("credit", "completed", basis="S12"),),
    rows={"completed": ()},
)
DEPOSIT_TRANSACTION_MEANINGS = {"completed": "The deposit is credited to the balance."}

STATUSES = {
    "pending": "Accepted, but not under way yet.",
    "awaiting_payment": "An onramp that waits for the payer's fiat.",
    "awaiting_deposit": "An offramp that waits for the crypto deposit.",
    "processing": "The money is there and on its way.",
    "completed": "The recipient has it.",
    "failed": "It came to nothing; `failure_code` says why.",
    "expired": "A ramp whose payment or deposit did not arrive in time.",
    "refunded": "What was received or held went back.",
}
"""Every status a transaction of any type can have, and what it says."""

IN_FLIGHT = ("pending", "processing")
"""A transaction of the balance that may still succeed."""
