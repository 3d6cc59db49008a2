"""Tables of rows, changed atomically."""

from __future__ import annotations

import gc
from dataclasses import dataclass
from typing import Any
from weakref import ref

import pytest

from simulator.kernel.store import Address, Store, TableKey, address_of
from simulator.kernel.table import ABSENT, Table
from tests.unit.kernel.breaking import Refused, broken_off


@dataclass(frozen=True)
class Numbered:
    """A row with a sequence of its own, which need not be the order of the table."""

    sequence: int


THINGS: TableKey[Any] = TableKey("things", Any)
OTHERS: TableKey[Any] = TableKey("others", Any)


def filled(*keys: str) -> tuple[Store, Table[Any]]:
    store = Store()
    table = store[THINGS]
    with store.change():
        for key in keys:
            table.put(key, f"row {key}")
    return store, table


def listed(store: Store) -> dict[str, list[tuple[str, Any]]]:
    """Everything there is, in its order."""
    return {name: list(rows.items()) for name, rows in store.tables().items()}


def test_a_table_is_made_once_and_keeps_its_name() -> None:
    store = Store()
    assert store[THINGS] is store[THINGS]
    assert store[THINGS].name == "things"
    assert store[THINGS] is not store[OTHERS]


def test_a_table_is_read_like_a_dict_in_the_order_of_creation() -> None:
    _, table = filled("b", "a", "c")
    assert table.get("a") == table["a"] == "row a"
    assert table.get("x") is None
    assert "a" in table
    assert "x" not in table
    assert len(table) == 3
    assert list(table.values()) == ["row b", "row a", "row c"]
    assert [key for key, _ in table.items()] == ["b", "a", "c"]
    assert list(table.newest_first()) == ["row c", "row a", "row b"]
    with pytest.raises(KeyError):
        table["x"]


def test_replaced_row_keeps_its_position_and_recreated_row_does_not() -> None:
    store, table = filled("a", "b", "c")
    with store.change():
        table.put("a", "new")
    assert list(table.items()) == [("a", "new"), ("b", "row b"), ("c", "row c")]
    with store.change():
        table.delete("a")
        table.put("a", "again")
    assert list(table.items()) == [("b", "row b"), ("c", "row c"), ("a", "again")]


def test_writing_outside_of_a_change_is_refused_and_changes_nothing() -> None:
    store, table = filled("a")
    with pytest.raises(RuntimeError, match="'things' written outside of a transaction"):
        table.put("b", 1)
    with pytest.raises(RuntimeError, match="'things' written outside of a transaction"):
        table.put("a", 1)
    with pytest.raises(RuntimeError, match="'things' written outside of a transaction"):
        table.delete("a")
    assert listed(store) == {"things": [("a", "row a")]}


def test_a_change_is_over_after_it_failed_as_after_it_was_made() -> None:
    store, table = filled()
    assert not store.in_change
    with store.change():
        assert store.in_change
    with pytest.raises(Refused), store.change():
        raise Refused
    assert not store.in_change
    with pytest.raises(RuntimeError):
        table.put("a", 1)


def test_deleting_a_missing_row_fails_the_whole_change() -> None:
    store, table = filled("a")
    with broken_off(store.change(), KeyError):
        table.put("b", 1)
        table.delete("x")
    assert listed(store) == {"things": [("a", "row a")]}


def test_a_change_that_raises_leaves_every_table_as_it_was() -> None:
    store, table = filled("a", "b", "c")
    before = listed(store)
    with broken_off(store.change()):
        table.put("d", 1)
        table.put("a", 2)
        table.put("a", 3)
        table.delete("b")
        store[OTHERS].put("x", 1)
    assert listed(store) == before


@pytest.mark.parametrize("error", [Refused, KeyboardInterrupt, GeneratorExit])
def test_any_exception_undoes_a_change(error: type[BaseException]) -> None:
    store, table = filled("a")
    with broken_off(store.change(), error):
        table.delete("a")
    assert listed(store) == {"things": [("a", "row a")]}


@pytest.mark.parametrize("gone", [["a"], ["b"], ["c"], ["a", "b"], ["b", "a"], ["c", "b", "a"]])
def test_undone_deletion_restores_the_position(gone: list[str]) -> None:
    store, table = filled("a", "b", "c")
    with broken_off(store.change()):
        for key in gone:
            table.delete(key)
    assert list(table.rows) == ["a", "b", "c"]
    with store.change():
        table.put("d", "row d")
    assert list(table.rows) == ["a", "b", "c", "d"]


def test_table_order_is_creation_not_sequence() -> None:
    store, table = filled()
    with store.change():
        table.put("late", Numbered(9))
        table.put("early", Numbered(1))
        table.put("middle", Numbered(5))
    with broken_off(store.change()):
        table.delete("late")
        table.delete("middle")
    assert list(table.rows) == ["late", "early", "middle"]


def test_row_recreated_in_a_failed_change_returns_to_its_position() -> None:
    store, table = filled("a", "b", "c")
    with broken_off(store.change()):
        table.delete("a")
        table.put("a", "again")
        table.delete("a")
        table.put("z", 1)
    assert listed(store) == {"things": [("a", "row a"), ("b", "row b"), ("c", "row c")]}


