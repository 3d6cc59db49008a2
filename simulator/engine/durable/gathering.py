"""Tracks the unsaved changes to worlds and to the state of the server. A batch contains all changes since the previous
batch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, TypeAlias

import orjson

from simulator.engine.control.worlds.documents import contents_of
from simulator.engine.durable import backend
from simulator.engine.durable.writes import Base, ClockState, Gathering, base_parts, entry_bytes
from simulator.engine.records.requests import requests_of
from simulator.engine.records.row_text import RowTexts
from simulator.engine.scenario.play.catalogue import file_of, row_of
from simulator.engine.server.runtime import Runtime
from simulator.engine.server.storage import Use
from simulator.engine.text.json import dumps
from simulator.engine.webhooks.courier.courier import wall_clock_ms
from simulator.engine.worlds.quotas import objects_of
from simulator.engine.worlds.simulator import Simulator, Snapshot
from simulator.kernel.table import Write
from simulator.kernel.world import World

COMPACT_BYTES = 16 * 1024 * 1024
"""A world's entries (saved changes) are not merged into its base (full state) while their total size is below this."""
COMPACT_TIMES = 2
"""Entries are merged into the base when their total size exceeds this multiple of the size of the base."""
DRIFT_MS = 1_000
"""The maximum difference between a running clock and its expected time. If it is larger, a caller has set the clock."""
USES_SECONDS = 30.0
"""The interval at which last-used times are saved. A world's time is also saved with its other changes, if it is older
than this.
"""
SLACK_MS = 1_000
"""Times that differ by less than this are treated as equal, because the clocks from which they are computed drift."""


class TrackedWorld:
    """A world in memory whose changes are saved. `note` is called with the world id when the world changes."""

    def __init__(self, world: World, number: int, note: Callable[[str], None], clock: ClockState | None = None) -> None:
        self.world = world
        self.number = number
        """The number of the world's latest entry in the store."""
        self.begins = clock is None
        """True if the whole world must be written, not only its changes."""
        self.clock = clock
        """The clock as it was last saved."""
        self.base_bytes = self.entry_bytes = 0
        self.used_ms = 0
        """The last-used time that is saved."""
        self.is_large = False
        """True if the world's entries (saved changes) must be merged into a new base (full state)."""
        self.gathering = Gathering(world)
        self._note = note
        world.store.listen(self.heard)

    def heard(self, writes: list[Write]) -> None:
        if writes:
            self.gathering.hear(writes)
            self._note(self.world.id)

    def let_go(self) -> None:
        self.world.store.stop_listening(self.heard)

    def clock_was_set(self, present_ms: int) -> bool:
        """Return True if the clock was set or advanced since it was last saved."""
        clock, before = self.world.clock, self.clock
        if before is None or (clock.mode, clock.rate) != (before.mode, before.rate):
            return True
        if clock.mode == "manual":
            return clock.now_ms != before.now_ms
        rate = float(clock.rate) if clock.mode == "scaled" else 1.0
        by_itself = before.now_ms + before.passed_seconds() * 1000 * rate
        return abs(present_ms - by_itself) > DRIFT_MS * max(rate, 1.0)

    def measure(self, base_bytes: int, entry_bytes: int) -> None:
        """Record the sizes of the saved base and entries, in bytes."""
        self.base_bytes, self.entry_bytes = base_bytes, entry_bytes
        self.is_large = entry_bytes > max(COMPACT_BYTES, COMPACT_TIMES * base_bytes)


Folding: TypeAlias = tuple[TrackedWorld, int, Callable[[], Iterator[bytes]]]
"""A world whose entries must be merged into a base, the number of the last entry, and the parts of the new base."""


