"""A campaign: a number of inputs, in episodes that start from an empty state and can be repeated from their seed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from random import Random
from typing import Any

Episode = Callable[[Any, Random, int], Awaitable[int]]
"""Gets the subject, its chance and its number; answers how many inputs it tried."""


@dataclass(frozen=True)
class Campaign:
    """`whole`: inputs of a whole run. `apart`: the server is a process of its own, reached over sockets only."""

    name: str
    whole: int
    per_episode: int
    episode: Episode
    apart: bool = False
    patience_seconds: float = 20.0
    """An input that takes longer counts as a server that hangs; it is ended then."""
    health: bool = True
    """Whether a prober asks for the health meanwhile: not of what is a command and no server."""

    shared: bool = False
    """Whether the server is two replicas on a PostgreSQL, with tokens; it is `apart`, too."""

    contract: bool = False
    """Whether every answer has to be as the contract says: not where states come from altered documents."""

    def episodes(self, scale: float) -> int:
        return max(round(self.whole * scale / self.per_episode), 1)
