"""What a world has written, as bytes and back: bases, and the entries after them.

Rows are written in the form of the world's document (`wire/codec`). A base is a sequence of parts: a head, then rows of
tables and calls of the journal, each part of a bounded size. An entry has what one turn of the event loop wrote. All of
it was written by this simulator, so what is read is trusted to be what it says it is; that bytes are as they were
written is for the store to tell.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import field
from decimal import Decimal
from itertools import islice
from typing import Any

import orjson

from simulator.engine.control.worlds.documents import Contents
from simulator.engine.records.codec import StateError, texts_of
from simulator.engine.records.dropped_rows import DroppedRows
from simulator.engine.records.requests import JournalEntry, requests_of
from simulator.engine.records.row_text import RowTexts
from simulator.engine.server.storage import RawPiece
from simulator.engine.text.json import JsonObject
from simulator.engine.text.texts import json_text
from simulator.engine.worlds.simulator import Blueprint, Snapshot, WorldState
from simulator.kernel.dataclass import dataclass
from simulator.kernel.journal import Cause
from simulator.kernel.store import TableKey, address_of
from simulator.kernel.table import ABSENT, Write
from simulator.kernel.texts import pack
from simulator.kernel.world import World

PART_BYTES = 256 * 1024
"""About how large a part of a base is."""

_DELETED = 0
_MOVED = 1
"""What stands behind the key of a row: nothing more, it was deleted; the row and this, it was deleted and made anew."""


@dataclass(frozen=True)
class ClockState:
    """The clock of a world, and the moment of the machine's clock at which it stood so."""

    mode: str
    now_ms: int
    rate: Decimal
    wall_ms: int

    def show(self) -> JsonObject:
        return {"mode": self.mode, "now_ms": self.now_ms, "rate": str(self.rate), "wall_ms": self.wall_ms}

    @classmethod
    def read(cls, shown: JsonObject) -> ClockState:
        return cls(shown["mode"], shown["now_ms"], Decimal(shown["rate"]), shown["wall_ms"])

    def passed_seconds(self, wall_ms: int) -> float:
        """How long ago by the machine's clock that was; 0 where that clock was set back."""
        return max(wall_ms - self.wall_ms, 0) / 1000


@dataclass(frozen=True)
class Base:
    """A state to begin with, and what a world has beside it. `snapshot`: id and name, where it is one.

    `dropped` are the journal rows that could not be read.
    """

    state: WorldState
    clock: ClockState
    snapshots_taken: int = 0
    snapshot: tuple[str, str | None] | None = None
    dropped: DroppedRows = field(default_factory=DroppedRows)


@dataclass(frozen=True)
class Entry:
    """What a world wrote in one turn. `writes`: by table, rows in their order; ABSENT for one that was deleted.

    `tables`: those that were not there before, in their order. `calls` are new in the journal, which had `entered` in
    all by then and has `dropped` so many.
    """

    clock: ClockState
    causes: Sequence[Cause]
    tables: Sequence[str]
    writes: Mapping[str, Sequence[tuple[str, Any, bool]]]
    calls: Sequence[JournalEntry]
    entered: int
    dropped: int
    snapshots_taken: int


class Gathering:
    """What the changes of a world have written since it was asked last.

    Of a row that was written several times the last is kept: in between nobody saw it in the store.
    """

    __slots__ = ("_calls", "_causes", "_tables", "_world", "_writes")

    def __init__(self, world: World) -> None:
        self._world = world
        self._causes: list[Cause] = []
        self._writes: dict[str, dict[str, bool]] = {}
        self._mark()

    def _mark(self) -> None:
        requests = requests_of(self._world)
        self._calls = requests.dropped + len(requests.entries)
        self._tables = self._world.store.table_count

    def hear(self, writes: list[Write]) -> None:
        """A change was made. A row that was not there before comes to the end of its table, as in the table itself."""
        cause, causes = self._world.cause, self._causes
        if not causes or causes[-1] is not cause:
            causes.append(cause)
        for table, key, old in writes:
            keys = self._writes.get(table.name)
            if keys is None:
                keys = self._writes[table.name] = {}
            if old is ABSENT:
                keys[key] = keys.pop(key, None) is not None
            elif key not in keys:
                keys[key] = False

    def take(self, clock: ClockState, snapshots_taken: int) -> Entry:
        """What was gathered, which is gone from here."""
        world = self._world
        requests, tables = requests_of(world), world.store.table_names()
        entered = requests.dropped + len(requests.entries)
        fresh = min(entered - self._calls, len(requests.entries))
        writes = {}
        for name, keys in self._writes.items():
            rows = world.store.written(name).rows
            writes[name] = [(key, rows.get(key, ABSENT), moved) for key, moved in keys.items()]
        entry = Entry(
            clock=clock,
            causes=self._causes,
            tables=tables[self._tables :],
            writes=writes,
            calls=list(islice(reversed(requests.entries), fresh))[::-1],
            entered=entered,
            dropped=requests.dropped,
            snapshots_taken=snapshots_taken,
        )
        self._causes, self._writes = [], {}
        self._mark()
        return entry


