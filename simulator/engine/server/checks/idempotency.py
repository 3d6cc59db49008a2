"""Idempotency keys (decision H14), which are valid in one environment: stores responses and compares requests."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from itertools import takewhile

from simulator.engine.rows.error import ApiError
from simulator.engine.rows.operation import Operation
from simulator.engine.server.http.messages import Incoming
from simulator.engine.text.json import canonical
from simulator.engine.worlds.settings import assumes
from simulator.kernel.clock import DAY_MS, HOUR_MS
from simulator.kernel.dataclass import dataclass
from simulator.kernel.fields import Id, Milliseconds
from simulator.kernel.store import TableKey
from simulator.kernel.texts import Text
from simulator.kernel.world import World

# Once the cause is fixed, a request that was refused with 400, 401, 403, 429 or 5xx can be sent again with the same
# key. A stored refusal would prevent this.
_BINDING_STATUSES = frozenset({200, 201, 204, 404, 409, 422})
_MARK = {"Idempotent-Replayed": "true"}


def retention_ms(world: World) -> int:
    """Return the time for which a response is stored, in milliseconds."""
    if assumes(world, "H14", "lapses_after_1h"):
        return HOUR_MS
    return (7 if assumes(world, "H14", "lapses_after_7d") else 1) * DAY_MS


def binds(world: World, status: int) -> bool:
    """Return True if a response with this status is stored under the request's idempotency key."""
    return status in _BINDING_STATUSES and (status < 300 or not assumes(world, "H14", "refusals_bind_no_key"))


def replay_mark(world: World) -> Mapping[str, str]:
    """Return the headers that mark a response as a stored response to an earlier request."""
    if assumes(world, "H14", "mark_is_idempotency_replayed"):
        return {"Idempotency-Replayed": "true"}
    return {} if assumes(world, "H14", "replay_is_not_marked") else _MARK


@dataclass(frozen=True, slots=True)
class Stored:
    """The response that is stored under an idempotency key."""

    fingerprint: bytes
    """The fingerprint of the request (see `fingerprint`)."""
    status: int
    body: Text
    request_id: Id
    at_ms: Milliseconds


ANSWERS = TableKey("idempotency", Stored, around=True)
"""The stored responses by `<environment>:<key>`, from oldest to newest."""


def check_key(key: str) -> None:
    """Raise `ApiError` 400 if a key is not 1 to 255 printable ASCII characters."""
    if not 1 <= len(key) <= 255 or not (key.isascii() and key.isprintable()):
        raise ApiError("invalid_request", "Idempotency-Key must be 1 to 255 printable ASCII characters.")


def fingerprint(method: str, path: str, body: bytes) -> bytes:
    """Return a hash that is the same for equal requests. An empty body counts as {}."""
    # Bodies are compared as parsed JSON, because clients rebuild the body for a retry and may change the order of its
    # fields.
    return hashlib.sha256(f"{method} {path}\n".encode() + canonical(body or b"{}")).digest()


def key_of(operation: Operation, incoming: Incoming) -> str | None:
    """Return the Idempotency-Key header of a request, or None if there is none or the operation ignores it."""
    return incoming.headers.get("idempotency-key") if operation.takes_key else None


def place_of(environment: str, key: str) -> str:
    """Return the table key for an idempotency key."""
    return f"{environment}:{key}"


def is_kept(world: World, place: str) -> bool:
    """Return True if a response is stored under this table key and has not expired."""
    stored = world.store[ANSWERS].get(place)
    return stored is not None and world.now_ms - stored.at_ms < retention_ms(world)


def recall(world: World, environment: str, key: str, wanted: bytes) -> Stored | None:
    """Return the response stored under a key, or None. Raise `ApiError` 409 if another request used the key."""
    place = place_of(environment, key)
    stored = world.store[ANSWERS].get(place)
    if stored is None or not is_kept(world, place):
        return None
    if stored.fingerprint != wanted:
        status = 422 if assumes(world, "H14", "conflict_answers_422") else 0
        message = "This Idempotency-Key was used with a different request."
        raise ApiError("idempotency_conflict", message, status=status)
    return stored


def remember(world: World, environment: str, key: str, stored: Stored) -> None:
    """Store a response under its idempotency key. Once per simulated hour, delete expired responses.

    Call this inside a transaction.
    """
    table, place = world.store[ANSWERS], place_of(environment, key)
    if place in table:
        # `put` alone would leave the key at its old position. Expired responses are found by reading from the oldest
        # until one has not expired, so the table must be in chronological order.
        table.delete(place)
    if world.is_first_in_hour("idempotency.hour"):
        kept_ms = retention_ms(world)
        expired = takewhile(lambda item: world.now_ms - item[1].at_ms >= kept_ms, table.items())
        for old, _ in list(expired):
            table.delete(old)
    table.put(place, stored)
    world.journal.passing.add(stored.body)
