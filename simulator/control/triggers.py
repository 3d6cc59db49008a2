"""Triggering an event: walking to it with real objects, through the same doors as everybody else.

`POST /trigger` without a target walks as `scenario.walks` says, with objects that no scenario touches; with a target it
moves that object by the shortest legal way (`scenario.trigger`). What happens at one instant happens whole or not at
all; the clock is moved only where a law needs it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import orjson

from simulator.control.operation import WAIT, ControlCall, ControlOperation, known_event
from simulator.control.shapes import TriggerAnswer
from simulator.kernel.agenda import Timer
from simulator.kernel.clock import LAST_MS, format_timestamp
from simulator.kernel.journal import Cause, Event
from simulator.kernel.ledger import Overdrawn, available
from simulator.kernel.machine import IllegalMove
from simulator.kernel.world import Origin, World
from simulator.resources.auth import require_access
from simulator.resources.profile import profile_of, require_active, require_kyc
from simulator.resources.recurring import RUN
from simulator.resources.transactions import holder
from simulator.scenario import holding
from simulator.scenario.activation import BINDINGS
from simulator.scenario.pending import STEP
from simulator.scenario.runner import RunFailed, fill
from simulator.scenario.trigger import paths_to
from simulator.scenario.walks import Act, Ask, Step, Wait, walk_to, walks_at
from simulator.server.router import Router
from simulator.wire import dispatch
from simulator.wire.actions import events_since
from simulator.wire.errors import ApiError, ControlError
from simulator.wire.fields import Body, Text
from simulator.wire.json import JsonObject, dumps, loads
from simulator.wire.operation import Call, Operation
from simulator.wire.records import Record, find
from simulator.wire.spelling import upper

RULER = "(trigger)"
"""Objects of a walk are put under a scenario that cannot exist: nothing but laws and calls moves them."""

ASSUMPTIONS = (
    ("trigger-weather", "No scenario touches the objects of a walk, so that they stay where the event left them."),
    (
        "trigger-clock",
        "A walk moves the clock only to a law's timer; a running clock jumps ahead and runs on from there.",
    ),
    ("trigger-whole", "A walk that is refused before time passed leaves nothing; after that it says where it stopped."),
    ("trigger-waiting", "An own object that is to wait for a law is first taken out of the hands of its scenario."),
    ("trigger-run-failed", "An own run is made to fail by an empty balance while it is due; it is back right after."),
    ("trigger-wallet", "With a wallet as target, `deposit.*` walks to the event of a new deposit that arrives there."),
    ("trigger-kyc", "The target of a KYC event may be the account's user_id; that of a network its id."),
)

_REFUSALS = (ControlError, ApiError, IllegalMove, Overdrawn, RunFailed)


class TriggerBody(Body):
    event: Text
    target: Text | None = None


async def trigger(call: ControlCall) -> Annotated[JsonObject, TriggerAnswer]:
    """POST /trigger {event, target?} → {event, target, steps, events, advanced_to}."""
    world, event, target = call.world, call.body.event, call.body.target
    call.patience()
    known_event("event", event)
    record = None if target is None else _target(world, event, target)
    environment = call.environment if record is None else record.environment
    walker = Walker(call, world, environment, event)
    if record is None:
        return await walker.go([walk_to_steps(world, environment, event)])
    walks = walks_at(record, event)
    if walks:
        return await walker.go([(walk.steps, walk.subject) for walk in walks])
    paths = paths_to(world, call.simulator.actions, record, event)
    return await walker.go([(path.steps, record.id) for path in paths])


def walk_to_steps(world: World, environment: str, event: str) -> tuple[tuple[Step, ...], str]:
    walk = walk_to(world, environment, event)
    return walk.steps, walk.subject


def _target(world: World, event: str, target: str) -> Record | None:
    """The record of a target; None for the account itself, whose KYC is no record; 404 when there is none."""
    if event.startswith("kyc.") and target == profile_of(world).user_id:
        return None
    record: Record | None = find(world, target)
    if record is None:
        raise ControlError(404, "not_found", f"There is no resource with the id {target!r}.", "target")
    return record


class Walker:
    """One walk: its steps so far, what they answered, and how it ends."""

    def __init__(self, call: ControlCall, world: World, environment: str, event: str) -> None:
        self._call = call
        self._runtime = call.runtime
        self._world = world
        self._environment = environment
        self._event = event
        self._cause = Cause("action", "trigger", call.id)
        self._before = world.journal.event_count
        self._began_ms = world.now_ms
        self._subject = ""
        self._answers: dict[str, Any] = {}
        self._told: list[JsonObject] = []
        self._moved_clock = False

    async def go(self, ways: list[tuple[tuple[Step, ...], str]]) -> JsonObject:
        """Take the first way that is open; ControlError 409 when none is, with the reason of the first."""
        refusal: ControlError | None = None
        for steps, subject in ways:
            self._subject, self._answers, self._told = subject, {}, []
            try:
                await self._walk(list(steps))
            except ControlError as error:
                if self._moved_clock or error.code == "clock_busy":
                    raise
                refusal = refusal or error
                continue
            reached = self._reached()
            if reached is not None:
                return self._answer(reached)
            refusal = refusal or self._stopped("the steps were made, but the event did not come")
            if self._told:
                break
        assert refusal is not None
        raise refusal

    def _answer(self, reached: Event) -> JsonObject:
        world = self._world
        return {
            "event": orjson.Fragment(reached.raw),
            "target": reached.object_id,
            "steps": self._told,
            "events": [orjson.Fragment(event.raw) for event in events_since(world, self._before)],
            "advanced_to": format_timestamp(world.now_ms) if self._moved_clock else None,
            **self._call.stopped_scenarios(world),
        }

    async def _walk(self, steps: list[Step]) -> None:
        """Steps of one instant in one change, then the wait that follows them, and so on."""
        driver = self._runtime.driver
        while steps:
            group: list[Ask | Act] = []
            wait: Wait | None = None
            while steps and wait is None:
                step = steps.pop(0)
                if isinstance(step, Wait):
                    wait = step
                else:
                    group.append(step)
            if wait is not None and driver.is_busy(self._world):
                raise ControlError(409, "clock_busy", "The clock of this world is being advanced; wait for its end.")
            self._together(group, wait)
            await self._runtime.follow_up(self._world)
            if wait is not None and self._reached() is None:
                await self._wait(wait)

    def _together(self, group: list[Ask | Act], wait: Wait | None) -> None:
        """Make the steps of one instant, all or none; what the wait after them would come to is tried first."""
        world, told = self._world, len(self._told)
        doing = ""
        try:
            with world.store.change():
                for step in group:
                    doing = _in_words(step, self._answers)
                    self._do(step)
                if wait is not None:
                    doing = "waiting for the clock"
                    self._rehearse(wait)
        except _REFUSALS as refusal:
            del self._told[told:]
            raise self._stopped(f"{doing}: {_reason(refusal)}", refusal) from None

    def _stopped(self, why: str, refusal: BaseException | None = None) -> ControlError:
        status = refusal.status if isinstance(refusal, ControlError) and refusal.status == 404 else 409
        members: dict[str, Any] = {"allowed": self._allowed()}
        if isinstance(refusal, ApiError):
            members["refusal"] = refusal.envelope()["error"]
        if self._told:
            members["steps"] = self._told
        if self._moved_clock:
            members["advanced_to"] = format_timestamp(self._world.now_ms)
        return ControlError(status, "invalid_transition", f"{self._event} cannot be reached: {why}", **members)

    def _allowed(self) -> list[str]:
        record = find(self._world, self._subject) if self._subject and "${" not in self._subject else None
        return [] if record is None else self._runtime.simulator.actions.allowed(self._world, record)

    # Steps

    def _do(self, step: Ask | Act) -> None:
        words = _in_words(step, self._answers)
        answer = self._ask(step) if isinstance(step, Ask) else self._act(step)
        made = answer.get("id") if isinstance(answer, dict) and step.name else None
        if step.name:
            self._answers[step.name] = answer
        self._tell(f"{words} → {made}" if made and made not in words else words)

    def _tell(self, words: str) -> None:
        self._told.append({"did": words, "at": format_timestamp(self._world.now_ms)})

    def _ask(self, step: Ask) -> Any:
        """A call of the interface as the account makes it, gates included, under the walk's own cause."""
        world, path, body = self._world, fill(step.path, self._answers), fill(step.body or {}, self._answers)
        operation, variables = _operation(self._runtime.simulator.operations, step.method, path)
        if self._environment == "production":
            require_access(world, self._environment)
        if operation.profile_gate:
            require_active(world)
        if operation.money:
            require_kyc(world)
        call = Call(world, self._environment, variables)
        dispatch.load(operation, call)
        dispatch.validate(operation, call, body, {}, strict=False)
        with world.change(self._cause, Origin(body, RULER)):
            answer = operation.action(call)
            return None if answer is None else loads(dumps(answer))

    def _act(self, step: Act) -> Any:
        target = None if step.target is None else fill(step.target, self._answers)
        parameters = fill(step.parameters, self._answers)
        actions = self._runtime.simulator.actions
        done = actions.perform(self._world, step.action, target, parameters, self._environment, self._cause)
        return loads(dumps(done.resource))

    # Waiting

    async def _wait(self, wait: Wait) -> None:
        """Advance to the law timers of the object, until the event is there or none is left."""
        world, target = self._world, fill(wait.target, self._answers)
        self._take_in_hand(target)
        for _ in range(wait.most):
            timer = _law_timer(world, target, wait.kinds)
            if timer is None:
                break
            before = world.now_ms
            try:
                await (self._starve(timer) if wait.starved else self._advance(timer))
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
        raise self._stopped("the law did not bring it about; meanwhile something else had happened")

    async def _advance(self, timer: Timer) -> None:
        await self._call.advance(self._world, timer.due_at_ms)

    async def _starve(self, timer: Timer) -> None:
        """Let a run come due with an empty balance, in one change with putting the balance back."""
        world = self._world

        def is_next() -> bool:
            due = world.agenda.next()
            return due is not None and due.key == timer.key

        await self._call.advance(world, timer.due_at_ms, is_next)
        if is_next():
            world.clock.move_to(max(timer.due_at_ms, world.now_ms))
            with world.store.change(), self._emptied(timer.target):
                world.fire_next(timer.due_at_ms)
            self._tell("emptied the balance for this run alone (set_balance), and put it back")
        self._runtime.driver.anchor(world)
        self._runtime.changed(world)

    @contextmanager
    def _emptied(self, payment_id: str) -> Iterator[None]:
        world, actions = self._world, self._runtime.simulator.actions
        payment: Any = find(world, payment_id)
        pot, source = available(holder(payment.environment)), payment.source
        balance = world.ledger.balance(pot, source.key)
        place = {"symbol": source.code, "network": upper(source.network)}

        def set_to(amount: str) -> None:
            actions.perform(world, "set_balance", None, {**place, "amount": amount}, payment.environment, self._cause)

        set_to("0")
        yield
        set_to(f"{balance:f}")

    def _take_in_hand(self, target: str) -> None:
        """Put an object under no scenario while the clock moves, so that only the law acts on it."""
        world = self._world
        with world.change(self._cause):
            planned = [
                timer for timer in world.agenda.in_firing_order() if (timer.kind, timer.target) == (STEP, target)
            ]
            scenarios = [timer.arguments["scenario"] for timer in planned]
            scenarios += [held.scenario for held in holding.held_steps(world, about=target)]
            for timer in planned:
                world.agenda.cancel_key(timer.key)
            holding.forget(world, target=target)
            if scenarios:
                names = ", ".join(dict.fromkeys(scenarios))
                world.store.table(BINDINGS).put(target, RULER)
                self._tell(f"took {target} out of the hands of the scenario {names}")

    def _rehearse(self, wait: Wait) -> None:
        """Whether the law, as things stand, brings the event about: a run may fail. Inside a change, undone after."""
        world, target = self._world, fill(wait.target, self._answers)
        timer = _law_timer(world, target, wait.kinds)
        if timer is None:
            raise ControlError(409, "invalid_transition", f"no law is going to move {target}")
        if timer.kind != RUN or wait.most > 1:
            return
        now_ms, before = world.now_ms, world.journal.event_count
        emitted: list[Event] = []
        try:
            with world.store.attempt():
                world.clock.now_ms = max(now_ms, timer.due_at_ms)
                with _either(self._emptied(timer.target) if wait.starved else None), world.change(self._cause):
                    world.agenda.take(timer)
                    world.wiring.timers[timer.kind].handler(world, timer)
                emitted = events_since(world, before)
                raise _Undo
        except _Undo:
            pass
        finally:
            world.clock.now_ms = now_ms
            world.agenda.rebuild()
        if not any(event.type == self._event for event in emitted):
            runs = [event for event in emitted if event.type.startswith("recurring_payment.run_")]
            code = runs and loads(runs[0].raw)["data"]["object"]["run"].get("failure_code")
            outcome = f"it would fail with {code}" if code else "it would succeed"
            raise ControlError(409, "invalid_transition", f"the run at its due time comes out otherwise: {outcome}")

    # Looking

    def _reached(self) -> Event | None:
        """The event, about the walk's own object where it has one."""
        subject = self._subject
        if "${" in subject:
            try:
                subject = fill(subject, self._answers)
            except RunFailed:
                return None
        for event in events_since(self._world, self._before):
            about = subject in ("", event.object_id) and event.environment == self._environment
            if about and event.type == self._event:
                return event
        return None


