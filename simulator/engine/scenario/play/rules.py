"""Selects the rule that handles an event, and plans its steps. See "Rules of evaluation" in the scenario language. The
active scenario that was listed last is tried first, and the first rule that matches handles the event. If an object is
bound to a scenario, only that scenario is tried.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import accumulate, takewhile
from typing import Any, NamedTuple

from simulator.engine.records.origins import ORIGINS, RequestOrigin, origin_of
from simulator.engine.records.records import find, render
from simulator.engine.scenario.files.library import ScenarioFile
from simulator.engine.scenario.play import delays, stops
from simulator.engine.scenario.play.activation import BINDINGS, COUNTS, active, draw, stop
from simulator.engine.scenario.play.catalogue import Context, PreparedRule, PreparedScenario
from simulator.engine.scenario.play.filling import fill_groups
from simulator.engine.scenario.play.logbook import note
from simulator.engine.scenario.play.matching import all_hold
from simulator.engine.scenario.play.pending import PlannedStep, plan, steps_on
from simulator.engine.scenario.play.script import CREATED, REQUEST
from simulator.engine.scenario.play.view import View, origin_with_ancestors, with_ancestors
from simulator.engine.text.json import Shown
from simulator.engine.vocabulary.vocabulary import vocabulary_of
from simulator.kernel.clock import LAST_MS
from simulator.kernel.dataclass import dataclass
from simulator.kernel.table import ABSENT, Table
from simulator.kernel.world import World


class Occurrence(NamedTuple):
    """An event or the creation of a resource, to which a rule can react."""

    # This is a tuple because an occurrence is created for every event, and few events have a rule. A frozen dataclass
    # takes three times as long.

    environment: str
    event: str
    subject: Shown
    object_id: str
    chain: tuple[str, ...] = ()
    """The scenarios that have already handed over the object."""


@dataclass(frozen=True)
class Answer:
    """The error response that a rule returns to a request."""

    status: int
    code: str
    message: str
    param: str | None
    place: str
    """The file and line of the rule."""


def dispatch(context: Context, world: World, occurrence: Occurrence) -> None:
    """Apply the rules of the bound scenario, or else of active ones, to an event or new resource, in a transaction."""
    bound = bound_to(world, occurrence.object_id)
    if bound is not None:
        name, bound_id = bound
        if context.catalogue.knows(world, name) and stops.why_stopped(world, name) is None:
            offer(context, world, name, occurrence, bound_id)
        return
    view: View | None = None
    about = occurrence.subject.get("type")
    for scenario, rules in context.catalogue.listening(world, active(world), occurrence.event, about):
        possible = _possible(world, rules, occurrence.object_id)
        if possible:
            # The view is created here and shared by all scenarios, because most events have no rule and a view costs
            # more than all the steps above.
            view = view or _view_of(world, occurrence)
            if _offer(context, world, scenario, possible, occurrence, "", view):
                return


def bound_to(world: World, object_id: str) -> tuple[str, str] | None:
    """Return the scenario to which an object is bound and the id of the bound object: the object or an ancestor."""
    bindings = world.store[BINDINGS]
    # In most worlds nothing is bound, so this check saves the search for ancestors.
    if not bindings.rows and not world.store[ORIGINS].index(_ScenarioChoices).count:
        return None
    for ancestor in with_ancestors(world, object_id):
        name = bindings.get(ancestor) or origin_of(world, ancestor).scenario
        if name:
            return name, ancestor
    return None


class _ScenarioChoices:
    """A table index that counts the requests in which the caller chose a scenario for the new resource."""

    __slots__ = ("count",)

    def __init__(self, origins: Table[RequestOrigin]) -> None:
        self.count = sum(origin.scenario != "" for origin in origins.values())

    def written(self, key: str, old: Any, new: Any) -> None:
        self.count += (new is not ABSENT and new.scenario != "") - (old is not ABSENT and old.scenario != "")


def bind(world: World, object_id: str, name: str) -> None:
    """Bind an object to a scenario, and delete the steps that rules have planned for the object."""
    for timer in steps_on(world, object_id):
        world.agenda.cancel_key(timer.key)
    delays.drop(world, target=object_id)
    world.store[BINDINGS].put(object_id, name)


def offer(context: Context, world: World, name: str, occurrence: Occurrence, bound_id: str) -> bool:
    """Apply the first rule of a scenario that matches an event or a new resource. Return True if a rule matched."""
    scenario = context.catalogue.get(world, name)
    rules = scenario.rules_about(occurrence.event, occurrence.subject.get("type"))
    possible = _possible(world, rules, occurrence.object_id)
    return _offer(context, world, scenario, possible, occurrence, bound_id, _view_of(world, occurrence))


def _possible(world: World, rules: Iterable[PreparedRule], object_id: str) -> list[PreparedRule]:
    """Return the rules that can match, judged by the bytes of the request that created the object.

    Few requests contain the field and the value that a rule tests. Searching the bytes takes a fifth of the time of
    parsing the request. Parsing would take 5% of the time of creating a resource.
    """
    carried: bytes | None = None
    possible = []
    for prepared in rules:
        if prepared.request_field:
            if carried is None:
                carried = origin_with_ancestors(world, object_id).body.read()
            if prepared.request_field not in carried or not all(text in carried for text in prepared.request_texts):
                continue
        possible.append(prepared)
    return possible


def _view_of(world: World, occurrence: Occurrence) -> View:
    return View(world, occurrence.environment, occurrence.subject, occurrence.object_id)


def _offer(
    context: Context,
    world: World,
    scenario: PreparedScenario,
    rules: Iterable[PreparedRule],
    occurrence: Occurrence,
    bound_id: str,
    view: View,
) -> bool:
    name = scenario.file.name
    for prepared in rules:
        groups = _take(context, name, prepared, view, bound_id)
        if groups is not None:
            part, place = prepared.part, prepared.place
            note(world, name, "fired", part, place, object=occurrence.object_id, event=occurrence.event)
            _plan(context, world, scenario.file, prepared, occurrence, groups)
            return True
    return False


def answer_for(
    context: Context, world: World, environment: str, method: str, path: str, body: Mapping[str, object], chosen: str
) -> Answer | None:
    """Return the error response of the first `on: request` rule that matches a call, or None if no rule returns an
    error (decision H2).

    `path` is relative to the base path. `chosen` is the name of the scenario that the caller chose, or "". If that
    scenario exists, no other scenario is tried. Call this function inside a transaction. Commit the transaction even if
    the API call fails, because it contains the counts and random draws of the rules.
    """
    names = (chosen,) if chosen and context.catalogue.knows(world, chosen) else active(world)
    method = method.upper()
    for scenario, about_method in context.catalogue.listening(world, names, REQUEST, method):
        # This runs for every call, and few calls have a rule, so method and path are compared first.
        if not scenario.may_take(method, path):
            continue
        rules = [rule for rule in about_method if rule.path is None or rule.path.match(path) is not None]
        if not rules or stops.why_stopped(world, scenario.file.name) is not None:
            continue
        name = scenario.file.name
        view = View(world, environment, {"method": method, "path": path}, body=body)
        for prepared in rules:
            if _take(context, name, prepared, view, "") is None:
                continue
            note(world, name, "fired", prepared.part, prepared.place, event=REQUEST, request=f"{method} {path}")
            answer = prepared.rule.answer
            if answer is None:
                return None  # The rule handles the request by letting it through.
            row = vocabulary_of(world).errors[answer.code]
            default = f"{row.cause[:1].upper()}{row.cause[1:]} (scenario {name}, {prepared.place})."
            status, message = answer.status or row.status, answer.message or default
            return Answer(status, row.code, message, answer.param, prepared.place)
    return None


def _take(context: Context, name: str, prepared: PreparedRule, view: View, bound_id: str) -> dict[str, str] | None:
    """Return the named groups of the rule's patterns and count the firing if a rule fires, otherwise None."""
    # The order of these tests is part of the language. A rule whose `where` fails draws nothing, so unrelated objects
    # do not shift the random draws. A rule that loses its draw is not counted, so a rule with `times: 1, probability:
    # 0.5` fires eventually.
    rule, world, counts = prepared.rule, view.world, view.world.store[COUNTS]
    key = "" if rule.times is None else f"{name}|{prepared.index}|{bound_id}"
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
    occurrence: Occurrence,
    groups: Mapping[str, str],
) -> None:
    """Plan the steps of a rule. The delay of a step starts at the previous step. A slow network increases delays."""
    slowdown, place = file.script.slowdown, prepared.place
    slowed_by = delays.networks_of(occurrence.subject, context.outages.spellings) if slowdown else []
    factor = delays.factor(world, context.outages.status, slowdown, occurrence.environment, slowed_by)
    steps = prepared.rule.do
    spans_ms = (round(min(draw(world, file.name, step.delay) * factor, LAST_MS)) for step in steps)
    timed = list(zip(accumulate(spans_ms), steps, strict=True))
    # Leading handovers without delay happen immediately instead of by timer. Even a timer that is due now fires after
    # the next event in this transaction, so the successor would miss that event.
    first = list(takewhile(lambda one: one[1].scenario is not None and one[0] == 0, timed))
    for number, (_, step) in enumerate(first):
        part = f"{prepared.part}.do[{number}]"
        hand_over(context, world, file.name, fill_groups(step.scenario, groups), occurrence, part, place)
    planned = []
    for number, (delay_ms, step) in enumerate(timed[len(first) :], len(first)):
        pending = PlannedStep(
            target=occurrence.object_id,
            scenario=file.name,
            part=f"{prepared.part}.do[{number}]",
            place=place,
            event=occurrence.event,
            environment=step.environment or occurrence.environment,
            at_once=delay_ms == 0,
            slowed_by=slowed_by,
            factor=factor,
            action=step.action,
            acts_on=fill_groups(step.target, groups),
            parameters=fill_groups(step.parameters, groups),
            hand_to=fill_groups(step.scenario, groups),
        )
        planned.append(plan(world, world.now_ms + delay_ms, pending))
    keys = [key for key in planned if key is not None]
    if keys:
        delays.hold(world, context.actions, context.outages, keys)
        too_many = stops.count_pending(world, file.name, len(keys))
        if too_many is not None:
            stop(world, file.name, prepared.part, place, too_many)


