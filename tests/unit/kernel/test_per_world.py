"""Data attached to worlds: one object for each world, which does not outlive the world."""

from __future__ import annotations

import gc
from weakref import ref

import pytest

from simulator.kernel.clock import Clock
from simulator.kernel.world import PerWorld, Wiring, World


class Note:
    """Something that is kept."""


def make(name: str) -> World:
    return World(name, 1, Clock(0), Wiring())


def test_each_world_has_its_own() -> None:
    beside, first, second = PerWorld(Note), make("a"), make("b")
    notes = beside[first], beside[second]
    assert notes[0] is not notes[1]
    assert (beside[first], beside[first], beside[second]) == (notes[0], *notes)
    assert (beside.worlds(), beside.values()) == ([first, second], [*notes])


def test_another_can_be_put_in_its_place() -> None:
    beside, first, second = PerWorld(Note), make("a"), make("b")
    shared = beside[first]
    beside[second] = shared
    assert beside[second] is beside[first] is shared


@pytest.mark.parametrize("asked_last", [True, False])
def test_it_is_deleted_with_its_world(asked_last: bool) -> None:
    """Without the garbage collector, and also where nobody has asked for that of another world since."""
    gc.disable()
    try:
        beside, world, other = PerWorld(Note), make("a"), make("b")
        note = ref(beside[world])
        if not asked_last:
            _ = beside[other]
        del world
        assert note() is None
        assert beside[make("c")] is not beside[other]
    finally:
        gc.enable()