# --- writing ------------------------------------------------------------------------------------------------------


def entry_bytes(texts: RowTexts, entry: Entry) -> bytes:
    """An entry as it is kept."""
    ready = texts.ready
    written: JsonObject = {
        "clock": entry.clock.show(),
        "causes": [[cause.kind, cause.name, cause.reference] for cause in entry.causes],
        "tables": entry.tables,
        "writes": {
            name: [
                [key] if row is ABSENT else [key, ready(row), _MOVED] if moved else [key, ready(row)]
                for key, row, moved in rows
            ]
            for name, rows in entry.writes.items()
        },
        "calls": entry.calls,
        "entered": entry.entered,
        "dropped": entry.dropped,
        "snapshots_taken": entry.snapshots_taken,
    }
    return texts.dumps(written)


def base_parts(texts: RowTexts, base: Base) -> Iterator[bytes]:
    """A base as it is kept: the head first."""
    yield texts.dumps(_head(base))
    for name, rows in base.state.tables.items():
        pairs = (texts.dumps([key, texts.ready(row)]) for key, row in rows.items())
        yield from (texts.dumps({"table": name})[:-1] + b',"rows":[' + piece + b"]}" for piece in _pieces(pairs))
    calls = map(texts.dumps, base.state.requests)
    yield from (b'{"calls":[' + piece + b"]}" for piece in _pieces(calls))


def _pieces(texts: Iterable[bytes]) -> Iterator[bytes]:
    together: list[bytes] = []
    size = 0
    for text in texts:
        together.append(text)
        size += len(text)
        if size >= PART_BYTES:
            yield b",".join(together)
            together, size = [], 0
    if together:
        yield b",".join(together)


def _head(base: Base) -> JsonObject:
    state, blueprint = base.state, base.state.blueprint
    return {
        "world": state.world_id,
        "keys_of": state.keys_of,
        "seed": str(state.seed),
        "started_at_ms": state.started_at_ms,
        "clock": base.clock.show(),
        "blueprint": {
            "id": blueprint.id,
            "seed": str(blueprint.seed),
            "mode": blueprint.mode,
            "now_ms": blueprint.now_ms,
            "rate": str(blueprint.rate),
            "scenarios": list(blueprint.scenarios),
            "settings": dict(blueprint.settings),
            "keys_of": blueprint.keys_of,
            "at_wall_time": blueprint.at_wall_time,
        },
        "tables": list(state.tables),
        "calls_size": state.requests_size,
        "dropped": state.requests_dropped,
        "snapshots_taken": base.snapshots_taken,
        "snapshot": base.snapshot,
    }


# --- reading ------------------------------------------------------------------------------------------------------


def read_world(contents: Contents, parts: Sequence[bytes], entries: Iterable[bytes]) -> Base:
    """A base with the entries after it, in their order, as one base; ValueError or KeyError where they are none."""
    reading = _Reading(contents, orjson.loads(parts[0]))
    for part in parts[1:]:
        reading.take_in(orjson.loads(part))
    for entry in entries:
        reading.apply(orjson.loads(entry))
    return reading.base()


def read_snapshot(contents: Contents, parts: Sequence[bytes]) -> Snapshot:
    """A snapshot from the parts of its base; ValueError or KeyError."""
    base = read_world(contents, parts, ())
    if base.snapshot is None:
        raise ValueError("the base is of no snapshot")
    return Snapshot(base.snapshot[0], base.snapshot[1], base.state)


def credentials_in(pieces: Iterable[RawPiece]) -> set[str]:
    """Return the public keys and tokens in a world that need not be readable, as far as they can be found."""
    found = set()
    for piece in pieces:
        with suppress(Exception):  # whatever stands there
            read = orjson.loads(piece.content)
            written = {read["table"]: read["rows"]} if "table" in read else read.get("writes", {})
            for table, rows in written.items():
                address = table.partition(":")[2].partition("@")[0]
                found |= {row[0] for row in rows if address in _CREDENTIALS and isinstance(row[0], str)}
    return found


