"""Webhook keys, signatures, and the settings that webhooks depend on (decisions W1 to W3)."""

from __future__ import annotations

import hmac

from simulator.engine.clients.live_keys import marked
from simulator.engine.records import traces
from simulator.engine.webhooks.delivery.faults import body_of, falsified, staleness_ms
from simulator.engine.webhooks.records import NO_FAULT, Attempt, SignedRequest
from simulator.engine.worlds.settings import settings_of
from simulator.kernel.ids import derive, text_of
from simulator.kernel.store import TableKey
from simulator.kernel.world import DEFAULT_WORLD, World
from simulator.version import __version__

KEYS = TableKey("webhook_keys", str)
"""The webhook key of each environment."""
_PREFIX = {"sandbox": "whk_test_", "production": "whk_live_"}
_KEY_LENGTH = 32
_SAME_HEADERS = (("Content-Type", "application/json"), ("User-Agent", f"rampsim/{__version__} (simulator)"))


def url_policy(world: World) -> str:
    """`public`, `local` (default) or `any` (decision W3)."""
    return settings_of(world)["webhook_urls"]


def webhook_key(world: World, environment: str) -> str:
    """The one webhook key of the account in this environment (decision W1)."""
    key = world.store[KEYS].get(environment)
    return key or _derived(world, environment, 0)


def _derived(world: World, environment: str, rotations: int) -> str:
    if world.keys_of == DEFAULT_WORLD and not rotations:
        return _PREFIX[environment] + "simulator"
    raw = derive("webhook_key", world.keys_of, world.seed, environment, rotations)
    return _PREFIX[environment] + marked(text_of(raw, _KEY_LENGTH))


def set_up_keys(world: World) -> None:
    """Give a world webhook keys of its own, derived from its id and seed; inside a change."""
    for environment in world.environments:
        world.store[KEYS].put(environment, _derived(world, environment, 0))


def rotate_key(world: World, environment: str) -> str:
    """Replace the webhook key; requests sent from now on are signed with the new one. Inside a change."""
    key = _derived(world, environment, world.next_sequence(f"webhook_key.{environment}"))
    world.store[KEYS].put(environment, key)
    return key


def sign(key: str, timestamp_ms: int, raw: bytes) -> str:
    """Hex HMAC-SHA256 of `<timestamp>.<raw body>` under the webhook key."""
    return hmac.digest(key.encode(), b"%d." % timestamp_ms + raw, "sha256").hex()


def signed_headers(key: str, timestamp_ms: int, raw: bytes) -> tuple[tuple[str, str], ...]:
    """The headers of a webhook request."""
    return (*_SAME_HEADERS, ("X-Timestamp", str(timestamp_ms)), ("X-Signature", sign(key, timestamp_ms, raw)))


def sending_time_ms(world: World, wall_ms: int) -> int:
    """The X-Timestamp of a request sent now: the wall clock, unless the receiver's time is the simulated one (W2)."""
    return world.now_ms if settings_of(world)["webhook_timestamp"] == "simulated" else wall_ms


def prepare(world: World, attempt: Attempt, wall_ms: int) -> SignedRequest:
    """The request of an attempt, stamped and signed at this moment.

    Every attempt sends the event's own bytes (W7), but for what a fault puts into them. With a trace that a request
    brought along goes a span of its own.
    """
    event = world.journal.event(attempt.event_id)
    if event is None:
        raise LookupError(f"the event {attempt.event_id} is gone")
    plan = attempt.pending.plan or NO_FAULT
    timestamp_ms, raw = sending_time_ms(world, wall_ms) - staleness_ms(plan), body_of(world, event, plan)
    headers = signed_headers(webhook_key(world, event.environment), timestamp_ms, raw)
    trace = traces.trace_of(world, event)
    if trace:
        headers = (*headers, (traces.HEADER, traces.child_of(trace, attempt.id)))
    return falsified(plan, SignedRequest(attempt.url, headers, raw))
