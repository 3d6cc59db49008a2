"""The state table of a key pair: works until it is revoked, for good (item 6 of the chapter "Authentication")."""

from __future__ import annotations

from simulator.kernel.machine import Machine, Move

KEY_PAIR = Machine(
    "key pair",
    initial=(Move("create_key", "active"),),
    rows={
        "active": (Move("revoke_key", "revoked"),),
        "revoked": (),
    },
)
