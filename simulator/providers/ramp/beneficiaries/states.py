"""The state table of a beneficiary: saved, then deleted. The state is not shown on the wire."""

from __future__ import annotations

from simulator.kernel.machine import Machine, Move

BENEFICIARY = Machine(
    "beneficiary",
    initial=(Move("create", "active", ("beneficiary.created",)),),
    rows={
        "active": (Move("delete", "deleted", ("beneficiary.deleted",)),),
        "deleted": (),
    },
)

MEANINGS = {"active": "Saved, and not deleted: every beneficiary that is listed."}
"""Of the states that a list can be asked for; a deleted beneficiary is not listed."""
