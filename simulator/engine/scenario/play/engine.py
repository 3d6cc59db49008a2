"""The interface of the scenario engine: activation, events, requests and progress. All state is in rows and timers of
the world, so snapshots contain it, and runs repeat exactly.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

from simulator.engine.records.origins import present_origin
from simulator.engine.rows.action import ActionTable
from simulator.engine.rows.error import ApiError, ControlError
from simulator.engine.rows.provider import Outages
from simulator.engine.scenario.files.library import Library, Renewal, ScenarioFile
from simulator.engine.scenario.language import shapes
from simulator.engine.scenario.play import activation, delays, rules, stops
from simulator.engine.scenario.play.activation import ACTIVE, BINDINGS, COUNTS, stop
from simulator.engine.scenario.play.catalogue import UPLOADED, Catalogue, Context, UnknownScenario
from simulator.engine.scenario.play.delays import HELD, Held
from simulator.engine.scenario.play.logbook import LOG, dropped, notes
from simulator.engine.scenario.play.pending import STEP, TIMELINE, PlannedStep, note_step, step_name, steps_of
from simulator.engine.scenario.play.rules import Answer, Occurrence, hand_over, latest
from simulator.engine.scenario.play.script import CREATED
from simulator.engine.scenario.play.stops import FAILURES, INSTANTS, STOPPED
from simulator.engine.text.json import JsonObject
from simulator.kernel.agenda import Timer
from simulator.kernel.clock import format_timestamp
from simulator.kernel.journal import Event, shared_cause
from simulator.kernel.ledger import Overdrawn
from simulator.kernel.machine import IllegalMove
from simulator.kernel.store import TableKey
from simulator.kernel.world import TimerRow, World

TABLES: tuple[TableKey[Any], ...] = (ACTIVE, BINDINGS, COUNTS, FAILURES, HELD, INSTANTS, LOG, STOPPED, UPLOADED)


class Engine:
    """The scenario engine of a process. It plays shipped scenarios, and scenarios that were uploaded to a world."""

    def __init__(self, actions: ActionTable, library: Library, outages: Outages) -> None:
        self.catalogue = Catalogue(library)
        self._context = Context(actions, self.catalogue, outages)
        carry_out_step = partial(carry_out, self._context)
        self.timers = (
            TimerRow(STEP, carry_out_step, "a step planned by a scenario rule"),
            TimerRow(TIMELINE, carry_out_step, "a step in a scenario's timeline"),
        )

    # --- scenarios ----------------------------------------------------------------------------------------------

    # These methods have the same effects and errors as the functions in `activation`.

    def upload(self, world: World, file: ScenarioFile) -> None:
        activation.upload(self._context, world, file)

    def renew(self, world: World, renewal: Renewal) -> bool:
        return activation.renew(self._context, world, renewal)

    def active(self, world: World) -> list[str]:
        return list(activation.active(world))

    def activate(self, world: World, names: Iterable[str]) -> list[str]:
        return activation.activate(self._context, world, names)

    # --- occurrences --------------------------------------------------------------------------------------------

    def on_event(self, world: World, event: Event, subject: JsonObject) -> None:
        """Let scenarios react to an event. Call this method inside the transaction that emits the event."""
        if event.type == self._context.outages.event:
            # The order matters. Released steps must be stretched for the new status, too. Any remaining step may need
            # another network that is down.
            outages = self._context.outages
            delays.release(world, outages.status)
            delays.restretch(world, outages.status, partial(self._slowdown, world))
            delays.hold(world, self._context.actions, outages)
        rules.dispatch(self._context, world, Occurrence(event.environment, event.type, subject, event.object_id))

    def _slowdown(self, world: World, name: str) -> Mapping[str, float]:
        return self.catalogue.file(world, name).script.slowdown if self.catalogue.knows(world, name) else {}

    def on_created(self, world: World, environment: str, subject: JsonObject, object_id: str) -> None:
        """Let scenarios react to a new resource. Call this method if the creation of the resource emits no event."""
        rules.dispatch(self._context, world, Occurrence(environment, CREATED, subject, object_id))

    def on_failure(self, world: World, timer: Timer, error: Exception) -> None:
        """Record a step that raised an exception and was undone. A second similar failure stops the step's scenario.
        Call this method inside the transaction in which the step's timer fires.
        """
        step = PlannedStep.of(timer)
        reason = stops.record_failure(world, step, error)
        if reason is not None:
            stop(world, step.scenario, step.part, step.place, reason)

    def answer_for(
        self, world: World, environment: str, method: str, path: str, body: Mapping[str, object]
    ) -> Answer | None:
        """Call `rules.answer_for` with the scenario that the present request has chosen."""
        return rules.answer_for(self._context, world, environment, method, path, body, present_origin(world).scenario)

    # --- progress -----------------------------------------------------------------------------------------------

    def listing(self, world: World) -> list[shapes.ScenarioEntry]:
        """Return the summaries of all scenarios that a world can use."""
        return [self.summary(world, name) for name in self.catalogue.names(world)]

    def summary(self, world: World, name: str) -> shapes.ScenarioEntry:
        """Return the summary of a scenario. Raise `UnknownScenario` if there is no scenario with this name."""
        file = self.catalogue.file(world, name)
        return {
            "name": name,
            "description": file.description,
            "source": file.source,
            "active": name in self.active(world),
            "stopped": stops.why_stopped(world, name),
        }

    def progress(self, world: World, name: str) -> JsonObject:
        """Return the logbook entries of a scenario, and its pending steps in firing order. Steps that wait for an
        unavailable network come last (decision S22). Raise `UnknownScenario` if there is no such scenario.
        """
        if not self.catalogue.knows(world, name):
            raise UnknownScenario(name, self.catalogue.names(world))
        timers = world.agenda.in_firing_order(timer.key for timer in steps_of(world, name))
        held = delays.held_steps(world, scenario=name)
        pending = [_pending({"due_at": format_timestamp(one.due_at_ms)}, PlannedStep.of(one)) for one in timers]
        pending += [_pending({"due_at": None, "waiting_for": list(one.networks)}, one) for one in held]
        count = dropped(world)
        lost: JsonObject = {"dropped": count, "truncated": True} if count else {}
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
        """Return a scenario's document, summary and progress. Raise `UnknownScenario` if there is none."""
        file = self.catalogue.file(world, name)
        text = {"text": file.text} if file.text else {}
        return {**file.document, **self.summary(world, name), **text, **self.progress(world, name)}


