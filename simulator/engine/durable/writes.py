"""Encodes and decodes saved worlds. A saved world has a base (its full state) and entries (the changes after the base).

Rows have the same form as in an exported world (`records/codec`). A base is a sequence of parts of limited size. The
first part describes the world, and the others contain table rows and journal requests. The decoder trusts the data,
because the simulator wrote it and the store checks that the bytes are unchanged.
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
from simulator.engine.text.json import JsonObject, json_text
from simulator.engine.webhooks.courier.courier import wall_clock_ms
from simulator.engine.worlds.observations import Observed
from simulator.engine.worlds.simulator import Blueprint, Snapshot, WorldState
from simulator.kernel.dataclass import dataclass
from simulator.kernel.journal import Cause
from simulator.kernel.store import TableKey, address_of
from simulator.kernel.table import ABSENT, Write
from simulator.kernel.texts import pack
from simulator.kernel.world import World

PART_BYTES = 256 * 1024
"""The approximate size of a part of a base."""

_MOVED = 1
"""The marker for a row that was deleted and created again.

A written row is saved as `[key, row]`, a deleted row as `[key]`, and a row that was deleted and created again as `[key,
row, 1]`.
"""


@dataclass(frozen=True)
class ClockState:
    """The state of a world's clock at the wall-clock time `wall_ms`."""

    mode: str
    now_ms: int
    rate: Decimal
    wall_ms: int
    """The wall-clock time at which the world's clock was read."""

    def show(self) -> JsonObject:
        return {**vars(self), "rate": str(self.rate)}

    @classmethod
    def read(cls, shown: JsonObject) -> ClockState:
        return cls(**{**shown, "rate": Decimal(shown["rate"])})

    def passed_seconds(self) -> float:
        """Return the seconds since this state on the wall clock, or 0 if the wall clock was set back."""
        return max(wall_clock_ms() - self.wall_ms, 0) / 1000


@dataclass(frozen=True)
class Base:
    """The full state of a world or a snapshot, as it is saved."""

    state: WorldState
    clock: ClockState
    snapshots_taken: int = 0
    snapshot: tuple[str, str | None] | None = None
    """The id and name of the snapshot, or None for a world."""
    dropped: DroppedRows = field(default_factory=DroppedRows)
    """Journal rows that could not be read."""


@dataclass(frozen=True)
class Entry:
    """The changes to a world in one turn of the event loop. They are saved as JSON with the names of these fields."""

    clock: ClockState
    causes: Sequence[Cause]
    tables: Sequence[str]
    """The new tables, in the order in which they were created."""
    writes: Mapping[str, Sequence[tuple[str, Any, bool]]]
    """For each table: the key, the row (ABSENT if it was deleted), and True if it was deleted and created again."""
    calls: Sequence[JournalEntry]
    """The new requests in the journal."""
    entered: int
    """The number of requests that were ever added to the journal."""
    dropped: int
    """The number of requests that were removed from the journal."""
    snapshots_taken: int