def latest(world: World, object_id: str) -> Occurrence | None:
    """Return the last event of an object, or else its creation, or None if the object does not exist."""
    record = find(world, object_id)
    if record is None:
        return None
    event = next((event for event in world.journal.events_newest_first() if event.object_id == object_id), None)
    name = CREATED if event is None else event.type
    return Occurrence(record.environment, name, render(world, record), object_id)


def hand_over(
    context: Context, world: World, name: str, successor: str, occurrence: Occurrence, part: str, place: str
) -> None:
    """Bind an object to another scenario, and pass the object's last event to that scenario."""
    action = f"scenario {successor}"
    reason = _why_not(context, world, name, successor, occurrence)
    if reason is not None:
        note(world, name, "skipped", part, place, object=occurrence.object_id, action=action, reason=reason)
        return
    bind(world, occurrence.object_id, successor)
    note(world, name, "done", part, place, object=occurrence.object_id, action=action)
    passed = occurrence._replace(chain=(*occurrence.chain, name))
    offer(context, world, successor, passed, occurrence.object_id)


def _why_not(context: Context, world: World, name: str, successor: str, occurrence: Occurrence) -> str | None:
    """Return why an object cannot be handed over to the scenario `successor`, or None if it can."""
    if not context.catalogue.knows(world, successor):
        return f"there is no scenario {successor!r}"
    if stops.why_stopped(world, successor) is not None:
        return f"the scenario {successor} was stopped"
    if successor in (*occurrence.chain, name):  # Two scenarios that hand over to each other would never stop.
        return f"the scenario {successor} has already handed this object over"
    return "there is no object to hand over" if find(world, occurrence.object_id) is None else None
