"""The state table of a network: moves between operational, degraded and down (decision S22).

Setting the present state is not a move and emits nothing, so no cell leads to its own state.
"""

from __future__ import annotations

from simulator.kernel.machine import Machine, Move

STATUSES = {
    "operational": "It works as usual.",
    "degraded": "It is slower or fails now and then.",
    "down": "It cannot be used: create no quotes or transactions on it.",
}
SET = "set_network"
START = "start"


def _row(state: str) -> tuple[Move, ...]:
    return tuple(
        Move(SET, target, ("network.status_changed",), when=target, basis="specified")
        for target in STATUSES
        if target != state
    )


NETWORK = Machine(
    "network",
    initial=(Move(START, "operational", basis="S22"),),
    rows={state: _row(state) for state in STATUSES},
)
