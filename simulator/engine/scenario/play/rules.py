"""Which rule takes what happens, and what it plans: the chapter "Rules of evaluation" of the scenario language.

The first matching rule of the last active scenario that has one takes an event; an object that is bound to a scenario
is seen by that one alone. What is bound and counted are rows of the world, so that a copy of it goes on alike.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import accumulate, takewhile
from typing import Any, NamedTuple

from simulator.engine.records.origins import ORIGINS, RequestOrigin, origin_of
from simulator.engine.records.records import find, render
from simulator.engine.rows.vocabulary import vocabulary_of
from simulator.engine.scenario.files.library import ScenarioFile
from simulator.engine.scenario.play import holding, slowing, stops
from simulator.engine.scenario.play.activation import BINDINGS, COUNTS, active, draw, stop
from simulator.engine.scenario.play.catalogue import Context, PreparedRule, PreparedScenario
from simulator.engine.scenario.play.filling import filled, work_of
from simulator.engine.scenario.play.logbook import note
from simulator.engine.scenario.play.matching import all_hold
from simulator.engine.scenario.play.pending import PlannedStep, plan, steps_on
from simulator.engine.scenario.play.script import CREATED, REQUEST, Rule
from simulator.engine.scenario.play.view import View, with_ancestors
from simulator.engine.text.json import Shown
from simulator.kernel.clock import LAST_MS
from simulator.kernel.dataclass import dataclass
from simulator.kernel.table import ABSENT, Table
from simulator.kernel.world import World


class Happening(NamedTuple):
    """Something that rules may react to: an event, or the creation of a resource, and the scenarios it went through.

    A tuple, because every event makes one and hardly any is reacted to: it takes a third of the time of a frozen row.
    """

    environment: str
    event: str
    subject: Shown
    object_id: str
    chain: tuple[str, ...] = ()


@dataclass(frozen=True)
class Answer:
    """What a rule answers a request with; `place` is the rule's file and line."""

    status: int
    code: str
    message: str
    param: str | None
    place: str


def dispatch(context: Context, world: World, happening: Happening) -> None:
    """Offer what happened to the scenario its object is bound to, else to the active ones; inside a change."""
    bound = bound_to(world, happening.object_id)
    if bound is not None:
        name, root = bound
        if context.catalogue.knows(world, name) and stops.why_stopped(world, name) is None:
            offer(context, world, name, happening, root)
        return
    view: View | None = None
    for name in reversed(active(world)):
        ready = context.catalogue.get(world, name)
        rules = ready.rules_about(happening.event, happening.subject)
        if rules:  # hardly ever: what nobody waits for costs no more than this
            view = view or _view_of(world, happening)
            if _offer(context, world, ready, rules, happening, "", view):
                return


def bound_to(world: World, object_id: str) -> tuple[str, str] | None:
    """The scenario that an object is bound to, and what of it was: the object itself, or what it belongs to."""
    bindings = world.store[BINDINGS]
    if not bindings.rows and not world.store[ORIGINS].index(_Choices).count:
        return None  # in most worlds: what belongs to what need not be looked up for every event
    for member in with_ancestors(world, object_id):
        name = bindings.get(member) or origin_of(world, member).scenario
        if name:
            return name, member
    return None


class _Choices:
    """How many of the requests that made resources chose a scenario: an index of their origins."""

    __slots__ = ("count",)

    def __init__(self, origins: Table[RequestOrigin]) -> None:
        self.count = sum(origin.scenario != "" for origin in origins.values())

    def written(self, key: str, old: Any, new: Any) -> None:
        self.count += (new is not ABSENT and new.scenario != "") - (old is not ABSENT and old.scenario != "")


def bind(world: World, object_id: str, name: str) -> None:
    """Bind an object: only this scenario acts on it from now on; steps that others have pending on it are dropped."""
    for timer in steps_on(world, object_id):
        world.agenda.cancel_key(timer.key)
    holding.forget(world, target=object_id)
    world.store[BINDINGS].put(object_id, name)


def offer(context: Context, world: World, name: str, happening: Happening, root: str) -> bool:
    """Let the first matching rule of one scenario take it; whether one did. `root`: what is bound, if anything."""
    ready = context.catalogue.get(world, name)
    rules = ready.rules_about(happening.event, happening.subject)
    return _offer(context, world, ready, rules, happening, root, _view_of(world, happening))


def _view_of(world: World, happening: Happening) -> View:
    return View(world, happening.environment, happening.subject, happening.object_id)


def _offer(
    context: Context,
    world: World,
    ready: PreparedScenario,
    rules: Iterable[PreparedRule],
    happening: Happening,
    root: str,
    view: View,
) -> bool:
    name = ready.file.name
    for prepared in rules:
        # Hardly any request names what rules ask of it: its text is looked at before anything is read, in a fifth of
        # the time. That is a twentieth of the creation of a quote.
        if prepared.carried and not view.may_carry(prepared.carried):
            continue
        groups = _take(context, world, name, prepared, view, root)
        if groups is not None:
            part, place = prepared.part, prepared.place
            note(world, name, "fired", part, place, object=happening.object_id, event=happening.event)
            _plan(context, world, ready.file, prepared, happening, groups)
            return True
    return False


