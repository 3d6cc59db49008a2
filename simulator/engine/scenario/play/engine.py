"""The scenarios of a process as the rest of the simulator uses them: what is active, what happens, what came of it.

The engine decides and keeps no state of its own: what is active, bound, counted and pending lies in the world's store
and on its agenda as plain data, so that it is part of snapshots and repeats exactly. `activation` sets scenarios up,
`rules` says which rule takes an event and what it plans, `steps` carries out what is due.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from simulator.engine.records.origins import present_origin
from simulator.engine.rows.action import ActionTable
from simulator.engine.rows.outages import Outages
from simulator.engine.scenario.files.library import Library, ScenarioFile
from simulator.engine.scenario.language.shapes import ScenarioEntry
from simulator.engine.scenario.play import activation, holding, rules, slowing, steps, stops
from simulator.engine.scenario.play.activation import ACTIVE, BINDINGS, COUNTS
from simulator.engine.scenario.play.catalogue import UPLOADED, Catalogue, Context, UnknownScenario
from simulator.engine.scenario.play.holding import HELD
from simulator.engine.scenario.play.logbook import LOG, dropped, notes
from simulator.engine.scenario.play.pending import STEP, TIMELINE, PlannedStep, described, drop_beyond, steps_of
from simulator.engine.scenario.play.rules import Answer, Happening
from simulator.engine.scenario.play.script import CREATED
from simulator.engine.scenario.play.stops import FAILURES, INSTANTS, STOPPED
from simulator.engine.text.json import JsonObject
from simulator.kernel.agenda import Timer
from simulator.kernel.clock import format_timestamp
from simulator.kernel.journal import Event
from simulator.kernel.store import TableKey
from simulator.kernel.world import TimerRow, World

if TYPE_CHECKING:
    from simulator.engine.scenario.files.folder import Renewal

TABLES: tuple[TableKey[Any], ...] = (ACTIVE, BINDINGS, COUNTS, FAILURES, HELD, INSTANTS, LOG, STOPPED, UPLOADED)


class Engine:
    """The scenarios of a process: those that ship, and in every world those uploaded to it."""

    def __init__(self, actions: ActionTable, library: Library, outages: Outages) -> None:
        self._catalogue = Catalogue(library)
        self._context = Context(actions, self._catalogue, outages)
        carry_out = partial(steps.carry_out, self._context)
        self.timers = (
            TimerRow(STEP, carry_out, "a step that a rule of a scenario planned"),
            TimerRow(TIMELINE, carry_out, "a step of the timeline of a scenario"),
        )

    # What there is

    def knows(self, world: World, name: str) -> bool:
        return self._catalogue.knows(world, name)

    def names(self, world: World) -> list[str]:
        """Every scenario of a world, those that ship first."""
        return self._catalogue.names(world)

    def file(self, world: World, name: str) -> ScenarioFile:
        """A scenario by name; an uploaded one hides the one that ships. UnknownScenario."""
        return self._catalogue.file(world, name)

    def upload(self, world: World, file: ScenarioFile) -> None:
        """Keep a scenario in the world, in place of one of the same name; inside a change. CannotActivate."""
        activation.replace(self._context, world, file)

    def renew(self, world: World, renewal: Renewal) -> bool:
        """Let a file that was read anew hold in a world; inside a change. Whether the scenario is active there."""
        return activation.renew(self._context, world, renewal)

    # What is active

    def active(self, world: World) -> list[str]:
        return activation.active(world)

    def activate(self, world: World, names: Iterable[str]) -> list[str]:
        """Make exactly these scenarios active, later ones winning; inside a change. UnknownScenario, CannotActivate."""
        return activation.activate(self._context, world, names)

    # What happens

    def on_event(self, world: World, event: Event, subject: JsonObject) -> None:
        """Offer an emitted event to the scenarios; inside the change that emitted it."""
        if event.type == self._context.outages.event:
            self._network_changed(world)
        rules.dispatch(self._context, world, Happening(event.environment, event.type, subject, event.object_id))

    def on_created(self, world: World, environment: str, subject: JsonObject, object_id: str) -> None:
        """Offer a resource whose creation emits no event."""
        rules.dispatch(self._context, world, Happening(environment, CREATED, subject, object_id))

    def on_failure(self, world: World, timer: Timer, error: Exception) -> None:
        """A step broke and was undone; inside the change of its timer."""
        steps.failed(world, timer, error)

    def _network_changed(self, world: World) -> None:
        """What waited goes on, what is planned is stretched anew, and what cannot happen now waits.

        In this order: what is released must be stretched by the networks as they are now, and what both have planned
        may need another network that is down.
        """
        outages = self._context.outages
        holding.release(world, outages.status)
        slowing.restretch(world, outages.status, lambda name: self._slowdown(world, name))
        drop_beyond(world)
        holding.hold(world, self._context.actions, outages)

    def _slowdown(self, world: World, name: str) -> Mapping[Any, float]:
        return self.file(world, name).script.slowdown if self.knows(world, name) else {}

    def answer_for(
        self,
        world: World,
        environment: str,
        method: str,
        path: str,
        body: Mapping[str, object],
    ) -> Answer | None:
        """What a rule `on: request` answers this call with (decision H2), or None; inside a change with its origin."""
        return rules.answer_for(self._context, world, environment, method, path, body, present_origin(world).scenario)

    # What it has done

    def listing(self, world: World) -> list[ScenarioEntry]:
        """The `summary` of every scenario."""
        return [self.summary(world, name) for name in self.names(world)]

    def summary(self, world: World, name: str) -> ScenarioEntry:
        """{name, description, source, active, stopped (why, or null)}; UnknownScenario."""
        file = self.file(world, name)
        return {
            "name": name,
            "description": file.description,
            "source": file.source,
            "active": name in self.active(world),
            "stopped": stops.why_stopped(world, name),
        }

    def progress(self, world: World, name: str) -> JsonObject:
        """What the logbook has (the newest of each kind), and what is pending, in firing order; UnknownScenario.

        Rules fired, steps done, skipped and failed, and each time that it was stopped. At the end of what is pending
        stand the steps that wait for a network, without due time (decision S22).
        """
        if not self.knows(world, name):
            raise UnknownScenario(name, self.names(world))
        timers = world.agenda.in_firing_order(timer.key for timer in steps_of(world, name))
        pending: list[JsonObject] = [
            {
                "due_at": format_timestamp(timer.due_at_ms),
                "part": step.part,
                "place": step.place,
                "object": step.target,
                "action": step.does,
            }
            for timer, step in ((timer, PlannedStep.of(timer)) for timer in timers)
        ]
        pending += [
            {
                "due_at": None,
                "waiting_for": list(held.networks),
                "part": held.part,
                "place": held.place,
                "object": held.target,
                "action": described(held.action, held.hand_to),
            }
            for held in holding.held_steps(world, scenario=name)
        ]
        gone = dropped(world)
        lost: JsonObject = {"dropped": gone, "truncated": True} if gone else {}
        return {
            "rules_fired": notes(world, name, "fired"),
            "steps_done": notes(world, name, "done"),
            "skipped": notes(world, name, "skipped"),
            "failed": notes(world, name, "failed"),
            "stopped": notes(world, name, "stopped"),
            "pending": pending,
            **lost,
        }

    def describe(self, world: World, name: str) -> JsonObject:
        """The scenario as written, and what it has done so far; UnknownScenario."""
        file = self.file(world, name)
        text = {"text": file.text} if file.text else {}
        return {**file.document, **self.summary(world, name), **text, **self.progress(world, name)}
