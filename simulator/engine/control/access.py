"""Control tokens, each for all worlds or for the worlds whose ids have one prefix.

A token for some worlds does not reveal the others: lists leave them out, and calls about them return 404.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Collection, Iterable

from simulator.engine.rows.error import ControlError
from simulator.engine.worlds.quotas import CODE
from simulator.kernel.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Access:
    """The worlds that a token reaches."""

    name: str
    prefix: str = ""
    """The prefix of the world ids it reaches; "" for all worlds."""
    most_worlds: int | None = None
    """The number of worlds it may have at a time; None for any number."""

    @property
    def reaches_all(self) -> bool:
        """Whether it reaches every world, and data about the whole server."""
        return not self.prefix

    def reaches(self, world_id: str) -> bool:
        """Whether it reaches the world of that id. Such a world need not exist."""
        return world_id.startswith(self.prefix)

    def require_all(self, what: str) -> None:
        """403 unless it reaches all worlds; `what` is a sentence that says why all are needed."""
        if not self.reaches_all:
            raise ControlError(403, "forbidden", f"{what} {self._reach}")

    def require_new(self, world_id: str) -> None:
        """403 if it would not reach the world to be created."""
        if not self.reaches(world_id):
            why = f"This token cannot create a world {world_id!r}. {self._reach}"
            raise ControlError(403, "forbidden", why, "id")

    def require_room(self, world_id: str, living: Collection[str]) -> None:
        """507 if the token has as many worlds as it may. Replacing a world is always possible."""
        if self.most_worlds is None or world_id in living:
            return
        if sum(map(self.reaches, living)) >= self.most_worlds:
            why = (
                f"The token {self.name!r} has {self.most_worlds} worlds, as many as `most_worlds` in the server's file "
                "of control tokens allows. No world was created. Delete an unused world: `rampsim worlds list` shows "
                "when each was last used."
            )
            raise ControlError(507, CODE, why)

    def no_world(self, world_id: str) -> ControlError:
        """Return 404 for a world that does not exist or that the token does not reach, alike for both."""
        reach = "" if self.reaches_all else f" {self._reach}"
        return ControlError(404, "not_found", f"There is no world {world_id!r}.{reach}")

    @property
    def _reach(self) -> str:
        if self is NOBODY:
            return "A control token is needed to reach a world."
        return f"The token {self.name!r} reaches only worlds whose ids begin with {self.prefix!r}."


EVERYBODY = Access("everybody")
"""The access of every caller if the server has no tokens."""
NOBODY = Access("nobody", "\n")
"""The access of a caller without a token if tokens are for some worlds. No id has this prefix."""


class Tokens:
    """The control tokens of a server. Only their hashes are stored."""

    def __init__(self, rows: Iterable[tuple[bytes, Access]]) -> None:
        self._rows = tuple(rows)
        self.are_scoped = any(not access.reaches_all for _, access in self._rows)

    def access_of(self, token: str) -> Access | None:
        """Return the access of a token, or None if it is unknown, in constant time."""
        given, found = hash_of(token), None
        for known, access in self._rows:
            if secrets.compare_digest(known, given):
                found = access
        return found


def hash_of(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()
