"""A world with one object, planned steps on it, and networks whose status a test sets."""

from __future__ import annotations

from typing import Any

from simulator.engine.rows.provider import Outages
from simulator.engine.scenario.play import delays
from simulator.engine.scenario.play.pending import KINDS, PlannedStep, plan
from simulator.kernel.journal import Cause
from simulator.kernel.world import World
from tests.unit.engine.scenario.playing import begin, engine_of, world_of

CAUSE = Cause("action", "test")


class Networks:
    """Networks with a status. `parcel_arrives` needs north; `complete` needs north and south."""

    def __init__(self) -> None:
        self.world = world_of(engine_of())
        self.target = begin(self.world, "purchase")
        self.statuses: dict[str, str] = {}
        self.number = 0

    def status(self, world: World, environment: str, network: str) -> str:
        return self.statuses.get(network, "operational")

    def networks_needed(self, action: str, record: Any) -> frozenset[str]:
        needed = {"parcel_arrives": {"north"}, "complete": {"north", "south"}}
        return frozenset(needed.get(action, set()))

    def plan(self, seconds: int, action: str, *, part: str = "rules[0].do[0]", **more: Any) -> None:
        step: dict[str, Any] = {
            "target": self.target,
            "scenario": "s",
            "part": part,
            "place": "s.yaml:1",
            "event": "",
            "environment": "practice",
            "action": action,
            "acts_on": None,
            "parameters": {},
        }
        with self.world.change(CAUSE):
            plan(self.world, self.world.now_ms + seconds * 1000, PlannedStep(**{**step, **more}))

    def set(self, **statuses: str) -> None:
        """Set the status of networks, and hold, release and stretch steps accordingly."""
        self.statuses |= statuses
        with self.world.change(CAUSE):
            delays.hold(self.world, self, Outages(("north", "south"), status=self.status))  # type: ignore[arg-type]  # of actions it asks only networks_needed
            delays.release(self.world, self.status)
            delays.restretch(self.world, self.status, lambda name: {"degraded": 4.0})

    def planned(self) -> list[tuple[float, str]]:
        """Return the agenda: seconds until due, and the action."""
        timers = [timer for timer in self.world.agenda.in_firing_order() if timer.kind in KINDS]
        return [((timer.due_at_ms - self.world.now_ms) / 1000, timer.arguments["action"]) for timer in timers]

    def held(self) -> list[tuple[float, str, tuple[str, ...]]]:
        return [(row.remaining_ms / 1000, str(row.action), row.networks) for row in delays.held_steps(self.world)]
