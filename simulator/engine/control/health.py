"""Monitoring endpoints: health, readiness and metrics."""

from __future__ import annotations

from typing import Literal

from typing_extensions import TypedDict

from simulator.engine.control import metrics as measured  # prometheus_client is imported on the first request
from simulator.engine.control.call import ControlCall
from simulator.engine.control.operation import Raw, calls_under
from simulator.engine.rows.error import ControlError
from simulator.engine.text.shapes import Count
from simulator.version import __version__

operation = calls_under("Worlds")
seeing = calls_under("Seeing")

METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class Health(TypedDict):
    status: Literal["ok"]
    """Always `ok`."""
    version: str
    """The version of the simulator."""
    worlds: Count
    """The number of worlds."""


class Readiness(TypedDict):
    status: Literal["ready"]
    """Always `ready`."""


@operation("GET /health", "Check that the server is up", scope="server", open=True, takes_webhooks=True)
async def health(call: ControlCall) -> Health:
    """Return the version and the number of worlds. No token is needed. Use this call as a liveness probe."""
    return {"status": "ok", "version": __version__, "worlds": len(call.runtime.world_ids())}


@operation("GET /ready", "Check that the server can handle calls", scope="server", open=True, takes_webhooks=True)
async def ready(call: ControlCall) -> Readiness:
    """Return 200 if the server can handle requests. No token is needed. Use this call as a readiness probe. Fails with
    503 not_ready if the store cannot save changes, or if the server is shutting down and other servers are taking over
    its worlds. Without a store, a running server is always ready.
    """
    persistence = call.runtime.persistence
    if persistence is not None and persistence.refusal is not None:
        raise ControlError(503, "not_ready", f"The store cannot save changes: {persistence.refusal}")
    if persistence is not None and persistence.is_leaving:
        raise ControlError(503, "not_ready", "This server is shutting down. Other servers take over its worlds.")
    return {"status": "ready"}


@seeing("GET /metrics", "Metrics for Prometheus", scope="server", catches_up=False, media_type=METRICS_TYPE)
async def metrics(call: ControlCall) -> Raw[str]:
    """Return the metrics of the whole server in Prometheus text format. They contain no data from requests. If the
    server has control tokens, this call needs a token for all worlds.
    """
    call.access.require_all("Metrics cover all worlds of the server.")
    return Raw(measured.text_of(call.runtime))
