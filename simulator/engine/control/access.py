"""Who may steer what: control tokens, each for all worlds or for those whose ids begin alike.

A token for some worlds sees a server on which there are no others: lists are shorter, and calls about another world are
answered as if there was none of that id.
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
    """What the bearer of a token reaches: the worlds whose ids begin with `prefix`; all of them with none.

    `most_worlds`: so many of them there may be for a further one to be made; None for any number.
    """

    name: str
    prefix: str = ""
    most_worlds: int | None = None

    @property
    def is_of_all(self) -> bool:
        """Whether it reaches every world, and so what is of the server as a whole."""
        return not self.prefix

    def reaches(self, world_id: str) -> bool:
        """Whether it reaches the world of that id, which there need not be."""
        return world_id.startswith(self.prefix)

    def require_all(self, what: str) -> None:
        """403 for a call that is about more than the worlds of this token; `what` says about what, as a sentence."""
        if not self.is_of_all:
            raise ControlError(403, "forbidden", f"{what} {self._reach}")

    def require_new(self, world_id: str) -> None:
        """403 for making a world that this token would not reach."""
        if not self.reaches(world_id):
            why = f"A world {world_id!r} is not for this token to make. {self._reach}"
            raise ControlError(403, "forbidden", why, "id")

    def require_room(self, world_id: str, living: Collection[str]) -> None:
        """507 for making a world beyond those that the token may have; one in place of another is none more."""
        if self.most_worlds is None or world_id in living:
            return
        if sum(map(self.reaches, living)) >= self.most_worlds:
            why = (
                f"The token {self.name!r} may have {self.most_worlds} worlds at a time (`most_worlds` in the server's "
                "file of control tokens), and it has as many, so none was made. End one that nobody needs: "
                "`rampsim worlds list` shows when each was last used."
            )
            raise ControlError(507, CODE, why)

    def no_world(self, world_id: str) -> ControlError:
        """404 for the id of a world that there is not, or not for this token: nobody can tell which."""
        reach = "" if self.is_of_all else f" {self._reach}"
        return ControlError(404, "not_found", f"There is no world {world_id!r}.{reach}")

    @property
    def _reach(self) -> str:
        if self is NOBODY:
            return "It takes a control token to reach one."
        return f"The token {self.name!r} is for worlds whose ids begin with {self.prefix!r}."


EVERYBODY = Access("everybody")
"""What a caller reaches where no token is asked for."""
NOBODY = Access("nobody", "\n")
"""What a caller without a token reaches where tokens are for some worlds: no id begins so."""


class Tokens:
    """The control tokens of a server, known by their hashes only."""

    def __init__(self, rows: Iterable[tuple[bytes, Access]]) -> None:
        self._rows = tuple(rows)
        self.are_scoped = any(not access.is_of_all for _, access in self._rows)

    def access_of(self, token: str) -> Access | None:
        """What a token reaches, None for one that is none; it takes as long whichever it is."""
        given, found = hash_of(token), None
        for known, access in self._rows:
            if secrets.compare_digest(known, given):
                found = access
        return found


def hash_of(token: str) -> bytes:
    """By what a token is known."""
    return hashlib.sha256(token.encode()).digest()
