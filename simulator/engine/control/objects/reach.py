"""Reaching an event: real objects are brought to it through the same doors as everybody else's.

`POST /trigger` without a target makes an object that no scenario touches (`scenario.run.triggers`); from where an
object stands, it goes the shortest legal way (`scenario.run.paths`). What happens at one instant happens whole or
not at all; the clock is moved only where a timer has to fire.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from itertools import takewhile
from typing import Any

from simulator.engine.control.call import ControlCall
from simulator.engine.control.operation import WAIT, calls_under, known_event
from simulator.engine.control.shapes import TriggerAnswer, TriggerStep, embedded
from simulator.engine.records.records import find, no_resource
from simulator.engine.rows.action import events_since
from simulator.engine.rows.error import ApiError, ControlError
from simulator.engine.rows.operation import Call
from simulator.engine.rows.pipeline import perform
from simulator.engine.rows.vocabulary import identity_of, vocabulary_of
from simulator.engine.scenario.play import held_steps
from simulator.engine.scenario.play.filling import NoValue, fill
from simulator.engine.scenario.play.pending import PlannedStep, steps_on
from simulator.engine.scenario.play.rules import bind
from simulator.engine.scenario.run.drive import Drive, DriveAction, DriveCall, Until
from simulator.engine.scenario.run.paths import factory_for, paths_to
from simulator.engine.scenario.run.triggers import Setup, triggers_of
from simulator.engine.text.fields import Body, Text
from simulator.engine.text.json import JsonObject, dumps, loads
from simulator.engine.worlds.simulator import Simulator
from simulator.kernel.agenda import Timer
from simulator.kernel.clock import LAST_MS, format_timestamp
from simulator.kernel.journal import Cause, Event
from simulator.kernel.ledger import Overdrawn
from simulator.kernel.machine import IllegalMove
from simulator.kernel.world import World

operation = calls_under("Actions")

NO_SCENARIO = "(trigger)"
"""Objects on the way to an event are bound to a scenario that cannot exist: only timers and calls move them."""


_REFUSALS = (ControlError, ApiError, IllegalMove, Overdrawn, NoValue)


class TriggerBody(Body):
    event: Text
    """The event type to reach."""
    target: Text | None = None
    """The resource it is to tell of, by id; one is found or made when this is left out."""


@operation(
    "POST /trigger",
    "Reach an event",
    body=TriggerBody,
    query=WAIT,
    by_environment=True,
    recorded_as="call",
    keeps_answer=True,
)
async def trigger(call: ControlCall) -> TriggerAnswer:
    """Bring the world to an event: on the target, or on a resource that is found or made.

    Does what an integrator and the world outside would do, moves the clock where time has to pass, and tells every
    step. 409 when there is no way.
    """
    world, event, target = call.world, call.body.event, call.body.target
    call.patience()
    known_event(world, "event", event)
    about = world.wiring.kinds.get(vocabulary_of(world).events[event].object)
    is_sole = about is not None and about.sole is not None and target == about.sole(world).object_id
    if target is None or is_sole:
        factory = factory_for(world, event)
        start = factory.set_up(world, call.environment, event)
        return await _Way(call, world, call.environment, event).go(start, factory.usual.get(event))
    record = find(world, target)
    if record is None:
        raise no_resource(world, target, "target")
    start = triggers_of(world).incoming(world, record, event) or Setup((), record.id)
    return await _Way(call, world, record.environment, event).go(start)


class _Way:
    """The way to one event: the steps made so far, what they answered, and how it ends."""

    def __init__(self, call: ControlCall, world: World, environment: str, event: str) -> None:
        self._call = call
        self._runtime = call.runtime
        self._actions = call.simulator.actions
        self._world = world
        self._environment = environment
        self._event = event
        self._cause = Cause("action", "trigger", call.id)
        self._before = world.journal.event_count
        self._subject = ""
        self._answers: JsonObject = {}
        self._done: list[TriggerStep] = []
        self._has_begun = False
        self._moved_clock = False

    async def go(self, start: Setup, usual: Drive | None = None) -> TriggerAnswer:
        """Make what there has to be, and go the usual way from there, or the first that is open; ControlError 409."""
        self._subject = start.subject
        with self._world.change(self._cause):
            rest = self._begin(start, usual)
        self._has_begun = True
        await self._runtime.follow_up(self._world)
        while rest and self._reached() is None:
            until, *more = rest
            assert isinstance(until, Until)
            await self._wait(until)
            rest = self._instant(tuple(more)) if self._reached() is None else ()
            await self._runtime.follow_up(self._world)
        reached = self._reached()
        if reached is None:
            raise self._stopped("the steps were made, but the event did not come")
        return self._answer(reached)

    def _answer(self, reached: Event) -> TriggerAnswer:
        world = self._world
        return {
            "event": embedded(reached.raw),
            "target": reached.object_id,
            "steps": self._done,
            "events": [embedded(event.raw) for event in events_since(world, self._before)],
            "advanced_to": format_timestamp(world.now_ms) if self._moved_clock else None,
            **self._call.stopped_scenarios(world),
        }

    # Choosing

    def _begin(self, start: Setup, usual: Drive | None) -> Drive:
        """Make the start and the first instant of the first open way, all or none; what is left from its wait on."""
        self._instant(start.drive)
        if self._reached() is not None:
            return ()
        refusals: list[ControlError] = []
        for way in [usual] if usual is not None else self._ways(start):
            made = len(self._done)
            try:
                return self._instant(way)
            except ControlError as refusal:
                if refusal.code == "clock_busy":
                    raise
                del self._done[made:]
                refusals.append(refusal)
        raise refusals[0]

    def _ways(self, start: Setup) -> list[Drive]:
        record = find(self._world, fill(start.subject, self._answers))
        if record is None:
            raise self._stopped("the steps were made, but the event did not come")
        try:
            return [path.steps for path in paths_to(self._world, self._actions, record, self._event)]
        except ControlError as refusal:
            raise self._stopped(refusal.message) if start.drive else refusal from None

    def _instant(self, steps: Drive) -> Drive:
        """Make the steps up to the next wait, all or none; what is left from that wait on, which is tried first."""
        group = list(takewhile(lambda step: not isinstance(step, Until), steps))
        rest = steps[len(group) :]
        if rest:
            self._call.require_idle(self._world)
        made, doing = len(self._done), ""
        try:
            with self._world.change(self._cause), self._world.store.attempt():
                for step in group:
                    name, work = next(iter(step.items())) if isinstance(step, Mapping) else ("", step)
                    if isinstance(work, DriveCall | DriveAction):
                        doing = self._in_words(work)
                        self._do(name, work)
                if rest and isinstance(rest[0], Until) and self._reached() is None:
                    doing = "waiting for the clock"
                    self._try_out(rest[0])
        except _REFUSALS as refusal:
            del self._done[made:]
            code = f"{refusal.status} {refusal.code}: " if isinstance(refusal, ApiError) else ""
            raise self._stopped(f"{doing}: {code}{getattr(refusal, 'message', refusal)}", refusal) from None
        return rest

    def _stopped(self, why: str, refusal: BaseException | None = None) -> ControlError:
        status = refusal.status if isinstance(refusal, ControlError) and refusal.status == 404 else 409
        record = find(self._world, self._subject) if self._subject and "${" not in self._subject else None
        members: JsonObject = {"allowed": [] if record is None else self._actions.allowed(self._world, record)}
        if isinstance(refusal, ApiError):
            members["refusal"] = refusal.envelope()["error"]
        if self._has_begun and self._done:
            members["steps"] = self._done
        if self._moved_clock:
            members["advanced_to"] = format_timestamp(self._world.now_ms)
        return ControlError(status, "invalid_transition", f"{self._event} cannot be reached: {why}", **members)

    # Steps

    def _do(self, name: str, step: DriveCall | DriveAction) -> None:
        words = self._in_words(step)
        answer = self._ask(step) if isinstance(step, DriveCall) else self._act(step)
        made = answer.get("id") if isinstance(answer, dict) and name else None
        if name:
            self._answers[name] = answer
        self._tell(f"{words} → {made}" if made and made not in words else words)

    def _tell(self, words: str) -> None:
        self._done.append({"did": words, "at": format_timestamp(self._world.now_ms)})

    def _in_words(self, step: DriveCall | DriveAction) -> str:
        if isinstance(step, DriveCall):
            return f"{step.method.upper()} {self._filled(step.path)}"
        shown = [f"{name} {value}" for name, value in step.parameters.items()]
        target = [] if step.target is None else [self._filled(step.target)]
        return " ".join([step.action, *target, *shown])

    def _filled(self, text: str) -> str:
        try:
            return str(fill(text, self._answers))
        except NoValue:
            return text

    def _ask(self, step: DriveCall) -> Any:
        """A call of the interface as the account makes it, gates included, under the cause of the trigger."""
        world, path, body = self._world, fill(step.path, self._answers), fill(step.body or {}, self._answers)
        rows, variables = self._runtime.router.find(path) or ({}, {})
        operation = rows[step.method.upper()]
        call = Call(world, self._environment, variables)
        gates = identity_of(self._world).check_gates
        answer = perform(operation, call, body, cause=self._cause, scenario=NO_SCENARIO, gates=gates)
        return None if answer is None else loads(dumps(answer))

    def _act(self, step: DriveAction) -> Any:
        target = None if step.target is None else fill(step.target, self._answers)
        parameters = fill(step.parameters, self._answers)
        done = self._actions.perform(self._world, step.action, target, parameters, self._environment, self._cause)
        return loads(dumps(done.resource))

    # Waiting

    def _try_out(self, until: Until) -> None:
        """Refuse a wait that nothing will end, or a single run that, as things stand, comes out otherwise."""
        target = fill(until.target, self._answers)
        timer = _next_timer(self._world, target, until.timers)
        if timer is None:
            raise ControlError(409, "invalid_transition", f"no timer of the service is going to move {target}")
        if len(self._world.wiring.timers[timer.kind].moves) <= 1 or until.most > 1:
            return  # it can come out in one way only, or is to come out often
        emitted = rehearse(self._call.simulator, self._world, timer, self._cause, empty=until.empty)
        if not any(event.type == self._event for event in emitted):
            told = (event for event in emitted if event.object_id == target)
            shown: JsonObject = next((loads(event.raw)["data"]["object"] for event in told), {})
            parts = (shown, *(part for part in shown.values() if isinstance(part, dict)))
            code = next((part["failure_code"] for part in parts if part.get("failure_code")), None)
            outcome = f"it would fail with {code}" if code else "it would succeed"
            raise ControlError(409, "invalid_transition", f"the run at its time comes out otherwise: {outcome}")

    async def _wait(self, until: Until) -> None:
        """Advance to the timers of the object, until the event is there or none is left."""
        world, target = self._world, fill(until.target, self._answers)
        self._free(target)
        for _ in range(until.most):
            timer = _next_timer(world, target, until.timers)
            if timer is None:
                break
            before = world.now_ms
            try:
                await (self._advance_empty(timer) if until.empty else self._call.advance(world, timer.due_at_ms))
            except ControlError as error:
                if error.code not in ("clock_busy", "advance_cancelled"):
                    raise
                raise self._stopped(error.message) from None
            if world.now_ms > before:
                self._moved_clock = True
            self._tell(
                f"let the clock reach {format_timestamp(timer.due_at_ms)}: {world.wiring.timers[timer.kind].does}"
            )
            if self._reached() is not None:
                return
        raise self._stopped("the timers did not bring it about; meanwhile something else had happened")

    async def _advance_empty(self, timer: Timer) -> None:
        """Let a run come due with an empty balance, in one change with putting the balance back."""
        world = self._world

        def is_next() -> bool:
            due = world.agenda.next()
            return due is not None and due.key == timer.key

        await self._call.advance(world, timer.due_at_ms, is_next)
        if is_next():
            world.clock.move_to(max(timer.due_at_ms, world.now_ms))
            without_funds = triggers_of(world).without_funds(world, self._actions, timer.target, self._cause)
            with world.change(self._cause), without_funds:
                world.fire_next(timer.due_at_ms)
            self._tell("emptied the balance for this run alone (set_balance), and put it back")
        self._runtime.driver.anchor(world)
        self._runtime.changed(world)

    def _free(self, target: str) -> None:
        """Bind an object to no scenario while the clock moves, so that only timers act on it."""
        world = self._world
        scenarios = [PlannedStep.of(timer).scenario for timer in steps_on(world, target)]
        scenarios += [held.scenario for held in held_steps.held_steps(world, about=target)]
        if scenarios:
            with world.change(self._cause):
                bind(world, target, NO_SCENARIO)
            names = ", ".join(dict.fromkeys(scenarios))
            self._tell(f"released {target} from the scenario {names}")

    # Looking

    def _reached(self) -> Event | None:
        """The event, about the object of this way where it has one."""
        try:
            subject = fill(self._subject, self._answers)
        except NoValue:
            return None
        for event in events_since(self._world, self._before):
            about = subject in ("", event.object_id) and event.environment == self._environment
            if about and event.type == self._event:
                return event
        return None


def _next_timer(world: World, target: str, kinds: tuple[str, ...]) -> Timer | None:
    """The next timer of these kinds on this object that can still come: none beyond the end of simulated time."""
    planned = [timer for kind in kinds if (timer := world.agenda.planned(kind, target)) is not None]
    planned = [timer for timer in planned if timer.due_at_ms <= LAST_MS]
    return min(planned, key=lambda timer: (timer.due_at_ms, timer.number), default=None)


def rehearse(simulator: Simulator, world: World, timer: Timer, cause: Cause, *, empty: bool) -> Sequence[Event]:
    """The events that a timer would emit at its due time, as things stand; with an empty balance if that is asked.

    It fires in a copy, whose clock can be moved there and forgotten: the clock of a world never goes back. What the
    present change has written is in the copy, because its tables are copied as they are.
    """
    copy = simulator.from_state(simulator.state_of(world), world.id)
    copy.clock.move_to(max(copy.now_ms, timer.due_at_ms))
    triggers = triggers_of(copy)
    without_funds = triggers.without_funds(copy, simulator.actions, timer.target, cause) if empty else nullcontext()
    with copy.change(cause), without_funds:
        copy.agenda.take(timer)
        copy.wiring.timers[timer.kind].handler(copy, timer)
    return events_since(copy, world.journal.event_count)
