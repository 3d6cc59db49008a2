"""A server's data about deleted worlds is bounded."""

from __future__ import annotations

import gc
from typing import Any
from weakref import ref

import pytest

from simulator.engine.insight.ended import FINDINGS_KEPT, EndedWorlds
from simulator.engine.records.advice import ADVICE, advise
from simulator.engine.worlds.simulator import Blueprint
from simulator.kernel.journal import Cause
from simulator.kernel.store import TableKey
from simulator.kernel.table import Table
from tests.library import Simulator


def test_the_newest_findings_of_ended_worlds_are_kept() -> None:
    simulator = Simulator()
    past = EndedWorlds(simulator.operations)
    for number in range(3):
        world = simulator.create_world(Blueprint(f"w{number}", number))
        with world.change(Cause("action", "test")):
            for finding in range(FINDINGS_KEPT // 2):
                advise(world, "odd", "info", f"finding {finding}", "nothing")
        past.keep(world)
        assert not past.is_complete
        past.take_in()
    assert past.is_complete
    assert len(past.findings) == FINDINGS_KEPT
    assert {finding["world"] for finding in past.findings} == {"w1", "w2"}


def test_a_world_that_cannot_be_adopted_is_released() -> None:
    simulator = Simulator()
    past = EndedWorlds(simulator.operations)
    world = simulator.create_world(Blueprint("w", 1))
    lacks_all: Any = {}
    world.store[ADVICE].fill({"1": lacks_all})
    past.keep(world)
    with pytest.raises(KeyError):
        past.take_in()
    assert past.is_complete
    assert not past.findings


THINGS: TableKey[Any] = TableKey("things", Any, around=True)


class Thing:
    """A row that can be weakly referenced, to detect its deletion."""


class Listed:
    """An index that knows its table."""

    def __init__(self, table: Table[Any]) -> None:
        self.table = table

    def written(self, key: str, old: Any, new: Any) -> None:
        pass


def test_a_counted_world_is_freed_without_the_garbage_collector() -> None:
    simulator = Simulator()
    past = EndedWorlds(simulator.operations)
    world, thing = simulator.create_world(Blueprint("w", 1)), Thing()
    with world.change(Cause("action", "test")):
        world.store[THINGS].put("a", thing)
    world.store[THINGS].index(Listed)
    held, gone = simulator.state_of(world), (ref(world), ref(thing))
    del thing
    gc.collect()
    gc.disable()
    try:
        simulator.delete_world("w")
        past.keep(world)
        del world
        past.take_in()
        assert [one() is None for one in gone] == [True, False], "the snapshot has the row"
        assert list(held.tables["things"]) == ["a"]
        del held
        assert gone[1]() is None
    finally:
        gc.enable()
