"""The base class of observers of worlds."""

from __future__ import annotations

from simulator.kernel.world import World


class Observer:
    """Called when worlds begin and end. Every hook defaults to a no-op."""

    def attach(self, world: World) -> None:
        """A world was created, or has replaced another."""

    def detach(self, world: World) -> None:
        """A world was deleted or replaced."""

    def release(self, world: World) -> None:
        """A world left this process without ending; the store that has it may bring it back."""

    def snapshots_changed(self, world_id: str) -> None:
        """A snapshot of this world was taken or deleted."""
