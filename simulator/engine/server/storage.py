"""Durable storage as the server sees it. `engine/durable` implements it."""

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
"""The seconds of real time after which a client should retry."""
UNREADABLE = "world_unreadable"
"""The error code of a control request to a world that is set aside."""
_OF_THE_SERVER = tuple(f"{CONTROL_BASE}/{name}" for name in ("health", "ready", "metrics"))


class Unavailable(Exception):
    """Writes cannot be saved, or worlds cannot be read. The message says why."""


@dataclass(frozen=True)
class Use:
    """The last use of a world."""

    used_ms: int
    """The time in milliseconds since the epoch, by the clock of the machine."""
    objects: int
    """The number of objects at that time."""
    journal_bytes: int


@dataclass(frozen=True)
class RawPiece:
    """A piece of a world as the store has it."""

    part: str
    """`base`, `entry`, or `snapshot` and the id of the snapshot."""
    number: int
    content: bytes
    is_whole: bool
    """False if the bytes differ from those written."""


class Persistence(WriteBarrier, Protocol):
    """The persistence layer of a server."""

    @property
    def refusal(self) -> str | None:
        """Why no request can be served now, or None."""

    @property
    def generation(self) -> int:
        """A number that rises whenever the worlds in memory were thrown away.

        A response that was computed under an earlier number is invalid: its writes were not saved.
        """

    @property
    def unreadable(self) -> Mapping[str, str]:
        """Return the worlds that are set aside because this version cannot read them, with the reason as a clause."""

    def world_ids(self) -> Sequence[str]:
        """Return the worlds of this server, oldest first, including those at rest but not those set aside."""

    def show_at_rest(self, world_id: str, origin: str) -> JsonObject | None:
        """Return the world object of a world at rest, or None for any other."""

    async def wake(self, world_id: str) -> None:
        """Read a world that is at rest, and do nothing for any other. Raise Unavailable."""

    async def wake_snapshot(self, snapshot_id: str) -> None:
        """Read the world of a snapshot if it is at rest. Raise Unavailable."""

    async def raw(self, world_id: str) -> Sequence[RawPiece]:
        """Return everything that the store has of a world, readable or not. Raise KeyError."""

    def delete_unreadable(self, world_id: str) -> None:
        """Delete a world that is set aside from the store. The world `default` is created again at once."""

    @property
    def is_leaving(self) -> bool:
        """Return True if this server hands over its worlds. It still serves, but new requests should go to others."""

    def changed(self, world: World) -> None:
        """Save a world whose clock was set or moved, which no transaction reports."""

    def reached_at(self, origin: str) -> None:
        """Set the address of this server, before it starts."""

    def lag_seconds(self) -> float:
        """Return the age of the oldest unsaved write, or 0 if all are saved."""

    async def uses(self) -> Mapping[str, Use]:
        """Return the last uses of all worlds to the minute, including those of other servers. Oldest world first."""

    async def start(self) -> None:
        """Read the saved worlds and start them. Call it once, in the event loop of the server."""

    async def drain(self) -> None:
        """Hand over worlds to other servers, because this one is about to stop."""

    async def close(self) -> None:
        """Save all writes and close the store."""


def is_of_the_server(path: str) -> bool:
    """Return True for the paths of health, readiness and metrics, which are served even if no world can be."""
    return path.endswith(_OF_THE_SERVER)


def unavailable(path: str, why: str) -> ApiError | ControlError:
    """Return the error for requests while worlds cannot be saved: with a code of the specification, or one of ours."""
    message = f"The simulator cannot save what it does, so it does nothing: {why}"
    if path.startswith((f"{CONTROL_BASE}/", "/_worlds/")) and CONTROL_BASE in path:
        return ControlError(503, "storage_unavailable", message)
    return ApiError("service_unavailable", message, headers={"Retry-After": str(RETRY_SECONDS)})


def unreadable_error(path: str, world_id: str, why: str) -> ApiError | ControlError:
    """Return the error for requests to a world that is set aside."""
    fix = "POST /_simulator/reset creates it again" if world_id == DEFAULT_WORLD else "DELETE deletes it"
    message = (
        f"The world {world_id!r} cannot be read, so it is set aside and serves no requests: {why}. "
        f"GET /_simulator/worlds/{world_id}/raw exports what the store has of it. {fix}."
    )
    if CONTROL_BASE in path:
        return ControlError(503, UNREADABLE, message, world=world_id, unreadable=why)
    return ApiError("service_unavailable", message)


def headers_of(error: ApiError | ControlError) -> dict[str, str]:
    """Return the headers of an error response."""
    return error.headers if isinstance(error, ApiError) else {}
