"""What keeps the worlds of a server beyond its process, as the server sees it (`durable` has it)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from simulator.engine.clients.address import CONTROL_BASE
from simulator.engine.rows.error import ApiError, ControlError
from simulator.engine.text.json import JsonObject
from simulator.engine.webhooks.courier.port import WriteBarrier
from simulator.kernel.dataclass import dataclass
from simulator.kernel.world import DEFAULT_WORLD, World

RETRY_SECONDS = 1
"""After how many seconds of real time it is worth while to ask again."""
UNREADABLE = "world_unreadable"
"""The code of a control call to a world that is set aside."""
_OF_THE_SERVER = tuple(f"{CONTROL_BASE}/{name}" for name in ("health", "ready", "metrics"))


class Unavailable(Exception):
    """What has happened cannot be kept, or nothing that is kept can be read; the message says why."""


@dataclass(frozen=True)
class Use:
    """When a world was last used, in milliseconds since the epoch by the clock of a machine, and what it held then."""

    used_ms: int
    objects: int
    journal_bytes: int


@dataclass(frozen=True)
class RawPiece:
    """A piece of a world as the store has it."""

    part: str
    """`base`, `entry`, or `snapshot` and the id of the snapshot."""
    number: int
    content: bytes
    is_whole: bool
    """False if these are not the bytes that were written."""


class Persistence(WriteBarrier, Protocol):
    """What the server asks of it.

    `refusal` says why no call can be answered right now, None where all is well. `generation` rises whenever the worlds
    in memory were thrown away: who was answered by one of them has an answer that counts for nothing.
    """

    @property
    def refusal(self) -> str | None: ...

    @property
    def generation(self) -> int: ...

    @property
    def unreadable(self) -> Mapping[str, str]:
        """The worlds that are set aside because this version cannot read them, and why: a clause for people."""

    def world_ids(self) -> Sequence[str]:
        """The worlds of this server, those at rest included, oldest first; not those that are set aside."""

    def show_at_rest(self, world_id: str, origin: str) -> JsonObject | None:
        """Return the world object of a world at rest, or None for any other."""

    async def wake(self, world_id: str) -> None:
        """Read a world that is at rest; nothing happens for any other. Unavailable."""

    async def wake_snapshot(self, snapshot_id: str) -> None:
        """Read the world of a snapshot if that is at rest. Unavailable."""

    async def raw(self, world_id: str) -> Sequence[RawPiece]:
        """Return everything the store has of a world, readable or not; KeyError."""

    def delete_unreadable(self, world_id: str) -> None:
        """Delete a world that is set aside from the store. The world `default` begins anew at once."""

    @property
    def is_leaving(self) -> bool:
        """Whether this server hands over what it has: it answers, and new calls had better go to others."""

    def changed(self, world: World) -> None:
        """Something may have happened in a world that no change tells: its clock was set or moved."""

    def reached_at(self, origin: str) -> None:
        """Where this server listens; before it starts."""

    def lag_seconds(self) -> float:
        """How long the oldest of what is not kept yet has been waiting; 0 where all is."""

    async def uses(self) -> Mapping[str, Use]:
        """When worlds were last used, to the minute; those too that live elsewhere or nowhere. Oldest world first."""

    async def start(self) -> None:
        """Read what is kept, and let it live; once, in the event loop of the server."""

    async def drain(self) -> None:
        """The server is about to stop: hand over to others what they can go on with."""

    async def close(self) -> None:
        """Keep what has happened up to now, and end."""


def is_of_the_server(path: str) -> bool:
    """Whether a path is answered whatever becomes of the worlds, by a call that tells how the server is."""
    return path.endswith(_OF_THE_SERVER)


def unavailable(path: str, why: str) -> ApiError | ControlError:
    """The refusal of a call whose worlds cannot be kept: a code that the specification has, or one of ours."""
    message = f"The simulator cannot keep what it does, so it does nothing: {why}"
    if path.startswith((f"{CONTROL_BASE}/", "/_worlds/")) and CONTROL_BASE in path:
        return ControlError(503, "storage_unavailable", message)
    return ApiError("service_unavailable", message, headers={"Retry-After": str(RETRY_SECONDS)})


def unreadable_error(path: str, world_id: str, why: str) -> ApiError | ControlError:
    """Return the refusal of a call to a world that is set aside."""
    mend = "POST /_simulator/reset makes it anew" if world_id == DEFAULT_WORLD else "DELETE ends it"
    message = (
        f"The world {world_id!r} cannot be read, so it is set aside and answers nothing: {why}. "
        f"GET /_simulator/worlds/{world_id}/raw exports what the store has of it; {mend}."
    )
    if CONTROL_BASE in path:
        return ControlError(503, UNREADABLE, message, world=world_id, unreadable=why)
    return ApiError("service_unavailable", message)


def headers_of(error: ApiError | ControlError) -> dict[str, str]:
    """The headers that go with a refusal."""
    return error.headers if isinstance(error, ApiError) else {}
