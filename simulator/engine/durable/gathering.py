"""Collects the changes to worlds. A batch contains all changes since the previous batch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial

from simulator.engine.control.worlds.documents import Contents
from simulator.engine.durable.backend import (
    Batch,
    Change,
    Sizes,
    SnapshotDeleted,
    SnapshotSaved,
    WorldBegan,
    WorldChanged,
    WorldEnded,
)
from simulator.engine.durable.last_used import LastUsedWriter
from simulator.engine.durable.stored_world import Folding, OfServer, TrackedWorld, base_of
from simulator.engine.durable.writes import Base, ClockState, base_parts, entry_bytes
from simulator.engine.records.row_text import RowTexts
from simulator.engine.server.running.driver import Driver
from simulator.engine.worlds.simulator import Simulator, Snapshot
from simulator.kernel.world import World


class Batches:
    """Collects the unsaved changes to worlds, and creates batches of changes to save."""

    def __init__(
        self,
        simulator: Simulator,
        driver: Driver,
        contents: Contents,
        tracked: Mapping[str, TrackedWorld],
        wall_clock_ms: Callable[[], int],
    ) -> None:
        self.dirty: dict[str, None] = {}
        """Ids of worlds with unsaved changes. This is a dict, because the order must not depend on hashes."""
        self.ended: dict[str, int] = {}
        """The latest entry number of each ended world.

        A new world with the same id continues the numbering, so a late compaction of the old world finds nothing to
        replace.
        """
        self.snapshots: dict[str, dict[str, Snapshot]] = {}
        """The saved snapshots, by world and snapshot id."""
        self.changed_snapshots: dict[str, None] = {}
        self.wiped: dict[str, None] = {}
        """Ids of worlds to delete from the store before anything else is written."""
        self.of_server = OfServer(simulator)
        self._simulator = simulator
        self._driver = driver
        self._texts = RowTexts(contents.codec)
        self._tracked = tracked
        self._wall_clock_ms = wall_clock_ms

    def release(self, world_id: str) -> None:
        """Discard the collected changes of a world that is removed from memory."""
        for known in (self.dirty, self.snapshots, self.changed_snapshots):
            known.pop(world_id, None)

    def clear(self) -> None:
        """Discard all collected changes."""
        self.dirty, self.ended, self.snapshots, self.changed_snapshots, self.wiped = {}, {}, {}, {}, {}

    def gather(self, last_used: LastUsedWriter) -> tuple[Batch, list[Folding]]:
        """Return two things: all collected changes as a batch, and the worlds whose entries (saved changes) must be
        merged into a base (full state).
        """
        dirty, ended = self.dirty, self.ended
        self.dirty, self.ended = {}, {}
        uses = last_used.take(dirty)
        changes: list[Change] = [WorldEnded(world_id) for world_id in self.wiped]
        self.wiped = {}
        folding: list[Folding] = []
        snapshots = self._snapshot_changes(changes)
        for world_id in dirty:
            tracked = self._tracked.get(world_id)
            if tracked is None:
                changes += [WorldEnded(world_id)] if world_id in ended else []
                continue
            taken = self._simulator.snapshots_taken(world_id)
            clock = tracked.clock = self._clock_of(tracked.world)
            entry = tracked.gathering.take(clock, taken)
            if tracked.begins:
                tracked.begins = False
                base = self._base_of(tracked.world, clock)
                changes.append(WorldBegan(world_id, tracked.number, partial(base_parts, self._texts, base)))
                continue
            tracked.number += 1
            changes.append(WorldChanged(world_id, tracked.number, partial(entry_bytes, self._texts, entry)))
            if tracked.is_large:
                tracked.is_large, tracked.entry_bytes = False, 0
                folding.append(Folding(tracked, tracked.number, self._base_of(tracked.world, clock)))
        return Batch((*changes, *snapshots), self.of_server.changes(), uses), folding

    def parts_of(self, base: Base) -> Callable[[], Iterator[bytes]]:
        """Return a function that encodes a base (the full state of a world) and yields it in chunks of bytes."""
        return partial(base_parts, self._texts, base)

    def add_up(self, sizes: Sizes) -> None:
        """Update the recorded storage sizes of worlds after a batch of their changes was written."""
        for world_id, size in sizes.bases.items():
            if (tracked := self._tracked.get(world_id)) is not None:
                tracked.measure(size, 0)
        for world_id, size in sizes.entries.items():
            if (tracked := self._tracked.get(world_id)) is not None:
                tracked.measure(tracked.base_bytes, tracked.entry_bytes + size)

    def _snapshot_changes(self, changes: list[Change]) -> list[Change]:
        """Append the deleted snapshots to `changes`, and return the new snapshots."""
        new: list[Change] = []
        for world_id in self.changed_snapshots:
            before = self.snapshots.get(world_id, {})
            present = {snapshot.id: snapshot for snapshot in self._simulator.snapshots_of(world_id)}
            changes += [SnapshotDeleted(key) for key, row in before.items() if present.get(key) is not row]
            for key, snapshot in present.items():
                if before.get(key) is not snapshot:
                    new.append(SnapshotSaved(key, world_id, partial(base_parts, self._texts, base_of(snapshot))))
            self.snapshots[world_id] = present
        self.changed_snapshots = {}
        return new

    def _clock_of(self, world: World) -> ClockState:
        clock, present_ms = world.clock, self._driver.present_ms(world)
        return ClockState(clock.mode, present_ms, clock.rate, self._wall_clock_ms())

    def _base_of(self, world: World, clock: ClockState) -> Base:
        # Include empty tables: later entries that write to them rely on their order.
        state = replace(self._simulator.state_of(world), tables=world.store.tables(empty=True))
        return Base(state, clock, self._simulator.snapshots_taken(world.id))
