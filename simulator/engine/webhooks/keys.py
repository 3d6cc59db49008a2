"""Webhook keys, signatures and webhook settings (decisions W1 to W3)."""

from __future__ import annotations

from simulator.engine.records import origins
from simulator.engine.rows.action import ActionCall
from simulator.engine.rows.service import signing_of
from simulator.engine.rows.signature import Signature
from simulator.engine.text.fields import Nothing
from simulator.engine.webhooks.delivery.faults import body_of, falsified, staleness_ms
from simulator.engine.webhooks.records import NO_FAULT, Attempt, SignedRequest
from simulator.engine.worlds.settings import settings_of
from simulator.kernel.store import TableKey
from simulator.kernel.world import World
from simulator.version import __version__

KEYS = TableKey("webhook_keys", str)
"""The webhook key for each environment."""
_SAME_HEADERS = (("Content-Type", "application/json"), ("User-Agent", f"rampsim/{__version__} (simulator)"))


def url_policy(world: World) -> str:
    """Return the URL policy of a world: `public`, `local` (default) or `any` (decision W3)."""
    return settings_of(world)["webhook_urls"]


def webhook_key(world: World, environment: str) -> str:
    """Return the account's webhook key in this environment (decision W1)."""
    key = world.store[KEYS].get(environment)
    return key or signing_of(world).new_key(world, environment, 0)


def set_up_keys(world: World) -> None:
    """Create a world's webhook keys, which are derived from its id and seed. Call this inside a transaction."""
    for environment in world.environments:
        world.store[KEYS].put(environment, signing_of(world).new_key(world, environment, 0))


def rotate_key(call: ActionCall[None, Nothing]) -> dict[str, str]:
    """Replace the webhook key. The new key signs all later requests."""
    world, environment = call.world, call.environment
    key = signing_of(world).new_key(world, environment, world.next_sequence(f"webhook_key.{environment}"))
    world.store[KEYS].put(environment, key)
    return {"webhook_key": key}


def signed_headers(signature: Signature, key: str, timestamp_ms: int, raw: bytes) -> tuple[tuple[str, str], ...]:
    """Return the headers of a webhook request."""
    return (*_SAME_HEADERS, *signature.headers(key, timestamp_ms, raw))


def sending_time_ms(world: World, wall_ms: int) -> int:
    """Return the timestamp for a request that is sent now, as the setting `webhook_timestamp` selects (W2)."""
    return world.now_ms if settings_of(world)["webhook_timestamp"] == "simulated" else wall_ms


def prepare(world: World, attempt: Attempt, wall_ms: int) -> SignedRequest:
    """Return the signed request for an attempt, with the event's exact bytes (W7) unless a fault adds data. If the
    request that caused the event had a trace context, the attempt is a span in that trace.
    """
    event = world.journal.event(attempt.event_id)
    if event is None:
        raise LookupError(f"the event {attempt.event_id} no longer exists")
    plan = attempt.pending.plan or NO_FAULT
    timestamp_ms, raw = sending_time_ms(world, wall_ms) - staleness_ms(plan), body_of(world, event, plan)
    signature = signing_of(world).signature
    headers = signed_headers(signature, webhook_key(world, event.environment), timestamp_ms, raw)
    trace = origins.trace_of(world, event)
    if trace:
        headers = (*headers, (origins.TRACE_HEADER, origins.child_of(trace, attempt.id)))
    return falsified(plan, SignedRequest(attempt.url, headers, raw), signature.signature_header)