class _Undo(Exception):
    """Ends a rehearsal."""


@contextmanager
def _either(context: Any) -> Iterator[None]:
    if context is None:
        yield
    else:
        with context:
            yield


def _law_timer(world: World, target: str, kinds: tuple[str, ...]) -> Timer | None:
    """The next timer of a law that can still come: none beyond the end of simulated time."""
    planned = [timer for kind in kinds if (timer := world.agenda.planned(kind, target)) is not None]
    planned = [timer for timer in planned if timer.due_at_ms <= LAST_MS]
    return min(planned, key=lambda timer: (timer.due_at_ms, timer.number), default=None)


def _operation(operations: tuple[Operation, ...], method: str, path: str) -> tuple[Operation, dict[str, str]]:
    rows, variables = Router(operations).find(path) or ({}, {})
    return rows[method], variables


def _in_words(step: Ask | Act, answers: dict[str, Any]) -> str:
    if isinstance(step, Ask):
        return f"{step.method} {_filled(step.path, answers)}"
    shown = [f"{name} {value}" for name, value in step.parameters.items()]
    target = [] if step.target is None else [_filled(step.target, answers)]
    return " ".join([step.action, *target, *shown])


def _filled(text: str, answers: dict[str, Any]) -> str:
    try:
        return str(fill(text, answers))
    except RunFailed:
        return text


def _reason(refusal: BaseException) -> str:
    if isinstance(refusal, ApiError):
        return f"{refusal.status} {refusal.code}: {refusal.message}"
    return str(getattr(refusal, "message", refusal))


ROWS: tuple[ControlOperation, ...] = (
    ControlOperation(
        "POST",
        "/trigger",
        "trigger",
        "Actions",
        "Walk to an event",
        trigger,
        200,
        TriggerBody,
        query=WAIT,
        by_environment=True,
    ),
)
