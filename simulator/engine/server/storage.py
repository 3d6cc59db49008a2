"""The interface to durable storage that the server uses. The package `engine/durable` implements this interface."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence

from simulator.engine.clients.address import CONTROL_BASE
from simulator.engine.rows.error import ApiError, ControlError
from simulator.engine.text.json import JsonObject
from simulator.engine.webhooks.courier.port import WriteBarrier
from simulator.engine.worlds.observer import Observer
from simulator.kernel.dataclass import dataclass
from simulator.kernel.world import DEFAULT_WORLD, World

RETRY_SECONDS = 1
"""The number of seconds of real time after which a client should retry."""
UNREADABLE = "world_unreadable"
"""The error code for a control request to a quarantined world."""
_OF_THE_SERVER = tuple(f"{CONTROL_BASE}/{name}" for name in ("health", "ready", "metrics"))


class Unavailable(Exception):
    """Raised if changes cannot be saved or worlds cannot be read. The message states the reason."""


@dataclass(frozen=True)
class Use:
    """The time of a world's last use, and the size of the world at that time."""

    used_ms: int
    """The time on the machine's clock, in milliseconds since the epoch."""
    objects: int
    journal_bytes: int


@dataclass(frozen=True)
class RawPiece:
    """A part of a world's stored bytes."""

    part: str
    """`base` for a saved state, `entry` for later changes, or `snapshot` with the id of the snapshot."""
    number: int
    content: bytes
    is_whole: bool
    """False if the bytes differ from the bytes that were written."""


class Persistence(Observer, WriteBarrier):
    """The persistence layer of a server. By default, all worlds are in memory and are not shared."""

    refusal: str | None
    """The reason why no request can currently be served, or None if requests can be served."""
    generation: int
    """The number of times that the worlds in memory were discarded. Responses computed before are invalid."""
    unreadable: Mapping[str, str]
    """The reasons why worlds are quarantined (this version cannot read them), by world id. A reason is a clause."""

    @abstractmethod
    def world_ids(self) -> Sequence[str]:
        """Return the ids of the worlds on this server, oldest first, without quarantined worlds."""

    def show_at_rest(self, world_id: str, origin: str) -> JsonObject | None:
        """Return a suspended world as the control API returns it, or None for any other world."""
        return None

    async def wake(self, world_id: str) -> None:
        """Read a world into memory if it is suspended. Raise `Unavailable` if reading fails."""

    async def wake_snapshot(self, snapshot_id: str) -> None:
        """Like `wake`, for the world of a snapshot."""

    @abstractmethod
    async def raw(self, world_id: str) -> Sequence[RawPiece]:
        """Return all stored bytes of a world, even if it is unreadable. Raise `KeyError` if there is no such world."""

    def delete_unreadable(self, world_id: str) -> None:
        """Delete a saved world that this version cannot read. If it is `default`, create a new one immediately."""

    @property
    def is_leaving(self) -> bool:
        """True if this server is handing over its worlds. It still serves requests."""
        return False

    def changed(self, world: World) -> None:
        """Save a world if its clock was set or advanced, because such a change is not part of a transaction."""

    def reached_at(self, origin: str) -> None:
        """Set the address of this server. Call this method before the server starts."""

    @abstractmethod
    def lag_seconds(self) -> float:
        """Return the age of the oldest unsaved change in seconds, or 0 if all changes are saved."""

    @abstractmethod
    async def uses(self) -> Mapping[str, Use]:
        """Return the last use of every world, including worlds on other servers. The oldest world is first."""

    async def start(self) -> None:
        """Read the saved worlds and start them. Call this method once, in the server's event loop."""

    async def drain(self) -> None:
        """Hand over all worlds to other servers, because this server is about to stop."""

    async def close(self) -> None:
        """Save all changes, and close the store."""


def is_of_the_server(path: str) -> bool:
    """Return True for health, readiness and metrics, which are served even if no world is available."""
    return path.endswith(_OF_THE_SERVER)


def unavailable(path: str, why: str) -> ApiError | ControlError:
    """Return the error for requests while worlds cannot be saved, with a code of the API that was called."""
    message = f"The simulator cannot save changes, so it refuses all calls: {why}"
    if path.startswith((f"{CONTROL_BASE}/", "/_worlds/")) and CONTROL_BASE in path:
        return ControlError(503, "storage_unavailable", message)
    return ApiError("service_unavailable", message, headers={"Retry-After": str(RETRY_SECONDS)})


def unreadable_error(path: str, world_id: str, why: str) -> ApiError | ControlError:
    """Return the error for requests to a world that is quarantined."""
    fix = "POST /_simulator/reset creates it again" if world_id == DEFAULT_WORLD else "DELETE deletes it"
    message = (
        f"The world {world_id!r} cannot be read, so it is quarantined and serves no requests: {why}. "
        f"GET /_simulator/worlds/{world_id}/raw exports its stored data. {fix}."
    )
    if CONTROL_BASE in path:
        return ControlError(503, UNREADABLE, message, world=world_id, unreadable=why)
    return ApiError("service_unavailable", message)


def headers_of(error: ApiError | ControlError) -> dict[str, str]:
    """Return the headers for an error response."""
    return error.headers if isinstance(error, ApiError) else {}
