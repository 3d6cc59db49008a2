"""POST /trigger: produce an event with API requests, actions and timers, along the shortest legal path. All steps up to
the next wait are performed in one transaction, and the clock advances only if a timer must fire.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from itertools import takewhile

from simulator.engine.control.call import ControlCall
from simulator.engine.control.objects.stepping import NO_SCENARIO, REFUSALS, Stepper
from simulator.engine.control.operation import WAIT, calls_under
from simulator.engine.control.shapes import TriggerAnswer, TriggerStep, embedded
from simulator.engine.records.records import find, no_resource
from simulator.engine.rows.action import events_since
from simulator.engine.rows.error import ApiError, ControlError
from simulator.engine.scenario.play.delays import held_steps
from simulator.engine.scenario.play.filling import NoValue
from simulator.engine.scenario.play.pending import PlannedStep, steps_on
from simulator.engine.scenario.play.rules import bind
from simulator.engine.scenario.run import drive, paths
from simulator.engine.scenario.run.triggers import Setup, triggers_of
from simulator.engine.text.fields import Body, Text
from simulator.engine.text.json import JsonObject, loads
from simulator.engine.vocabulary.vocabulary import vocabulary_of
from simulator.engine.worlds.simulator import Simulator
from simulator.kernel.agenda import Timer
from simulator.kernel.clock import LAST_MS, format_timestamp
from simulator.kernel.journal import Cause, Event
from simulator.kernel.world import World

operation = calls_under("Actions")

_NO_EVENT = "all steps were done, but the event did not occur"


class TriggerBody(Body):
    event: Text
    """The event type to produce."""
    target: Text | None = None
    """The id of the resource that the event should be about. Without it, a resource is found or created."""


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
    """Produce an event about the target, or about a resource that is found or created. Use this call to get a realistic
    event in a test without setting up its history. The trigger makes the requests of an integrator, performs actions of
    third parties and advances the clock if needed. The response lists every step. Fails with 409 if the event cannot be
    produced.
    """
    world, event, target = call.world, call.body.event, call.body.target
    call.patience()
    call.require_event("event", event)
    about = world.wiring.kinds.get(vocabulary_of(world).events[event].object)
    is_sole = about is not None and about.sole is not None and target == about.sole(world).object_id
    if target is None or is_sole:
        factory = paths.factory_for(world, event)
        start = factory.set_up(world, call.environment, event)
        return await _Route(call, world, call.environment, event).follow(start, factory.usual.get(event))
    record = find(world, target)
    if record is None:
        raise no_resource(world, target, "target")
    start = triggers_of(world).incoming(world, record, event) or Setup((), record.id)
    return await _Route(call, world, record.environment, event).follow(start)


class _Route:
    def __init__(self, call: ControlCall, world: World, environment: str, event: str) -> None:
        self._call, self._world, self._environment, self._event = call, world, environment, event
        self._runtime, self._actions = call.runtime, call.simulator.actions
        self._cause = Cause("action", "trigger", call.id)
        self._before = world.journal.event_count
        self._subject = ""
        self._stepper = Stepper(call.runtime, world, environment, self._cause)
        self._fill = self._stepper.fill
        self._done: list[TriggerStep] = []
        self._has_begun = self._moved_clock = False

    async def follow(self, start: Setup, usual: drive.Drive | None = None) -> TriggerAnswer:
        """Create the resources, then follow `usual` or the first legal path, or raise `ControlError` 409."""
        self._subject = start.subject
        with self._world.change(self._cause):
            rest = self._begin(start, usual)
        self._has_begun = True
        await self._runtime.follow_up(self._world)
        while rest and self._reached() is None:
            until, *more = rest
            assert isinstance(until, drive.Until)
            await self._wait(until)
            rest = self._instant(tuple(more)) if self._reached() is None else ()
            await self._runtime.follow_up(self._world)
        reached = self._reached()
        if reached is None:
            raise self._stopped(_NO_EVENT)
        world = self._world
        return {
            "event": embedded(reached.raw),
            "target": reached.object_id,
            "steps": self._done,
            "events": [embedded(event.raw) for event in events_since(world, self._before)],
            "advanced_to": format_timestamp(world.now_ms) if self._moved_clock else None,
            **self._call.stopped_scenarios(world),
        }

    # Path selection

    def _begin(self, start: Setup, usual: drive.Drive | None) -> drive.Drive:
        """Create the object and follow the first legal path, in a transaction. Return its steps from a wait on."""
        self._instant(start.drive)
        if self._reached() is not None:
            return ()
        refusals: list[ControlError] = []
        for path in [usual] if usual is not None else self._paths(start):
            done = len(self._done)
            try:
                return self._instant(path)
            except ControlError as refusal:
                if refusal.code == "clock_busy":
                    raise
                del self._done[done:]
                refusals.append(refusal)
        raise refusals[0]

    def _paths(self, start: Setup) -> list[drive.Drive]:
        record = find(self._world, self._fill(start.subject))
        if record is None:
            raise self._stopped(_NO_EVENT)
        try:
            return [path.steps for path in paths.paths_to(self._world, self._actions, record, self._event)]
        except ControlError as refusal:
            raise self._stopped(refusal.message) if start.drive else refusal from None

    def _instant(self, steps: drive.Drive) -> drive.Drive:
        """Run the steps up to the next wait, which must be able to end, in one transaction. Return the rest."""
        group = list(takewhile(lambda step: not isinstance(step, drive.Until), steps))
        rest = steps[len(group) :]
        if rest:
            self._call.require_idle(self._world)
        done, doing = len(self._done), ""
        try:
            with self._world.change(self._cause), self._world.store.attempt():
                for step in group:
                    name, work = next(iter(step.items())) if isinstance(step, Mapping) else ("", step)
                    if isinstance(work, drive.DriveCall | drive.DriveAction):
                        doing = self._in_words(work)
                        self._do(name, work, doing)
                if rest and isinstance(rest[0], drive.Until) and self._reached() is None:
                    doing = "waiting for the clock"
                    self._rehearse(rest[0])
        except REFUSALS as refusal:
            del self._done[done:]
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

    def _do(self, name: str, step: drive.DriveCall | drive.DriveAction, words: str) -> None:
        answer = self._stepper.do(name, step)
        new_id = answer.get("id") if isinstance(answer, dict) and name else None
        self._note(f"{words} → {new_id}" if new_id and new_id not in words else words)

    def _note(self, words: str) -> None:
        self._done.append({"did": words, "at": format_timestamp(self._world.now_ms)})

    def _in_words(self, step: drive.DriveCall | drive.DriveAction) -> str:
        template = step.path if isinstance(step, drive.DriveCall) else step.target
        try:
            subject = self._fill(template)
        except NoValue:
            subject = template
        if isinstance(step, drive.DriveCall):
            return f"{step.method.upper()} {subject}"
        parameters = (f"{name} {value}" for name, value in step.parameters.items())
        return " ".join([step.action, *([] if subject is None else [str(subject)]), *parameters])

    # Waits

    def _rehearse(self, until: drive.Until) -> None:
        """Raise `ControlError` 409 if no timer of the resource will emit the event."""
        target = self._fill(until.target)
        timer = _next_timer(self._world, target, until.timers)
        if timer is None:
            why = f"no pending timer will change {target}; perform an action on {target} instead"
            raise ControlError(409, "invalid_transition", why)
        if len(self._world.wiring.timers[timer.kind].moves) <= 1 or until.most > 1:
            return  # The timer has only one outcome, or it will fire several times.
        emitted = rehearse(self._call.simulator, self._world, timer, self._cause, empty=until.empty)
        if not any(event.type == self._event for event in emitted):
            about_target = (event for event in emitted if event.object_id == target)
            shown: JsonObject = next((loads(event.raw)["data"]["object"] for event in about_target), {})
            parts = (shown, *(part for part in shown.values() if isinstance(part, dict)))
            code = next((part["failure_code"] for part in parts if part.get("failure_code")), None)
            outcome = f"{target} would fail with {code}" if code else f"{target} would succeed"
            raise ControlError(409, "invalid_transition", f"the next timer does not cause the event: {outcome}")

    async def _wait(self, until: drive.Until) -> None:
        """Advance to the next timers of the resource until the event occurs, or raise `ControlError` 409."""
        world, target = self._world, self._fill(until.target)
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
            self._note(
                f"advanced the clock to {format_timestamp(timer.due_at_ms)}: {world.wiring.timers[timer.kind].does}"
            )
            if self._reached() is not None:
                return
        why = "the timers fired, but the event did not occur, because something else changed the object in the meantime"
        raise self._stopped(why)

    async def _advance_empty(self, timer: Timer) -> None:
        """Empty the account's balance, fire a timer, and restore the balance, all in one transaction."""
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
            self._note("emptied the balance for this timer (set_balance), and restored it")
        self._runtime.driver.anchor(world)
        self._runtime.changed(world)

    def _free(self, target: str) -> None:
        """Detach a resource from its scenarios, so that no scenario step changes it while the clock advances."""
        world = self._world
        scenarios = [PlannedStep.of(timer).scenario for timer in steps_on(world, target)]
        scenarios += [held.scenario for held in held_steps(world, about=target)]
        if scenarios:
            with world.change(self._cause):
                bind(world, target, NO_SCENARIO)
            names = ", ".join(dict.fromkeys(scenarios))
            self._note(f"released {target} from the scenario {names}")

    def _reached(self) -> Event | None:
        """Return the event if it was emitted about the target resource (without a target: any), otherwise None."""
        try:
            subject = self._fill(self._subject)
        except NoValue:
            return None
        for event in events_since(self._world, self._before):
            is_ours = subject in ("", event.object_id) and event.environment == self._environment
            if is_ours and event.type == self._event:
                return event
        return None


