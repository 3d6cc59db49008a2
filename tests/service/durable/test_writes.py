"""Encoding and decoding of writes: tables and journals are restored after any transaction."""

from __future__ import annotations

from decimal import Decimal
from itertools import count
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.engine.control.worlds.documents import contents_of, read_document
from simulator.engine.durable.writes import Base, ClockState, Gathering, base_parts, entry_bytes, read_world
from simulator.engine.records.records import INDEX
from simulator.engine.records.requests import JournalEntry, requests_of
from simulator.engine.records.row_text import RowTexts
from simulator.engine.worlds.simulator import Blueprint
from simulator.host import Simulator
from simulator.kernel.ids import STREAMS
from simulator.kernel.journal import Cause
from simulator.kernel.world import World
from tests.service.test_saved_world import SAVED

SIMULATOR = Simulator()
CONTENTS = contents_of(SIMULATOR.tables, SIMULATOR.wiring.environments)
TEXTS = RowTexts(CONTENTS.codec)
CLOCK = ClockState("manual", 5, Decimal(1), 7)
BEGINNING = SIMULATOR.create_world(Blueprint("w", 1))

KEYS = st.sampled_from("abc")
WRITE = st.tuples(st.sampled_from((STREAMS, INDEX)), KEYS, st.none() | st.integers(0, 9))
"""A table, a key, and the new row, or None to delete it."""
CHANGE = st.tuples(st.lists(WRITE, max_size=6), st.sampled_from(("kept", "undone", "half undone")))
TURNS = st.lists(st.lists(CHANGE, max_size=3), max_size=4)


def fresh() -> World:
    world = SIMULATOR.from_state(SIMULATOR.state_of(BEGINNING), "w")
    requests_of(world).keep(3)
    for key in "ab":
        carry_out(world, [(STREAMS, key, 1), (INDEX, key, 1)], "kept")
    return world


class Undone(Exception):
    """Raised to undo a transaction."""


def carry_out(world: World, writes: list[Any], how: str) -> None:
    try:
        with world.change(Cause("action", "test")):
            for number, (table, key, row) in enumerate(writes):
                if how == "half undone" and number == len(writes) // 2:
                    try:
                        with world.store.attempt():
                            write(world, table, key, row)
                            raise Undone
                    except Undone:
                        continue
                write(world, table, key, row)
            if how == "undone":
                raise Undone
    except Undone:
        pass


def write(world: World, table: Any, key: str, row: int | None) -> None:
    rows = world.store[table]
    if row is not None:
        rows.put(key, row if table is STREAMS else f"row {row}")
    elif key in rows:
        rows.delete(key)


def base_of(world: World) -> Base:
    state = SIMULATOR._state(world, SIMULATOR.blueprints["w"], world.store.tables(empty=True))
    return Base(state, CLOCK)


def in_order(tables: Any) -> list[tuple[str, list[tuple[str, Any]]]]:
    return [(name, list(rows.items())) for name, rows in tables.items()]


@given(TURNS)
def test_tables_come_back_with_their_rows_in_their_order(turns: list[list[Any]]) -> None:
    world = fresh()
    parts = list(base_parts(TEXTS, base_of(world)))
    gathering, entries = Gathering(world), []
    world.store.listen(gathering.hear)
    for turn in turns:
        for writes, how in turn:
            carry_out(world, writes, how)
        entries.append(entry_bytes(TEXTS, gathering.take(CLOCK, 0)))
    read = read_world(CONTENTS, parts, entries)
    assert in_order(read.state.tables) == in_order(world.store.tables(empty=True))


def call(number: int) -> JournalEntry:
    return JournalEntry(f"req_{number}", number, "sandbox", None, "GET", "/", (), b"", 200, b"{}", 0.5, ("odd",))


@given(st.lists(st.integers(0, 5), max_size=6))
def test_the_request_journal_is_restored_with_its_limit(turns: list[int]) -> None:
    world = fresh()
    parts = list(base_parts(TEXTS, base_of(world)))
    gathering, entries, numbers = Gathering(world), [], count(1)
    for calls in turns:
        for _ in range(calls):
            requests_of(world).enter(call(next(numbers)))
        entries.append(entry_bytes(TEXTS, gathering.take(CLOCK, 0)))
    read = read_world(CONTENTS, parts, entries).state
    assert read.requests == tuple(requests_of(world).entries)
    assert read.requests_dropped == requests_of(world).dropped


def test_a_row_that_was_written_several_times_in_a_turn_is_written_once() -> None:
    world = fresh()
    gathering = Gathering(world)
    world.store.listen(gathering.hear)
    for row in range(5):
        carry_out(world, [(STREAMS, "a", row)], "kept")
    assert gathering.take(CLOCK, 0).writes == {"streams": [("a", 4, False)]}
    assert gathering.take(CLOCK, 0).writes == {}


def test_state_outside_the_tables_is_restored(tmp_path: Any) -> None:
    blueprint = Blueprint(
        "w", 2**63 - 1, "scaled", 17, Decimal("2.5"), ("autopilot",), keys_of="other", at_wall_time=True
    )
    state = SIMULATOR._state(fresh(), blueprint, {})
    clock = ClockState("scaled", 99, Decimal("0.001"), 123)
    read = read_world(CONTENTS, list(base_parts(TEXTS, Base(state, clock, 3, ("snap_1", None)))), [])
    assert (read.clock, read.snapshots_taken, read.snapshot) == (clock, 3, ("snap_1", None))
    assert read.state.blueprint == blueprint
    assert (read.state.mode, read.state.now_ms, read.state.rate) == ("scaled", 99, Decimal("0.001"))


@pytest.fixture(scope="module")
def busy() -> Any:
    """A busy world with rows in nearly all tables."""
    import gzip

    return read_document(SIMULATOR, gzip.decompress((SAVED / "world.json.gz").read_bytes()))


def test_rows_are_encoded_as_in_documents(busy: Any) -> None:
    codec, seen = CONTENTS.codec, 0
    for name, rows in busy.tables.items():
        for key, row in rows.items():
            assert orjson.loads(TEXTS.dumps(TEXTS.ready(row))) == codec.encode(row), (name, key)
            seen += 1
    for one in busy.requests:
        assert orjson.loads(TEXTS.dumps(one)) == codec.encode(one)
    assert seen > 500


def test_a_busy_world_comes_back_whole(busy: Any) -> None:
    parts = list(base_parts(TEXTS, Base(busy, CLOCK)))
    assert len(parts) > 3
    read = read_world(CONTENTS, parts, []).state
    assert in_order(read.tables) == in_order(busy.tables)
    assert read.requests == busy.requests


ODD: tuple[Any, ...] = (
    {"$": "decimal", "value": "1"},
    {"a": (1, 2), "b": [1.5, float("inf"), Decimal("1.20")], "c": 2**70},
    (("a", b"\xff"), (), ((1,),)),
    [{"$": 1}],
    b"text",
    2**63 - 1,
    None,
    "é\n",
)


@pytest.mark.parametrize("row", ODD)
def test_values_outside_json_are_encoded_as_in_documents(row: Any) -> None:
    assert orjson.loads(TEXTS.dumps(TEXTS.ready(row))) == CONTENTS.codec.encode(row)


def test_values_illegal_in_a_row_are_refused() -> None:
    for row in ({1: 2}, object(), {"a": {1, 2}}, World):
        with pytest.raises(TypeError):
            TEXTS.dumps(TEXTS.ready(row))
