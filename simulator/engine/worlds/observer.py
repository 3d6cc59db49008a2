"""The base class for world observers."""

from __future__ import annotations

from simulator.kernel.world import World


class Observer:
    """Base class for objects that are notified when worlds are created or end. By default, every hook does nothing."""

    def attach(self, world: World) -> None:
        """Called after a world was created or has replaced another world."""

    def detach(self, world: World) -> None:
        """Called after a world was deleted or replaced."""

    def release(self, world: World) -> None:
        """Called after a world was removed from memory. Its store still contains it and can load it again."""

    def snapshots_changed(self, world_id: str) -> None:
        """Called after a snapshot of a world was taken or deleted."""
