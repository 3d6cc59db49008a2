"""Registration of a receiver's endpoint in a world."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from simulator.engine.clients.tool_mark import marked
from simulator.engine.text.json import JsonObject
from simulator.testing.errors import SimulatorError, hides_traceback
from simulator.testing.links.extra import httpx

if TYPE_CHECKING:
    from simulator.testing.worlds import World

__tracebackhide__ = hides_traceback

_made: WeakKeyDictionary[World, int] = WeakKeyDictionary()
"""The number of receivers that were registered in each world."""


def register(world: World, url: str, events: Sequence[str], environment: str) -> str:
    """Register an endpoint for these events and return its id. Raises SimulatorError if the server refuses it."""
    number = _made[world] = _made.get(world, 0) + 1
    # A fork has the keys of the world it was forked from.
    response = _client(world, environment).post(
        "/webhooks",
        json={"url": url, "events": list(events)},
        headers={"Idempotency-Key": f"receiver-{number}-of-{world.id}", **marked("kit")},
    )
    if not response.is_success:
        raise _refusal(response, url)
    endpoint_id: str = response.json()["id"]
    return endpoint_id


def unregister(world: World, endpoint_id: str, environment: str) -> None:
    """Remove an endpoint from its world."""
    _client(world, environment).delete(f"/webhooks/{endpoint_id}", headers=marked("kit"))


def _client(world: World, environment: str) -> httpx.Client:
    return world.production if environment == "production" else world.client


def _refusal(response: httpx.Response, url: str) -> SimulatorError:
    error: JsonObject = {}
    with suppress(ValueError, KeyError):
        error = response.json()["error"]
    why = error.get("message", f"POST /webhooks returned {response.status_code}.")
    if error.get("code") == "invalid_webhook_url":
        why += f" The receiver listens at {url} on the test machine. Can the simulator reach it?"
    elif response.status_code == 429 or response.status_code >= 500:
        why += " If a fault is in force for this call, create the receiver first."
    return SimulatorError(f"The receiver could not register itself: {why}", status=response.status_code, error=error)