_CREDENTIALS = ("api_keys", "tokens")
"""The tables that have public keys and tokens for keys."""


class _Reading:
    """A state that comes together from parts and entries."""

    def __init__(self, contents: Contents, head: JsonObject) -> None:
        self._contents = contents
        self._head = head
        self._tables: dict[str, dict[str, Any]] = {name: {} for name in head["tables"]}
        self._calls: deque[JournalEntry | None] = deque()  # None for a call that cannot be read
        self._unreadable = DroppedRows()
        self._dropped: int = head["dropped"]
        self._snapshots_taken: int = head["snapshots_taken"]
        self._clock = ClockState.read(head["clock"])
        self._has_entries = False
        self._keys: dict[str, TableKey[Any] | None] = {}

    def take_in(self, part: JsonObject) -> None:
        """A part of the base after its head."""
        if "table" in part:
            rows = self._tables[part["table"]]
            for key, row in part["rows"]:
                self._put(part["table"], rows, key, row)
        else:
            self._calls.extend(self._call(call) for call in part["calls"])

    def apply(self, entry: JsonObject) -> None:
        """What was written after that."""
        self._has_entries = True
        for name in entry["tables"]:
            self._tables.setdefault(name, {})
        for name, written in entry["writes"].items():
            rows = self._tables.setdefault(name, {})
            for key, *row in written:
                if len(row) != 1:  # deleted, and perhaps made anew
                    rows.pop(key, None)
                    self._unreadable.discard(name, key)
                if row:
                    self._put(name, rows, key, row[0])
        self._calls.extend(self._call(call) for call in entry["calls"])
        while len(self._calls) > entry["entered"] - entry["dropped"]:
            self._calls.popleft()
        self._dropped = entry["dropped"]
        self._snapshots_taken = entry["snapshots_taken"]
        self._clock = ClockState.read(entry["clock"])

    def _put(self, name: str, rows: dict[str, Any], key: str, written: object) -> None:
        """Put a row into its table. StateError for one that cannot be read; one of a journal is dropped instead."""
        if name not in self._keys:
            address = address_of(name, self._contents.tables, self._contents.environments)
            self._keys[name] = None if address is None else address.key
        table = self._keys[name]
        try:
            row = self._contents.codec.decode(written, name)
            rows[key] = row if table is None or table.shape is None else json_text(row)
        except StateError:
            if table is None or not table.journal:
                raise
            rows.pop(key, None)
            self._unreadable.add(name, table, key)
        else:
            self._unreadable.discard(name, key)

    def _call(self, written: object) -> JournalEntry | None:
        try:
            call = self._contents.codec.decode(written, "calls")
        except StateError:
            return None
        return call if isinstance(call, JournalEntry) else None

    def base(self) -> Base:
        calls = tuple(call for call in self._calls if call is not None)
        unreadable = self._unreadable
        unreadable.calls = len(self._calls) - len(calls)
        unreadable.enter(self._tables)
        is_as_measured = not self._has_entries and not unreadable.calls
        pack(text for rows in self._tables.values() for row in rows.values() for text in texts_of(row))
        head, clock = self._head, self._clock
        state = WorldState(
            blueprint=_blueprint(head["blueprint"]),
            world_id=head["world"],
            keys_of=head["keys_of"],
            seed=int(head["seed"]),
            mode=clock.mode,
            now_ms=clock.now_ms,
            rate=clock.rate,
            started_at_ms=head["started_at_ms"],
            tables=self._tables,
            requests=calls,
            requests_size=head["calls_size"] if is_as_measured else None,
            requests_dropped=self._dropped + unreadable.calls,
        )
        snapshot = None if head["snapshot"] is None else (head["snapshot"][0], head["snapshot"][1])
        return Base(state, clock, self._snapshots_taken, snapshot, unreadable)


def _blueprint(shown: JsonObject) -> Blueprint:
    return Blueprint(
        id=shown["id"],
        seed=int(shown["seed"]),
        mode=shown["mode"],
        now_ms=shown["now_ms"],
        rate=Decimal(shown["rate"]),
        scenarios=tuple(shown["scenarios"]),
        settings=shown["settings"],
        keys_of=shown["keys_of"],
        at_wall_time=shown["at_wall_time"],
    )
