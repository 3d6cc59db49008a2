"""What a server remembers of worlds that have ended is bounded."""

from __future__ import annotations

import pytest

from simulator.assembly import Blueprint, Simulator
from simulator.insight.ended import FINDINGS_KEPT, EndedWorlds
from simulator.kernel.journal import Cause
from simulator.wire.advice import ADVICE, advise


@pytest.mark.slow
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


@pytest.mark.slow
def test_a_world_that_cannot_be_taken_in_is_let_go() -> None:
    simulator = Simulator()
    past = EndedWorlds(simulator.operations)
    world = simulator.create_world(Blueprint("w", 1))
    world.store[ADVICE].fill({"1": {}})
    past.keep(world)
    with pytest.raises(KeyError):
        past.take_in()
    assert past.is_complete
    assert not past.findings