def _pending(when: JsonObject, step: PlannedStep | Held) -> JsonObject:
    name = step_name(step.action, step.hand_to)
    return {**when, "part": step.part, "place": step.place, "object": step.target, "action": name}


_REFUSALS = (ControlError, ApiError, IllegalMove, Overdrawn)


def carry_out(context: Context, world: World, timer: Timer) -> None:
    """Carry out a due step, or record why it was refused. Call this in the transaction in which the timer fires."""
    step = PlannedStep.of(timer)
    too_many = stops.count_step(world, step.scenario) if step.at_once else None
    if too_many is not None:
        stop(world, step.scenario, step.part, step.place, too_many)
    elif step.hand_to is not None:
        _hand_over(context, world, step, step.hand_to)
    elif step.action is not None:
        _act(context, world, step, step.action)


def _act(context: Context, world: World, step: PlannedStep, action: str) -> None:
    # Actions on the world have no target. The `target` of a timeline step is only the scenario's name unless the file
    # specifies a target, which is then in `acts_on`.
    acts_on_world = any(not row.kinds for row in context.actions.rows.get(action, ()))
    target = step.acts_on or (None if acts_on_world or step.of_timeline else step.target)
    cause = shared_cause("rule", step.scenario, step.place)
    try:
        # The inner attempt undoes the writes of a refused action. The outer transaction continues and notes the
        # refusal.
        with world.store.attempt():
            context.actions.carry_out(world, action, target, step.parameters, step.environment, cause)
    except _REFUSALS as refusal:
        note_step(world, "skipped", step, reason=str(getattr(refusal, "message", refusal)))
        return
    stops.record_success(world, step.scenario)
    note_step(world, "done", step)


def _hand_over(context: Context, world: World, step: PlannedStep, successor: str) -> None:
    happening = latest(world, step.acts_on or step.target)
    if happening is None:
        note_step(world, "skipped", step, reason="there is no object to hand over")
        return
    hand_over(context, world, step.scenario, successor, happening, step.part, step.place)
