"""Stores, their snapshots and stores created from snapshots, compared with copies of plain dicts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, multiple, rule

from simulator.kernel.store import Store, TableKey
from tests.unit.kernel.breaking import broken_off

TABLES = (TableKey("things", Any), TableKey("others", Any))

Model = dict[str, dict[str, Any]]
"""The expected rows of each table, in order."""

Step = tuple[str, Any]
"""A write `("put" | "delete", (table, key, value))`, a state that is taken, or a block `(name, (steps, fails))`."""

writes = st.tuples(
    st.sampled_from(("put", "put", "delete")),
    st.tuples(st.integers(0, 1), st.sampled_from("abcdefgh"), st.integers(0, 3)),
)
steps: st.SearchStrategy[Step] = st.recursive(
    writes | st.just(("take", None)),
    lambda inner: st.tuples(
        st.sampled_from(("attempt", "change")), st.tuples(st.lists(inner, max_size=5), st.booleans())
    ),
    max_leaves=8,
)


def copied(model: Model) -> Model:
    return {name: dict(rows) for name, rows in model.items()}


def listed(model: Model) -> list[tuple[str, list[tuple[str, Any]]]]:
    """The tables that have rows, in any order, with their rows in theirs."""
    return sorted((name, list(rows.items())) for name, rows in model.items() if rows)


class Stores(RuleBasedStateMachine):
    """Several stores that share rows through snapshots, each beside its model."""

    stores = Bundle("stores")
    snapshots = Bundle("snapshots")

    def __init__(self) -> None:
        super().__init__()
        self.pairs: list[tuple[Store, Model]] = []
        self.taken: list[tuple[Model, Model]] = []

    def _keep(self, store: Store, model: Model) -> tuple[Model, Model]:
        pair = store.tables(), copied(model)
        self.taken.append(pair)
        return pair

    @rule(target=stores)
    def make(self) -> int:
        return self._made()

    def _made(self) -> int:
        self.pairs.append((Store(), {key.name: {} for key in TABLES}))
        return len(self.pairs) - 1

    @rule(target=snapshots, number=stores, made=st.lists(steps, max_size=6), fails=st.booleans())
    def change(self, number: int, made: list[Step], fails: bool) -> Any:
        store, model = self.pairs[number]
        planned, before = copied(model), len(self.taken)
        with broken_off(store.change()) if fails else store.change():
            self._do(store, planned, made)
        if not fails:
            self.pairs[number] = store, planned
        return multiple(*self.taken[before:])

    def _do(self, store: Store, model: Model, made: Sequence[Step]) -> None:
        """Make these steps in a store and in the model, which is changed in place."""
        for name, detail in made:
            if name == "take":
                self._keep(store, model)
            elif name in ("put", "delete"):
                at, key, value = detail
                rows = model[TABLES[at].name]
                if name == "put":
                    store[TABLES[at]].put(key, value)
                    rows[key] = value
                elif key in rows:
                    store[TABLES[at]].delete(key)
                    del rows[key]
            else:
                inner, fails = detail
                block = store.attempt() if name == "attempt" else store.change()
                undone = copied(model)
                with broken_off(block) if fails else block:
                    self._do(store, model, inner)
                if fails and name == "attempt":
                    model.update(undone)
            assert listed(model) == listed({key.name: store[key].rows for key in TABLES})

    @rule(target=snapshots, number=stores)
    def take(self, number: int) -> Any:
        return self._keep(*self.pairs[number])

    @rule(number=stores, snapshot=snapshots)
    def put_back(self, number: int, snapshot: tuple[Model, Model]) -> None:
        self._put_back(number, snapshot)

    def _put_back(self, number: int, snapshot: tuple[Model, Model]) -> None:
        store, _ = self.pairs[number]
        store.replace(snapshot[0])
        self.pairs[number] = store, {key.name: {} for key in TABLES} | copied(snapshot[1])

    @rule(target=stores, snapshot=snapshots)
    def fork(self, snapshot: tuple[Model, Model]) -> int:
        self._put_back(number := self._made(), snapshot)
        return number

    @rule(snapshot=consumes(snapshots))
    def forget(self, snapshot: tuple[Model, Model]) -> None:
        self.taken = [pair for pair in self.taken if pair is not snapshot]

    @invariant()
    def everything_is_as_its_model(self) -> None:
        for kept, model in self.taken:
            assert listed(kept) == listed(model)
        for store, model in self.pairs:
            for key in TABLES:
                table, rows = store[key], model[key.name]
                assert list(table.items()) == list(rows.items())
                assert list(table.newest_first()) == list(reversed(rows.values()))
                assert (len(table), table.get("a"), "b" in table) == (len(rows), rows.get("a"), "b" in rows)


test_stores_are_as_their_models = Stores.TestCase
Stores.TestCase.settings = settings(stateful_step_count=20)
