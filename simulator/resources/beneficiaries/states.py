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
