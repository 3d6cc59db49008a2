"""Whether the server is up."""

from __future__ import annotations

from typing import Literal

from typing_extensions import TypedDict

from simulator.control.operation import ControlCall, ControlOperation
from simulator.version import __version__
from simulator.wire.shapes import Count


class Health(TypedDict):
    status: Literal["ok"]
    """Always `ok`: the server answers."""
    version: str
    """The version of the simulator."""
    worlds: Count
    """How many worlds there are."""


async def health(call: ControlCall) -> Health:
    """That the server answers, with its version and how many worlds it has; needs no token."""
    return {"status": "ok", "version": __version__, "worlds": len(call.simulator.worlds)}


ROWS: tuple[ControlOperation, ...] = (
    ControlOperation(
        "GET",
        "/health",
        "health",
        "Worlds",
        "Whether the server is up",
        health,
        scope="server",
        open=True,
        takes_webhooks=True,
    ),
)
