"""Which world a public key or a token belongs to."""

from __future__ import annotations

from collections.abc import Iterable

from simulator.kernel.per_world import PerWorld
from simulator.kernel.world import World


class Directory(dict[str, str]):
    """The ids of worlds by the public keys and tokens that belong to them.

    `tokens_issued` never goes back, whatever becomes of a world: a text that is made from it is never made twice.
    """

    __slots__ = ("tokens_issued",)

    def __init__(self) -> None:
        super().__init__()
        self.tokens_issued = 0


_DIRECTORIES: PerWorld[Directory] = PerWorld(Directory)


def directory_of(world: World) -> Directory:
    """The directory of a world: its simulator's, or one of its own until it is registered there."""
    return _DIRECTORIES[world]


def enter_into(directory: Directory, world: World) -> None:
    """Let a world use this directory from now on."""
    _DIRECTORIES[world] = directory


def register(world: World, texts: Iterable[str]) -> None:
    """Enter the public keys and tokens of a world into its directory."""
    directory_of(world).update(dict.fromkeys(texts, world.id))


def forget(world: World, texts: Iterable[str]) -> None:
    """Take the public keys and tokens of a world out of its directory, unless another world holds them by now."""
    directory = directory_of(world)
    for text in texts:
        if directory.get(text) == world.id:
            del directory[text]
