"""How the server is: whether it is up, whether it answers calls, and its metrics."""

from __future__ import annotations

from typing import Literal

from typing_extensions import TypedDict

from simulator.engine.control import metrics as measured
from simulator.engine.control.call import ControlCall
from simulator.engine.control.operation import Raw, calls_under
from simulator.engine.rows.error import ControlError
from simulator.engine.server.runtime import Runtime
from simulator.engine.text.shapes import Count
from simulator.version import __version__

operation = calls_under("Worlds")
seeing = calls_under("Seeing")

METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class Health(TypedDict):
    status: Literal["ok"]
    """Always `ok`: the server answers."""
    version: str
    """The version of the simulator."""
    worlds: Count
    """How many worlds there are."""


class Readiness(TypedDict):
    status: Literal["ready"]
    """Always `ready`: calls are answered."""


@operation("GET /health", "Whether the server is up", scope="server", open=True, takes_webhooks=True)
async def health(call: ControlCall) -> Health:
    """That the server answers, with its version and how many worlds it has; needs no token."""
    return {"status": "ok", "version": __version__, "worlds": len(call.runtime.world_ids())}


@operation("GET /ready", "Whether the server answers calls", scope="server", open=True, takes_webhooks=True)
async def ready(call: ControlCall) -> Readiness:
    """That calls are answered; 503 not_ready while the store cannot keep what they do, or others take over. No token.

    Without a store a server that is up is ready.
    """
    persistence = call.runtime.persistence
    if persistence is not None and persistence.refusal is not None:
        raise ControlError(503, "not_ready", f"The store cannot keep what calls do: {persistence.refusal}")
    if persistence is not None and persistence.is_leaving:
        raise ControlError(503, "not_ready", "This server is being ended; others have its worlds.")
    return {"status": "ready"}


class MetricsPage:
    """The metrics of a server, made for the first call that asks: until then nothing of their library is loaded."""

    def __init__(self) -> None:
        self._of: tuple[Runtime, measured.Metrics] | None = None

    @seeing("GET /metrics", "Metrics for Prometheus", scope="server", catches_up=False, media_type=METRICS_TYPE)
    async def metrics(self, call: ControlCall) -> Raw[str]:
        """What the server has done and holds, in the text format of Prometheus, without a word of what calls carried.

        It is of the server as a whole: where control tokens are asked for, it takes one that is for all worlds.
        """
        call.access.require_all("Metrics tell of all worlds of the server.")
        if self._of is None or self._of[0] is not call.runtime:
            self._of = call.runtime, measured.Metrics(call.runtime)
        return Raw(self._of[1].text())