class OfServer:
    """The saved state that belongs to a server and not to a world: the number of issued tokens, and the scenarios with
    which the server was started.
    """

    def __init__(self, simulator: Simulator) -> None:
        self._simulator = simulator
        self._issued = b"0"
        self._changed: dict[str, bytes] = {}

    def changes(self) -> Mapping[str, bytes]:
        """Return the unsaved changes to the server's state, by name."""
        issued = dumps(self._simulator.directory.tokens_issued)
        changed, self._changed = self._changed, {}
        if issued != self._issued:
            self._issued = changed["tokens_issued"] = issued
        return changed

    def take_in(self, server: Mapping[str, bytes]) -> None:
        """Add the saved state to the state of this server.

        A scenario with which this server was started replaces a saved scenario with the same name.
        """
        directory, library = self._simulator.directory, self._simulator.library
        self._issued = server.get("tokens_issued", b"0")
        directory.tokens_issued = max(directory.tokens_issued, int(self._issued))
        saved: dict[str, Any] = orjson.loads(server.get("scenarios", b"{}"))
        for name, row in saved.items():
            if name not in library:
                library[name] = file_of(row)
        own = {name: row_of(library[name]) for name in library if name not in self._simulator.shipped}
        if own != saved:
            self._changed["scenarios"] = dumps(own)