def _next_timer(world: World, target: str, kinds: tuple[str, ...]) -> Timer | None:
    """Return a resource's next timer of the given kinds within simulated time, or None if there is none."""
    planned = [timer for kind in kinds if (timer := world.agenda.planned(kind, target)) is not None]
    planned = [timer for timer in planned if timer.due_at_ms <= LAST_MS]
    return min(planned, key=lambda timer: (timer.due_at_ms, timer.number), default=None)


def rehearse(simulator: Simulator, world: World, timer: Timer, cause: Cause, *, empty: bool) -> Sequence[Event]:
    """Return the events that a timer would emit if the world did not change before it fires. The timer fires in a copy
    of the world, because the clock of a world never goes back. If `empty` is True, the account's balance in the copy is
    zero. The copy includes the writes of the transaction in progress.
    """
    copy = simulator.from_state(simulator.state_of(world), world.id)
    copy.clock.move_to(max(copy.now_ms, timer.due_at_ms))
    triggers = triggers_of(copy)
    without_funds = triggers.without_funds(copy, simulator.actions, timer.target, cause) if empty else nullcontext()
    with copy.change(cause), without_funds:
        copy.agenda.take(timer)
        copy.wiring.timers[timer.kind].handler(copy, timer)
    return events_since(copy, world.journal.event_count)
