"""The garbage collector of a server skips long-lived objects, and scans them from time to time."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from weakref import ref

import pytest

from simulator.engine.server.running import garbage
from simulator.engine.server.running.garbage import passing_over_the_old
from simulator.engine.worlds.simulator import Blueprint
from simulator.kernel.store import Store
from tests.library import Simulator


@pytest.fixture(autouse=True)
def _put_aside_again() -> Iterator[None]:
    """What the tests of this process have collected is put aside (`tests/conftest.py`); a server's end undoes that."""
    yield
    gc.freeze()


class Knot:
    """An object in a cycle with itself."""

    def __init__(self) -> None:
        self.self = self


def test_new_objects_are_collected_and_survivors_are_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(garbage, "WHOLE_EVERY", 3)
    with passing_over_the_old():
        new, stays = Knot(), Knot()
        gone = ref(new)
        del new
        gc.collect(0)  # the first one
        assert gone() is None
        assert gc.get_freeze_count() > 0
        gone = ref(stays)
        del stays
        gc.collect()
        gc.collect(1)
        assert gc.get_freeze_count() > 0
        gc.collect(0)  # the third one, apart from the whole one
        gc.collect(0)
        assert gc.get_freeze_count() == 0
        assert gone() is not None
        gc.collect()
        assert gone() is None
        assert gc.get_freeze_count() > 0
    assert gc.get_freeze_count() == 0


def test_every_object_is_visited_now_and_then_without_a_request(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(garbage, "WHOLE_EVERY", 2)
    monkeypatch.setattr(garbage, "_THRESHOLDS", (1_000, 1, 1))
    with passing_over_the_old():
        frozen = Knot()
        gc.collect()  # Python postpones whole collections until there are a quarter more objects than at the last one
        gone = ref(frozen)
        del frozen
        kept = [[number] for number in range(50_000)]
        assert gone() is None
    assert len(kept) == 50_000


def test_a_world_that_ends_is_freed_without_the_collector() -> None:
    simulator = Simulator()
    simulator.create_world(Blueprint("default", 1))

    def count() -> int:
        return sum(isinstance(one, Store) for one in gc.get_objects())

    for _ in range(2):  # what a first time keeps for good
        simulator.reset_world("default")
    gc.collect()
    gc.disable()
    try:
        before = count()
        for _ in range(5):
            simulator.reset_world("default")
            snapshot = simulator.keep_snapshot(simulator.state_of(simulator.default), None)
            simulator.restore(snapshot.state, "default")
            simulator.create_world(Blueprint("other", 2))
            simulator.delete_world("other")
        assert count() == before
    finally:
        gc.enable()
