"""Control tokens. A token for the worlds with an id prefix sees no others: lists omit them, calls return 404."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Collection, Iterable

from simulator.engine.clients.address import CONTROL_BASE
from simulator.engine.rows.error import ControlError
from simulator.engine.worlds.quotas import CODE
from simulator.kernel.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Access:
    """The worlds that a token can access."""

    name: str
    prefix: str = ""
    """The prefix of the world ids that the token can access; "" for all worlds."""
    most_worlds: int | None = None
    """The maximum number of worlds that can exist under this token at a time; None for no limit."""

    @property
    def reaches_all(self) -> bool:
        """True if the token can access every world and the data of the whole server."""
        return not self.prefix

    def reaches(self, world_id: str) -> bool:
        """Return True if the token can access a world with this id. The world does not need to exist."""
        return world_id.startswith(self.prefix)

    def require_all(self, what: str) -> None:
        """Raise `ControlError` 403, with `what` as its reason, unless the token can access all worlds."""
        if not self.reaches_all:
            raise ControlError(403, "forbidden", f"{what} {self.reach}")

    def require_room(self, world_id: str, living: Collection[str]) -> None:
        """Raise `ControlError` 507 if a new world would exceed the token's maximum. `living` are all world ids."""
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
        """Return a 404 error, which does not reveal whether the world is missing or inaccessible to the token."""
        reach = "" if self.reaches_all else f" {self.reach}"
        return ControlError(
            404, "not_found", f"There is no world {world_id!r}. List the worlds with GET {CONTROL_BASE}/worlds.{reach}"
        )

    @property
    def reach(self) -> str:
        """A sentence about the worlds that the token can access."""
        if self is NOBODY:
            return "Access to a world needs a control token."
        return f"The token {self.name!r} can access only worlds whose ids begin with {self.prefix!r}."


EVERYBODY = Access("everybody")
"""The access of every caller when the server has no tokens."""
NOBODY = Access("nobody", "\n")
"""The access of a caller without a token when some tokens are limited to a prefix. No world id starts with this prefix.
"""


class Tokens:
    """The control tokens of a server. Only their hashes are stored."""

    def __init__(self, rows: Iterable[tuple[bytes, Access]]) -> None:
        self._rows = tuple(rows)
        self.are_scoped = any(not access.reaches_all for _, access in self._rows)

    def access_of(self, token: str) -> Access | None:
        """Return the access of a token, or None if the token is unknown. Tokens are compared in constant time."""
        given, found = hash_of(token), None
        for known, access in self._rows:
            if secrets.compare_digest(known, given):
                found = access
        return found


def hash_of(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()
