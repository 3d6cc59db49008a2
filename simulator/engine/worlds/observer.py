"""The base class for world observers."""

from __future__ import annotations

from simulator.kernel.world import World


class Observer:
    """Called when worlds are created or end. By default, every hook does nothing."""

    def attach(self, world: World) -> None:
        """A world was created, or has replaced another."""

    def detach(self, world: World) -> None:
        """A world was deleted or replaced."""

    def release(self, world: World) -> None:
        """A world was removed from memory without being deleted. The store that contains it may load it again."""

    def snapshots_changed(self, world_id: str) -> None:
        """A snapshot of a world was taken or deleted."""
