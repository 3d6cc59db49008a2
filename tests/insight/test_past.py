"""What a server remembers of worlds that have ended is bounded."""

from __future__ import annotations

from simulator.assembly import Blueprint, Simulator
from simulator.insight import Past
from simulator.insight.past import FINDINGS_KEPT
from simulator.kernel.journal import Cause
from simulator.wire.advice import advise


def test_the_newest_findings_of_ended_worlds_are_kept() -> None:
    simulator = Simulator()
    past = Past(simulator.operations)
    for number in range(3):
        world = simulator.create_world(Blueprint(f"w{number}", number))
        with world.change(Cause("action", "test")):
            for finding in range(FINDINGS_KEPT // 2):
                advise(world, "odd", "info", f"finding {finding}", "nothing")
        past.keep(world)
    assert len(past.findings) == FINDINGS_KEPT
    assert {finding["world"] for finding in past.findings} == {"w1", "w2"}
