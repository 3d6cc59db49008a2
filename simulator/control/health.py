"""Whether the server is up."""

from __future__ import annotations

from typing import Literal

from typing_extensions import TypedDict

from simulator.control.operation import ControlCall, ControlOperation
from simulator.version import __version__
from simulator.wire.shapes import Count


class Health(TypedDict):
    status: Literal["ok"]
    version: str
    worlds: Count


async def health(call: ControlCall) -> Health:
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