def test_an_inner_change_joins_the_outer_one() -> None:
    store, table = filled("a")
    with broken_off(store.change()):
        with store.change():
            table.put("b", 1)
        assert "b" in table
    assert list(table.rows) == ["a"]


def test_writes_of_a_failed_inner_change_stay_with_the_outer_one() -> None:
    store, table = filled("a")
    with store.change():
        with broken_off(store.change()):
            table.put("b", 1)
        table.put("c", 2)
    assert list(table.rows) == ["a", "b", "c"]


def test_an_attempt_that_fails_is_undone_alone_and_raises_on() -> None:
    store, table = filled("a", "b", "c")
    with store.change():
        table.put("before", 1)
        table.delete("b")
        with broken_off(store.attempt()):
            table.delete("a")
            table.put("c", "changed")
            table.put("inside", 1)
        table.put("after", 1)
    assert listed(store) == {"things": [("a", "row a"), ("c", "row c"), ("before", 1), ("after", 1)]}


def test_undone_attempt_is_not_undone_twice() -> None:
    store, table = filled("a", "b", "c")
    before = listed(store)
    with broken_off(store.change()):
        table.delete("b")
        with broken_off(store.attempt()):
            table.delete("a")
            with broken_off(store.attempt()):
                table.delete("c")
        table.put("a", "changed")
    assert listed(store) == before


def test_an_attempt_that_succeeds_is_part_of_its_change() -> None:
    store, table = filled("a")
    with store.change(), store.attempt():
        table.put("b", 1)
    assert list(table.rows) == ["a", "b"]
    with broken_off(store.change()), store.attempt():
        table.delete("a")
    assert list(table.rows) == ["a", "b"]


def test_an_attempt_is_possible_inside_a_change_only() -> None:
    store, _ = filled()
    with pytest.raises(RuntimeError, match="an attempt can begin only within an open transaction"), store.attempt():
        pytest.fail("the block of a refused attempt ran")


def test_the_writes_of_a_change_are_reported_after_it() -> None:
    store, table = filled("a")
    told: list[list[tuple[str, str, Any]]] = []
    store.listen(lambda writes: told.append([(table.name, key, old) for table, key, old in writes]))
    with store.change():
        table.put("b", 1)
        with store.change():
            table.put("b", 2)
        table.delete("a")
        with broken_off(store.attempt()):
            table.put("undone", 1)
        assert told == []
    assert told == [[("things", "b", ABSENT), ("things", "b", 1), ("things", "a", "row a")]]
    with broken_off(store.change()):
        table.put("c", 1)
    assert len(told) == 1


def test_snapshot_is_not_affected_by_later_changes() -> None:
    store, table = filled("a", "b")
    store[TableKey("empty", int)]
    kept = store.tables()
    with store.change():
        table.put("c", 1)
        table.delete("a")
    assert kept == {"things": {"a": "row a", "b": "row b"}}


def test_restored_store_leaves_the_snapshot_unchanged() -> None:
    store, table = filled("a", "b")
    kept = store.tables()
    with store.change():
        table.delete("a")
        store[OTHERS].put("x", 1)
    store.replace(kept)
    assert listed(store) == {"things": [("a", "row a"), ("b", "row b")]}
    with store.change():
        table.put("c", 1)
    with broken_off(store.change()):
        table.delete("a")
    assert list(table.rows) == ["a", "b", "c"]
    assert list(kept["things"]) == ["a", "b"]


def test_a_state_taken_within_a_change_keeps_what_was_written_by_then() -> None:
    store, table = filled("a", "b", "c")
    with broken_off(store.change()):
        table.put("d", 1)
        table.delete("b")
        kept = store.tables()
    assert list(table.rows) == ["a", "b", "c"]
    assert list(kept["things"]) == ["a", "c", "d"]


def test_rows_created_after_a_deletion_have_new_positions() -> None:
    store, table = filled("gone", "a")
    with store.change():
        table.delete("gone")
        for key in "bcd":
            table.put(key, 1)
    with broken_off(store.change()):
        table.delete("b")
    assert list(table.rows) == ["a", "b", "c", "d"]


def test_deleted_numbers_are_computed_again() -> None:
    store, table = filled("a", "b", "c", "d")
    with store.change():
        table.delete("b")
    store.drop_row_numbers()
    assert table._positions is None
    with broken_off(store.change()):
        table.put("e", 1)
        table.delete("a")
        table.delete("c")
    assert list(table.rows) == ["a", "c", "d"]


def test_a_restored_state_is_not_written() -> None:
    store, table = filled("a")
    kept = store.tables()
    store.replace(kept)
    with store.change():
        table.put("b", 1)
    assert kept == {"things": {"a": "row a"}}


def test_only_the_first_write_after_a_snapshot_copies_the_table() -> None:
    store, table = filled("a")
    shared = table.rows
    assert store.tables()["things"] is shared
    with store.change():
        table.put("a", 1)
        own = table.rows
        table.put("b", 1)
    assert own is not shared
    assert table.rows is own
    store.replace(store.tables())
    assert table.rows is own