class Batches:
    """Tracks the worlds in memory, collects their unsaved changes and last-used times, and creates batches to save.

    `gather_soon` is called when there is something to save.
    """

    def __init__(self, runtime: Runtime, gather_soon: Callable[[], None]) -> None:
        self.tracked: dict[str, TrackedWorld] = {}
        self.dirty: dict[str, None] = {}
        """Ids of worlds with unsaved changes. This is a dict, because the order must not depend on hashes."""
        self.ended: dict[str, int] = {}
        """The latest entry number of each ended world. A new world with the same id continues the numbering, so that a
        late compaction of the old world finds nothing to replace.
        """
        self.snapshots: dict[str, dict[str, Snapshot]] = {}
        """The saved snapshots, by world and snapshot id."""
        self.changed_snapshots: dict[str, None] = {}
        self.wiped: dict[str, None] = {}
        """Ids of worlds to delete from the store before anything else is written."""
        self.of_server = OfServer(runtime.simulator)
        self.contents = contents_of(runtime.simulator.tables, runtime.simulator.wiring.environments)
        self._simulator, self._driver, self._uses = runtime.simulator, runtime.driver, runtime.meter.uses
        self._used: dict[str, None] = {}
        self._texts = RowTexts(self.contents.codec)
        self._gather_soon = gather_soon

    def note(self, world_id: str) -> None:
        """Record that a world has unsaved changes."""
        self.dirty[world_id] = None
        self._gather_soon()

    def note_uses(self) -> None:
        """Save the last-used time of every world that was used since this time was saved."""
        self._used = {
            key: None for key, tracked in self.tracked.items() if self._used_ms(tracked) > tracked.used_ms + SLACK_MS
        }
        if self._used:
            self._gather_soon()

    def _used_ms(self, tracked: TrackedWorld) -> int:
        return wall_clock_ms() - int(self._uses.idle_seconds(tracked.world) * 1000)

    def use_of(self, tracked: TrackedWorld) -> Use:
        """Return the last use of a world, to be saved."""
        tracked.used_ms = self._used_ms(tracked)
        return Use(tracked.used_ms, objects_of(tracked.world), requests_of(tracked.world).size)

    def restore_use(self, tracked: TrackedWorld, used_ms: int) -> None:
        """Restore the saved last-used time of a world. Reading a world from the store does not count as a use."""
        tracked.used_ms = used_ms
        self._uses.touch(tracked.world, self._uses.seconds() - (wall_clock_ms() - used_ms) / 1000)

    def release(self, world_id: str) -> None:
        """Discard the collected changes of a world that is removed from memory."""
        for known in (self.dirty, self.snapshots, self.changed_snapshots):
            known.pop(world_id, None)

    def clear(self) -> None:
        """Discard all collected changes."""
        self.dirty, self.ended, self.snapshots, self.changed_snapshots, self.wiped = {}, {}, {}, {}, {}

    def gather(self) -> tuple[backend.Batch, list[Folding]]:
        """Return all collected changes as a batch, and the worlds whose entries must be merged into a base."""
        dirty, ended = self.dirty, self.ended
        self.dirty, self.ended = {}, {}
        uses = dict(self._uses_to_save(dirty))
        changes: list[backend.Change] = [backend.WorldEnded(world_id) for world_id in self.wiped]
        self.wiped = {}
        folding: list[Folding] = []
        snapshots = self._snapshot_changes(changes)
        for world_id in dirty:
            tracked = self.tracked.get(world_id)
            if tracked is None:
                changes += [backend.WorldEnded(world_id)] if world_id in ended else []
                continue
            world, clock = tracked.world, tracked.world.clock
            saved = tracked.clock = ClockState(clock.mode, self._driver.present_ms(world), clock.rate, wall_clock_ms())
            entry = tracked.gathering.take(saved, self._simulator.snapshots_taken(world_id))
            if tracked.begins:
                tracked.begins = False
                changes.append(backend.WorldBegan(world_id, tracked.number, self._parts(world, saved)))
                continue
            tracked.number += 1
            changes.append(backend.WorldChanged(world_id, tracked.number, partial(entry_bytes, self._texts, entry)))
            if tracked.is_large:
                tracked.is_large, tracked.entry_bytes = False, 0
                folding.append((tracked, tracked.number, self._parts(world, saved)))
        return backend.Batch((*changes, *snapshots), self.of_server.changes(), uses), folding

    def _uses_to_save(self, dirty: Iterable[str]) -> Iterator[tuple[str, Use]]:
        """Yield the noted last uses, and those of worlds with other unsaved changes if their saved times are old."""
        used, self._used = self._used, {}
        for world_id in {**used, **dict.fromkeys(dirty)}:
            tracked = self.tracked.get(world_id)
            if tracked is not None and (
                world_id in used or tracked.begins or self._used_ms(tracked) > tracked.used_ms + USES_SECONDS * 1000
            ):
                yield world_id, self.use_of(tracked)

    def _snapshot_changes(self, changes: list[backend.Change]) -> list[backend.Change]:
        """Append the deleted snapshots to `changes`, and return the new snapshots."""
        new: list[backend.Change] = []
        for world_id in self.changed_snapshots:
            before = self.snapshots.get(world_id, {})
            present = {snapshot.id: snapshot for snapshot in self._simulator.snapshots_of(world_id)}
            changes += [backend.SnapshotDeleted(key) for key, row in before.items() if present.get(key) is not row]
            for key, snapshot in present.items():
                if before.get(key) is not snapshot:
                    state = snapshot.state
                    clock = ClockState(state.mode, state.now_ms, state.rate, 0)
                    base = Base(state, clock, snapshot=(snapshot.id, snapshot.name))
                    new.append(backend.SnapshotSaved(key, world_id, partial(base_parts, self._texts, base)))
            self.snapshots[world_id] = present
        self.changed_snapshots = {}
        return new

    def _parts(self, world: World, clock: ClockState) -> Callable[[], Iterator[bytes]]:
        """Return a function that encodes the full state of a world and yields it in chunks of bytes."""
        # Include empty tables: later entries that write to them rely on their order.
        state = replace(self._simulator.state_of(world), tables=world.store.tables(empty=True))
        return partial(base_parts, self._texts, Base(state, clock, self._simulator.snapshots_taken(world.id)))

    def add_up(self, sizes: backend.Sizes) -> None:
        """Update the recorded storage sizes of worlds after a batch of their changes was written."""
        for world_id, size in sizes.bases.items():
            if (tracked := self.tracked.get(world_id)) is not None:
                tracked.measure(size, 0)
        for world_id, size in sizes.entries.items():
            if (tracked := self.tracked.get(world_id)) is not None:
                tracked.measure(tracked.base_bytes, tracked.entry_bytes + size)
