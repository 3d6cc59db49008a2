"""The mapping from public keys and tokens to worlds."""

from __future__ import annotations

from collections.abc import Iterable

from simulator.kernel.world import PerWorld, World


class Directory(dict[str, str]):
    """Maps each public key and each token to a world id. `tokens_issued` never decreases, so that no token is issued
    twice.
    """

    __slots__ = ("tokens_issued",)

    def __init__(self) -> None:
        super().__init__()
        self.tokens_issued = 0


_DIRECTORIES: PerWorld[Directory] = PerWorld(Directory)


def directory_of(world: World) -> Directory:
    """Return the directory that contains a world's keys and tokens: its own until it is registered, then its
    simulator's.
    """
    return _DIRECTORIES[world]


def enter_into(directory: Directory, world: World) -> None:
    """Set the directory that a world uses."""
    _DIRECTORIES[world] = directory


def register(world: World, texts: Iterable[str]) -> None:
    """Add the public keys and tokens of a world to its directory."""
    directory_of(world).update(dict.fromkeys(texts, world.id))


def forget(world: World, texts: Iterable[str]) -> None:
    """Remove the public keys and tokens of a world from its directory, except those that now name another world."""
    directory = directory_of(world)
    for text in texts:
        if directory.get(text) == world.id:
            del directory[text]