def test_a_store_deletes_the_position_of_every_deleted_row() -> None:
    store, table = filled("a")
    for number in range(50):
        with store.change():
            table.put(str(number), number)
        with broken_off(store.change()):
            table.delete(str(number))
            table.put("x", 1)
        with store.change():
            table.delete(str(number))
    assert set(table._positions or ()) == {"a"}
    assert store._log.deleted_positions == []


def test_a_table_numbers_its_rows_only_once_it_loses_one() -> None:
    store, table = filled("a", "b")
    with broken_off(store.change()):
        table.put("c", 1)
        table.put("a", 2)
    assert table._positions is None
    with store.change():
        table.delete("b")
    assert table._positions is not None


WALLETS = TableKey("wallets", str, per_environment=True, per_owner=True)
QUEUES = TableKey("queues", str, per_owner=True)
KEYS = {key.name: key for key in (WALLETS, QUEUES, THINGS)}


@pytest.mark.parametrize(
    ("address", "text"),
    [
        (THINGS.of(), "things"),
        (QUEUES.of(owner="wh_1"), "queues@wh_1"),
        (WALLETS.of("sandbox"), "sandbox:wallets"),
        (WALLETS.of("production", "usr_1"), "production:wallets@usr_1"),
        (WALLETS.of("sandbox").of_deleted, "sandbox:wallets:deleted"),
        (WALLETS.of("sandbox", "usr_1").of_deleted, "sandbox:wallets@usr_1:deleted"),
    ],
)
def test_an_address_is_written_and_read_back(address: Address[str], text: str) -> None:
    assert address.text == text
    assert address_of(text, KEYS, ("sandbox", "production")) == address
    assert Store()[address].name == text


@pytest.mark.parametrize(
    "text", ["lamps", "wallets", "moon:wallets", "sandbox:things", "things@usr_1", "sandbox:queues@wh_1", ""]
)
def test_a_string_that_no_key_encodes_is_not_an_address(text: str) -> None:
    assert address_of(text, KEYS, ("sandbox", "production")) is None


def test_environments_owners_and_deleted_rows_have_own_tables() -> None:
    store = Store()
    sandbox = WALLETS.of("sandbox")
    places = (sandbox, WALLETS.of("production"), WALLETS.of("sandbox", "usr_1"), sandbox.of_deleted)
    with store.change():
        for place in places:
            store[place].put("w", place.text)
    assert {name: rows["w"] for name, rows in store.tables().items()} == {place.text: place.text for place in places}
    assert store[WALLETS.of("sandbox", "usr_1")] is store[WALLETS.of("sandbox", "usr_1")]


def test_an_address_that_a_key_does_not_have_is_an_error() -> None:
    for wrong in (lambda: THINGS.of("sandbox"), lambda: Store()[WALLETS]):
        with pytest.raises(KeyError):
            wrong()
    with pytest.raises(ValueError, match="'things' belong to no owner"):
        THINGS.of(owner="usr_1")


def test_a_store_of_known_tables_has_the_environments_that_it_is_given() -> None:
    store = Store({WALLETS}, ("moon",))
    assert store[WALLETS.of("moon")].name == "moon:wallets"
    assert store[WALLETS.of("moon", "usr_1")].name == "moon:wallets@usr_1"
    for owner in ("", "usr_1"):
        with pytest.raises(ValueError, match="there is no environment 'sandbox'"):
            store[WALLETS.of("sandbox", owner)]


def test_two_keys_of_one_name_are_an_error() -> None:
    store = Store()
    assert store[THINGS].name == "things"
    with pytest.raises(ValueError, match="two tables have the name 'things'"):
        store[TableKey("things", Any)]


def test_table_restored_by_address_is_found_by_key() -> None:
    store = Store()
    store.replace({"sandbox:wallets": {"w": "here"}, "of another version": {"a": 1}})
    assert store[WALLETS.of("sandbox")]["w"] == "here"
    assert store.written("sandbox:wallets") is store[WALLETS.of("sandbox")]
    assert store.tables()["of another version"] == {"a": 1}, "what nobody declared is kept and written again"


class Held:
    """A row that can be weakly referenced, to detect its deletion."""


def test_rows_are_freed_with_their_store_without_a_collector() -> None:
    gc.collect()
    store, row = Store(), Held()
    gone = ref(row)
    with store.change():
        store[THINGS].put("a", row)
        store[THINGS].delete("a")
        store[THINGS].put("a", row)
    with broken_off(store.change()):
        store[THINGS].delete("a")
    kept = store.tables()
    del row
    gc.disable()
    try:
        del store
        assert gone() is not None, "the snapshot has it"
        del kept
        assert gone() is None
    finally:
        gc.enable()


def test_worlds_share_the_names_of_their_own_tables_only() -> None:
    """There is no end of owners, and Python 3.12 never frees an interned string."""
    own, others = Address(THINGS, "", "", False), Address(THINGS, "", "usr_1", False)
    assert own.text is own.text
    assert others.text == others.text == "things@usr_1"
    assert others.text is not others.text
