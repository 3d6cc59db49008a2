"""The base class of what is called when worlds begin and end."""

from __future__ import annotations

from simulator.kernel.world import World


class Observer:
    """Is called when worlds begin and end; every method does nothing unless it is overridden."""

    def attach(self, world: World) -> None:
        """A world begins: it was made, or has replaced another."""

    def detach(self, world: World) -> None:
        """A world has ended: it was deleted, or another has replaced it."""

    def release(self, world: World) -> None:
        """A world lives here no more, but has not ended: whoever keeps it may bring it back."""

    def snapshots_changed(self, world_id: str) -> None:
        """A snapshot of this world was kept or forgotten."""
