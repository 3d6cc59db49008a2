"""Idempotency keys (decision H14): what was answered under a key, and whether a request is the same one."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from itertools import takewhile

from simulator.engine.rows.error import ApiError
from simulator.engine.rows.operation import Operation
from simulator.engine.server.http.messages import Incoming
from simulator.engine.text.json import canonical
from simulator.engine.worlds.settings import assumes
from simulator.kernel.clock import HOUR_MS
from simulator.kernel.dataclass import dataclass
from simulator.kernel.fields import Id, Milliseconds
from simulator.kernel.store import TableKey
from simulator.kernel.texts import Text
from simulator.kernel.world import World

_RETENTION_MS = 24 * HOUR_MS
_BINDING_STATUSES = frozenset({200, 201, 204, 404, 409, 422})
_MARK = {"Idempotent-Replayed": "true"}


def retention_ms(world: World) -> int:
    """How long an answer is remembered."""
    if assumes(world, "H14", "lapses_after_1h"):
        return HOUR_MS
    return 7 * 24 * HOUR_MS if assumes(world, "H14", "lapses_after_7d") else _RETENTION_MS


def binds(world: World, status: int) -> bool:
    """Whether an answer of this status is remembered under the key of its call."""
    return status in _BINDING_STATUSES and (status < 300 or not assumes(world, "H14", "refusals_bind_no_key"))


def replay_mark(world: World) -> Mapping[str, str]:
    """The headers by which an answer says that it was given before."""
    if assumes(world, "H14", "mark_is_idempotency_replayed"):
        return {"Idempotency-Replayed": "true"}
    return {} if assumes(world, "H14", "replay_is_not_marked") else _MARK


@dataclass(frozen=True, slots=True)
class Stored:
    """An answer under its key: the fingerprint of the request, the status and body, and its request id."""

    fingerprint: bytes
    status: int
    body: Text
    request_id: Id
    at_ms: Milliseconds


ANSWERS = TableKey("idempotency", Stored, around=True)
"""The answers by `<environment>:<key>`, oldest first."""


def check_key(key: str) -> None:
    """1 to 255 printable ASCII characters, else 400 invalid_request."""
    if not 1 <= len(key) <= 255 or not (key.isascii() and key.isprintable()):
        raise ApiError("invalid_request", "Idempotency-Key must be 1 to 255 printable ASCII characters.")


def fingerprint(method: str, path: str, body: bytes) -> bytes:
    """Equal for equal requests; the body is compared as parsed JSON, an empty one is {}."""
    return hashlib.sha256(f"{method} {path}\n".encode() + canonical(body or b"{}")).digest()


def key_of(operation: Operation, incoming: Incoming) -> str | None:
    """The Idempotency-Key of a call; None where it has none, or the operation takes none."""
    return incoming.headers.get("idempotency-key") if operation.takes_key else None


def place_of(environment: str, key: str) -> str:
    """By what the answer of a key is found."""
    return f"{environment}:{key}"


def is_kept(world: World, place: str) -> bool:
    """Whether an answer is remembered there."""
    stored = world.store[ANSWERS].get(place)
    return stored is not None and world.now_ms - stored.at_ms < retention_ms(world)


def forget(world: World, place: str) -> None:
    """Forget the answer there before its time. Inside a change."""
    world.store[ANSWERS].delete(place)


def recall(world: World, environment: str, key: str, wanted: bytes) -> Stored | None:
    """The stored answer of this key, if it is remembered; 409 idempotency_conflict for another request."""
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
    """Bind an answer to its key; once an hour what has lapsed is forgotten on the way. Inside a change."""
    table, place = world.store[ANSWERS], place_of(environment, key)
    if place in table:
        table.delete(place)
    if world.is_first_in_hour("idempotency.hour"):
        kept_ms = retention_ms(world)
        lapsed = takewhile(lambda item: world.now_ms - item[1].at_ms >= kept_ms, table.items())
        for old, _ in list(lapsed):
            table.delete(old)
    table.put(place, stored)
    world.journal.passing.add(stored.body)