class Gathering:
    """Collects the changes to a world since its last entry (saved changes).

    If a row changes several times, only its latest version is saved.
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
        """Record which rows a transaction has written. New rows are saved in the order in which they were added."""
        cause, causes = self._world.cause, self._causes
        if not causes or causes[-1] is not cause:
            causes.append(cause)
        for table, key, old in writes:
            keys = self._writes.setdefault(table.name, {})
            if old is ABSENT:
                keys[key] = keys.pop(key, None) is not None
            elif key not in keys:
                keys[key] = False

    def take(self, clock: ClockState, snapshots_taken: int) -> Entry:
        """Return the changes to the world since the last call."""
        world = self._world
        requests, tables = requests_of(world), world.store.table_names()
        entered = requests.dropped + len(requests.entries)
        fresh = min(entered - self._calls, len(requests.entries))
        writes = {}
        for name, keys in self._writes.items():
            rows = world.store.written(name).rows
            writes[name] = [(key, rows.get(key, ABSENT), moved) for key, moved in keys.items()]
        calls = list(islice(reversed(requests.entries), fresh))[::-1]
        new_tables, dropped = tables[self._tables :], requests.dropped
        entry = Entry(clock, self._causes, new_tables, writes, calls, entered, dropped, snapshots_taken)
        self._causes, self._writes = [], {}
        self._mark()
        return entry


# --- writing ------------------------------------------------------------------------------------------------------


def entry_bytes(texts: RowTexts, entry: Entry) -> bytes:
    """Return the encoded bytes of an entry."""
    ready = texts.ready
    written: JsonObject = {
        **vars(entry),
        "clock": entry.clock.show(),
        "causes": [[cause.kind, cause.name, cause.reference] for cause in entry.causes],
        "writes": {
            name: [
                [key] if row is ABSENT else [key, ready(row), _MOVED] if moved else [key, ready(row)]
                for key, row, moved in rows
            ]
            for name, rows in entry.writes.items()
        },
    }
    return texts.dumps(written)


def base_parts(texts: RowTexts, base: Base) -> Iterator[bytes]:
    """Yield the encoded parts of a base (full state). The first part describes the world."""
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
            **{name: value for name, value in vars(blueprint).items() if name != "observed"},
            "seed": str(blueprint.seed),
            "rate": str(blueprint.rate),
            "settings": dict(blueprint.settings),
            **({"observed": [one.document for one in blueprint.observed]} if blueprint.observed else {}),
        },
        "tables": list(state.tables),
        "calls_size": state.requests_size,
        "dropped": state.requests_dropped,
        "snapshots_taken": base.snapshots_taken,
        "snapshot": base.snapshot,
    }


# --- reading ------------------------------------------------------------------------------------------------------


def read_world(contents: Contents, parts: Sequence[bytes], entries: Iterable[bytes]) -> Base:
    """Return the full state of a world, decoded from the parts of its base and the entries after the base.

    Raise `ValueError` or `KeyError` if the bytes cannot be decoded.
    """
    reading = _Reading(contents, orjson.loads(parts[0]))
    for part in parts[1:]:
        reading.take_in(orjson.loads(part))
    for entry in entries:
        reading.apply(orjson.loads(entry))
    return reading.base()


def read_snapshot(contents: Contents, parts: Sequence[bytes]) -> Snapshot:
    """Return a snapshot, decoded from the parts of its base. Raise `ValueError` or `KeyError` like `read_world`."""
    base = read_world(contents, parts, ())
    if base.snapshot is None:
        raise ValueError("the base does not belong to a snapshot")
    return Snapshot(base.snapshot[0], base.snapshot[1], base.state)


def credentials_in(pieces: Iterable[RawPiece]) -> set[str]:
    """Return the public keys and tokens that can be found in the stored bytes of a world, even if it is unreadable."""
    found = set()
    for piece in pieces:
        with suppress(Exception):  # The piece may contain anything.
            read = orjson.loads(piece.content)
            written = {read["table"]: read["rows"]} if "table" in read else read.get("writes", {})
            for table, rows in written.items():
                address = table.partition(":")[2].partition("@")[0]
                found |= {row[0] for row in rows if address in _CREDENTIALS and isinstance(row[0], str)}
    return found


_CREDENTIALS = ("api_keys", "tokens")
"""Tables whose row keys are public keys or tokens."""


class _Reading:
    """The state of a world that is being decoded: first the parts of its base, then its entries."""

    def __init__(self, contents: Contents, head: JsonObject) -> None:
        self._contents = contents
        self._head = head
        self._tables: dict[str, dict[str, Any]] = {name: {} for name in head["tables"]}
        self._calls: deque[JournalEntry | None] = deque()  # An item is None for a call that cannot be read.
        self._unreadable = DroppedRows()
        self._dropped: int = head["dropped"]
        self._snapshots_taken: int = head["snapshots_taken"]
        self._clock = ClockState.read(head["clock"])
        self._has_entries = False
        self._keys: dict[str, TableKey[Any] | None] = {}

    def take_in(self, part: JsonObject) -> None:
        """Add a part of a base: rows of a table, or requests of the journal."""
        if "table" in part:
            rows = self._tables[part["table"]]
            for key, row in part["rows"]:
                self._put(part["table"], rows, key, row)
        else:
            self._calls.extend(self._call(call) for call in part["calls"])

    def apply(self, entry: JsonObject) -> None:
        self._has_entries = True
        for name in entry["tables"]:
            self._tables.setdefault(name, {})
        for name, written in entry["writes"].items():
            rows = self._tables.setdefault(name, {})
            for key, *row in written:
                # Here, the row was deleted. A row that was created again moves to the end of the table.
                if len(row) != 1:
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
        """Add a row to a table. An unreadable row of the journal is dropped. For any other unreadable row, raise
        `StateError`.
        """
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
    parsed = {"seed": int(shown["seed"]), "rate": Decimal(shown["rate"]), "scenarios": tuple(shown["scenarios"])}
    observed = (Observed("blueprint.observed", one["observed_at"], one) for one in shown.get("observed", ()))
    return Blueprint(**{**shown, **parsed, "observed": tuple(observed)})