def answer_for(
    context: Context,
    world: World,
    environment: str,
    method: str,
    path: str,
    body: Mapping[str, object],
    chosen: str = "",
) -> Answer | None:
    """What a rule `on: request` answers this call with (decision H2), or None; inside a change.

    `path` is the one below the base; `chosen` the scenario that the call names, which is then the only one that looks
    at it. Counting and chance are kept even though the call has no effect, so the caller must not undo them.
    """
    names = [chosen] if chosen and context.catalogue.knows(world, chosen) else active(world)
    method = method.upper()
    for name in reversed(names):
        ready = context.catalogue.get(world, name)
        # Every call comes this way and hardly any is meant: by method and path first, the rest for those that may be.
        may_match = ready.asked_by(method, path)
        if not may_match or stops.why_stopped(world, name) is not None:
            continue
        view = View(world, environment, {"method": method, "path": path}, body=body)
        for asked in may_match:
            if _take(context, world, name, asked, view, "") is None:
                continue
            note(world, name, "fired", asked.part, asked.place, event=REQUEST, request=f"{method} {path}")
            return _answer_of(world, name, asked.rule, asked.place)
    return None


def _answer_of(world: World, name: str, rule: Rule, place: str) -> Answer | None:
    """The answer of a rule of a scenario; None when it lets the call pass."""
    if rule.answer is None:
        return None
    row = vocabulary_of(world).errors[rule.answer.code]
    message = rule.answer.message or f"{row.cause[:1].upper()}{row.cause[1:]} (scenario {name}, {place})."
    return Answer(rule.answer.status or row.status, row.code, message, rule.answer.param, place)


def _take(
    context: Context, world: World, name: str, prepared: PreparedRule, view: View, root: str
) -> dict[str, str] | None:
    """The named groups when the rule matches and may still fire; then it is counted.

    The order is part of the language: a rule whose `where` does not hold draws no chance and is not counted, and one
    that chance passes over is not counted either. So `times: 1, probability: 0.5` fires once, sooner or later.
    """
    rule, counts = prepared.rule, world.store[COUNTS]
    key = "" if rule.times is None else f"{name}|{prepared.index}|{root}"
    count = counts.get(key) or 0
    if rule.times is not None and count >= rule.times:
        return None
    groups = all_hold(prepared.conditions, view.look, lambda named: context.catalogue.knows(world, named))
    if groups is None:
        return None
    if rule.probability is not None and world.streams.fraction(f"scenario.{name}") >= rule.probability:
        return None
    if rule.times is not None:
        counts.put(key, count + 1)
    return groups


def _plan(
    context: Context,
    world: World,
    file: ScenarioFile,
    prepared: PreparedRule,
    happening: Happening,
    groups: Mapping[str, str],
) -> None:
    """Plan a rule's steps, delays adding up and stretched by a slow network.

    Hand-overs that stand first and have no delay are made now and not planned: a timer, even one that is due at once,
    would fire after the next event of this same change, and the successor would miss that event.
    """
    slowdown, place = file.script.slowdown, prepared.place
    slowed_by = slowing.networks_of(happening.subject, context.outages.spellings) if slowdown else []
    factor = slowing.factor(world, context.outages.status, slowdown, happening.environment, slowed_by)
    steps = prepared.rule.do
    delays = (round(min(draw(world, file.name, step.delay) * factor, LAST_MS)) for step in steps)
    timed = list(zip(accumulate(delays), steps, strict=True))
    first = list(takewhile(lambda one: one[1].scenario is not None and one[0] == 0, timed))
    for number, (_, step) in enumerate(first):
        part = f"{prepared.part}.do[{number}]"
        hand_over(context, world, file.name, filled(step.scenario, groups), happening, part, place)
    planned = []
    for number, (delay_ms, step) in enumerate(timed[len(first) :], len(first)):
        pending = PlannedStep(
            target=happening.object_id,
            scenario=file.name,
            part=f"{prepared.part}.do[{number}]",
            place=place,
            event=happening.event,
            environment=step.environment or happening.environment,
            at_once=delay_ms == 0,
            slowed_by=slowed_by,
            factor=factor,
            **work_of(step, groups),
        )
        planned.append(plan(world, world.now_ms + delay_ms, pending))
    keys = [key for key in planned if key is not None]
    if keys:
        holding.hold(world, context.actions, context.outages, keys)
        too_many = stops.count_pending(world, file.name, len(keys))
        if too_many is not None:
            stop(world, file.name, prepared.part, place, too_many)


def latest(world: World, object_id: str) -> Happening | None:
    """The last event of an object (or its creation), as another scenario takes it over; None when there is none."""
    record = find(world, object_id)
    if record is None:
        return None
    event = next((event for event in world.journal.events_newest_first() if event.object_id == object_id), None)
    name = CREATED if event is None else event.type
    return Happening(record.environment, name, render(world, record), object_id)


def hand_over(
    context: Context, world: World, name: str, successor: str, happening: Happening, part: str, place: str
) -> None:
    """Bind an object to another scenario, which at once takes the last event of the object."""
    action = f"scenario {successor}"
    reason = _why_not(context, world, name, successor, happening)
    if reason is not None:
        note(world, name, "skipped", part, place, object=happening.object_id, action=action, reason=reason)
        return
    bind(world, happening.object_id, successor)
    note(world, name, "done", part, place, object=happening.object_id, action=action)
    passed = happening._replace(chain=(*happening.chain, name))
    offer(context, world, successor, passed, happening.object_id)


def _why_not(context: Context, world: World, name: str, successor: str, happening: Happening) -> str | None:
    """Why an object cannot be handed over, in words; None when it can."""
    if not context.catalogue.knows(world, successor):
        return f"there is no scenario {successor!r}"
    if stops.why_stopped(world, successor) is not None:
        return f"the scenario {successor} was stopped"
    if successor in (*happening.chain, name):
        return "the object came from that scenario"
    return "there is nothing to hand over" if find(world, happening.object_id) is None else None
