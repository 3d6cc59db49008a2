"""What keeps the worlds of a server beyond its process, as the server sees it (`durable` has it)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from simulator.address import CONTROL_BASE
from simulator.courier.port import Keeping
from simulator.kernel.dataclass import dataclass
from simulator.kernel.world import World
from simulator.wire.errors import ApiError, ControlError

RETRY_SECONDS = 1
"""After how many seconds of real time it is worth while to ask again."""
_OF_THE_SERVER = tuple(f"{CONTROL_BASE}/{name}" for name in ("health", "ready", "metrics"))


class Unavailable(Exception):
    """What has happened cannot be kept, or nothing that is kept can be read; the message says why."""


@dataclass(frozen=True)
class Use:
    """When a world was last used, in milliseconds since the epoch by the clock of a machine, and what it held then."""

    used_ms: int
    objects: int
    journal_bytes: int


class Keeper(Keeping, Protocol):
    """What the server asks of it.

    `refusal` says why no call can be answered right now, None where all is well. `generation` rises whenever the worlds
    in memory were thrown away: who was answered by one of them has an answer that counts for nothing.
    """

    @property
    def refusal(self) -> str | None: ...

    @property
    def generation(self) -> int: ...

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


def headers_of(error: ApiError | ControlError) -> dict[str, str]:
    """The headers that go with a refusal."""
    return error.headers if isinstance(error, ApiError) else {}
