"""Scenarios at work: which rule takes an event, what is planned then, and what becomes of it.

The engine decides and keeps no state of its own: what is active, bound, counted and pending lies in the world's store
and on its agenda as plain data, so that it is part of snapshots and repeats exactly. Chapters "Scenarios" of the
control interface and "Rules of evaluation" of the scenario language.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from simulator.kernel.agenda import Timer
from simulator.kernel.clock import LAST_MS, format_timestamp
from simulator.kernel.journal import Cause, Event, shared_cause
from simulator.kernel.ledger import Overdrawn
from simulator.kernel.machine import IllegalMove
from simulator.kernel.world import TimerHandler, World
from simulator.resources.reference import network_status
from simulator.scenario import holding, slowing, stops
from simulator.scenario.answers import Answer, answer_of
from simulator.scenario.catalogue import Catalogue, NotLaid, UnknownScenario
from simulator.scenario.filling import filled, work_of
from simulator.scenario.holding import STEP, TIMELINE, NetworkStatus
from simulator.scenario.logbook import note, notes
from simulator.scenario.matching import holds
from simulator.scenario.parts import Span
from simulator.scenario.schema import (
    CREATED,
    REQUEST,
    WORLD_ACTIONS,
    Library,
    Rule,
    ScenarioFile,
)
from simulator.scenario.view import View, family
from simulator.wire.actions import ActionTable
from simulator.wire.errors import ApiError, ControlError
from simulator.wire.json import JsonObject, Shown
from simulator.wire.records import Record, find, origin_of, render

ACTIVE = "scenario.active"
BINDINGS = "scenario.bindings"
COUNTS = "scenario.counts"
FAULTS = "faults"

_REFUSALS = (ControlError, ApiError, IllegalMove, Overdrawn)
_BEYOND = "it would lie beyond the end of the year 9998, where simulated time ends"
_PATH = frozenset({"path"})


@dataclass(frozen=True)
class _Happening:
    """Something that rules may take: an event, or the creation of a resource, and the scenarios it went through."""

    environment: str
    trigger: str
    subject: Shown
    object_id: str
    chain: tuple[str, ...] = ()


class Engine:
    """The scenarios of a process: those that ship, and in every world those uploaded to it."""

    def __init__(self, actions: ActionTable, library: Library, network_status: NetworkStatus = network_status) -> None:
        self._actions = actions
        self._catalogue = Catalogue(library)
        self._network_status = network_status
        self.timers: Mapping[str, TimerHandler] = {STEP: self.on_step, TIMELINE: self.on_timeline}

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
        """Keep a scenario in the world, in place of one of the same name; inside a change.

        When that one is active, the new one takes its place at once: laid down afresh.
        """
        active = file.name in self.active(world)
        if active:
            self._withdraw(world, file.name)
        self._catalogue.keep(world, file)
        stops.pardon(world, file.name)
        if active:
            self._lay(world, file.name)

    # What is active

    def active(self, world: World) -> list[str]:
        return list(world.store.table(ACTIVE).get("names") or [])

    def activate(self, world: World, names: Iterable[str]) -> list[str]:
        """Make exactly these scenarios active, later ones winning; UnknownScenario, NotLaid of a `world` part.

        Those that were active stay as they are; those that go take their pending steps, timeline and faults along. One
        that was stopped begins afresh.
        """
        wanted = list(dict.fromkeys(reversed(list(names))))[::-1]
        for name in wanted:
            if not self.knows(world, name):
                raise UnknownScenario(name, "names")
        before = self.active(world)
        with world.store.change():
            for name in before:
                if name not in wanted:
                    self._withdraw(world, name)
            world.store.table(ACTIVE).put("names", wanted)
            for name in wanted:
                stops.pardon(world, name)
                if name not in before:
                    self._lay(world, name)
        return wanted

    def _lay(self, world: World, name: str) -> None:
        """World state, faults and timeline of a scenario that becomes active; its counts begin anew."""
        file = self.file(world, name)
        counts = world.store.table(COUNTS)
        for key in [key for key, _ in counts.items() if key.startswith(f"{name}|") and key.endswith("|")]:
            counts.delete(key)
        for member, action in WORLD_ACTIONS.items():
            given = getattr(file.scenario.world, member)
            path = f"world.{member}"
            entries = (
                {path: given} if isinstance(given, dict) else {f"{path}[{i}]": e for i, e in enumerate(given or [])}
            )
            for place, entry in entries.items():
                parameters = {key: value for key, value in entry.items() if key != "environment"}
                cause = Cause("rule", name, file.place(place))
                environment = entry.get("environment", "sandbox")
                try:
                    self._actions.perform(world, action, None, parameters, environment, cause)
                except ControlError as refusal:
                    raise NotLaid(file, place, refusal) from None
        for fault in file.document.get("faults") or []:
            row = {
                "id": world.streams.identifier("flt_", "ids.fault"),
                **fault,
                "times_left": fault.get("times"),
                "hits": 0,
                "scenario": name,
            }
            world.store.table(FAULTS).put(row["id"], row)
        for index, step in enumerate(file.scenario.timeline):
            due_at_ms, place = world.now_ms + self._draw(world, name, step.at), file.place(f"timeline[{index}]")
            if due_at_ms > LAST_MS:
                target, action = step.target or name, step.action
                note(world, name, "skipped", f"timeline[{index}]", place, object=target, action=action, reason=_BEYOND)
                continue
            world.agenda.plan_another(
                due_at_ms,
                TIMELINE,
                step.target or name,
                scenario=name,
                part=f"timeline[{index}]",
                place=place,
                event="",
                action=step.action,
                acts_on=step.target,
                parameters=step.parameters,
                environment=step.environment or "sandbox",
                hand_to=None,
            )
        holding.hold(world, self._network_status)

    def _withdraw(self, world: World, name: str) -> None:
        for timer in self._pending(world, name):
            world.agenda.cancel_key(timer.key)
        holding.forget(world, scenario=name)
        faults = world.store.table(FAULTS)
        for row in [row for row in faults.values() if row.get("scenario") == name]:
            faults.delete(row["id"])

    @staticmethod
    def _pending(world: World, name: str) -> list[Timer]:
        return [
            timer
            for timer in world.agenda.in_firing_order()
            if timer.kind in (STEP, TIMELINE) and timer.arguments["scenario"] == name
        ]

    # What is stopped

    def _stop(self, world: World, name: str, part: str, place: str, reason: str) -> None:
        """Take a scenario out of the world until it is activated or uploaded again; inside a change."""
        self._withdraw(world, name)
        world.store.table(ACTIVE).put("names", [other for other in self.active(world) if other != name])
        stops.enter(world, name, part, place, reason)

    def on_failure(self, world: World, timer: Timer, error: Exception) -> None:
        """A step broke and was undone: it is recorded, and a second one like it stops its scenario."""
        reason = stops.record_failure(world, timer, error)
        if reason is not None:
            arguments = timer.arguments
            self._stop(world, arguments["scenario"], arguments["part"], arguments["place"], reason)

    # What happens

    def on_event(self, world: World, event: Event, subject: JsonObject) -> None:
        """Offer an emitted event to the scenarios; inside the change that emitted it."""
        if event.type == "network.status_changed":
            self._network_changed(world)
        self._dispatch(world, _Happening(event.environment, event.type, subject, event.object_id))

    def _network_changed(self, world: World) -> None:
        """What waited goes on, what is planned is stretched anew, and what cannot happen now waits."""
        holding.release(world, self._network_status)
        slowing.restretch(world, self._network_status, lambda name: self._slowdown(world, name))
        for timer in world.agenda.in_firing_order():
            if timer.kind in (STEP, TIMELINE) and timer.due_at_ms > LAST_MS:
                world.agenda.cancel_key(timer.key)
                self._skipped(world, timer, _BEYOND)
        holding.hold(world, self._network_status)

    def _slowdown(self, world: World, name: str) -> Mapping[Any, float]:
        return self.file(world, name).scenario.slowdown if self.knows(world, name) else {}

    def on_created(self, world: World, environment: str, subject: JsonObject, object_id: str) -> None:
        """Offer a resource whose creation emits no event."""
        self._dispatch(world, _Happening(environment, CREATED, subject, object_id))

    def _dispatch(self, world: World, happening: _Happening) -> None:
        bound = self._ruler(world, happening.object_id)
        if bound is not None:
            name, root = bound
            if self.knows(world, name) and stops.why_stopped(world, name) is None:
                self._offer(world, name, happening, root)
            return
        for name in reversed(self.active(world)):
            if self._offer(world, name, happening, ""):
                return

    @staticmethod
    def _ruler(world: World, object_id: str) -> tuple[str, str] | None:
        """The scenario that alone rules an object, and the object (or what it belongs to) that was put under it."""
        bindings = world.store.table(BINDINGS)
        for member in family(world, object_id):
            name = bindings.get(member) or origin_of(world, member).scenario
            if name:
                return name, member
        return None

    def _offer(self, world: World, name: str, happening: _Happening, root: str) -> bool:
        """Let the first matching rule of one scenario take it; whether one did. `root`: what is bound, if anything."""
        ready = self._catalogue.get(world, name)
        rules = ready.rules.get(happening.trigger)
        if not rules:
            return False
        view = View(world, happening.environment, happening.subject, happening.object_id)
        for index, rule in rules:
            groups = self._take(world, ready.file, index, rule, view, root, frozenset())
            if groups is not None:
                place = ready.file.place(f"rules[{index}]")
                note(
                    world, name, "fired", f"rules[{index}]", place, object=happening.object_id, event=happening.trigger
                )
                self._plan(world, ready.file, index, rule, happening, groups)
                return True
        return False

    def _take(
        self, world: World, file: ScenarioFile, index: int, rule: Rule, view: View, root: str, globs: frozenset[str]
    ) -> dict[str, str] | None:
        """The named groups when the rule matches and may still fire; then it is counted."""
        counts = world.store.table(COUNTS)
        key = f"{file.name}|{index}|{root}"
        count: int = counts.get(key) or 0
        if rule.times is not None and count >= rule.times:
            return None
        groups = holds(rule.where, view.look, globs=globs, is_scenario=lambda name: self.knows(world, name))
        if groups is None:
            return None
        if rule.probability is not None and world.streams.fraction(f"scenario.{file.name}") >= rule.probability:
            return None
        if rule.times is not None:
            counts.put(key, count + 1)
        return groups

    @staticmethod
    def _draw(world: World, name: str, span: Span) -> int:
        if span.low_ms == span.high_ms:
            return span.low_ms
        return span.low_ms + world.streams.below(span.high_ms - span.low_ms + 1, f"scenario.{name}")

    def _plan(
        self, world: World, file: ScenarioFile, index: int, rule: Rule, happening: _Happening, groups: dict[str, str]
    ) -> None:
        """Plan a rule's steps; a hand-over that comes first and at once is made now, so that no event is missed."""
        slowdown = file.scenario.slowdown
        slowed_by = slowing.networks_of(happening.subject) if slowdown else []
        factor = slowing.factor(world, self._network_status, slowdown, happening.environment, slowed_by)
        offset_ms, waits, planned = 0, False, []
        for number, step in enumerate(rule.do or []):
            offset_ms += round(min(self._draw(world, file.name, step.after) * factor, LAST_MS))
            part, place = f"rules[{index}].do[{number}]", file.place(f"rules[{index}]")
            if step.scenario is not None and offset_ms == 0 and not waits:
                self._hand_over(world, file.name, filled(step.scenario, groups), happening, part, place)
                continue
            waits = True
            work = work_of(step, groups)
            if world.now_ms + offset_ms > LAST_MS:
                action = work["action"] or f"scenario {work['hand_to']}"
                note(
                    world,
                    file.name,
                    "skipped",
                    part,
                    place,
                    object=happening.object_id,
                    action=action,
                    reason=_BEYOND,
                )
                continue
            key = world.agenda.plan_another(
                world.now_ms + offset_ms,
                STEP,
                happening.object_id,
                scenario=file.name,
                part=part,
                place=place,
                event=happening.trigger,
                at_once=offset_ms == 0,
                slowed_by=slowed_by,
                factor=factor,
                **work,
                environment=step.environment or happening.environment,
            )
            planned.append(key)
        if planned:
            holding.hold(world, self._network_status, planned)
            too_many = stops.count_pending(world, file.name, len(planned))
            if too_many is not None:
                self._stop(world, file.name, f"rules[{index}]", file.place(f"rules[{index}]"), too_many)

    # Steps

    def on_step(self, world: World, timer: Timer) -> None:
        """A step of a rule is due: do it, or record that it was no longer possible."""
        arguments = timer.arguments
        too_many = stops.count_step(world, arguments["scenario"]) if arguments.get("at_once") else None
        if too_many is not None:
            self._stop(world, arguments["scenario"], arguments["part"], arguments["place"], too_many)
            return
        if arguments["hand_to"] is None:
            self._act(world, timer, timer.target)
            return
        object_id = arguments["acts_on"] or timer.target
        happening = self._latest(world, object_id)
        if happening is None:
            self._skipped(world, timer, "there is nothing to hand over")
            return
        name, part, place = arguments["scenario"], arguments["part"], arguments["place"]
        self._hand_over(world, name, arguments["hand_to"], happening, part, place)

    def on_timeline(self, world: World, timer: Timer) -> None:
        """A step of a timeline is due."""
        self._act(world, timer, None)

    def _act(self, world: World, timer: Timer, object_id: str | None) -> None:
        arguments = timer.arguments
        action = arguments["action"]
        acts_on_world = any(not row.kinds for row in self._actions.rows.get(action, ()))
        target = arguments["acts_on"] or (None if acts_on_world else object_id)
        cause = shared_cause("rule", arguments["scenario"], arguments["place"])
        try:
            with world.store.attempt():
                self._actions.perform(world, action, target, arguments["parameters"], arguments["environment"], cause)
        except _REFUSALS as refusal:
            self._skipped(world, timer, str(getattr(refusal, "message", refusal)))
            return
        stops.record_success(world, arguments["scenario"])
        note(
            world,
            arguments["scenario"],
            "done",
            arguments["part"],
            arguments["place"],
            object=timer.target,
            action=action,
        )

    @staticmethod
    def _skipped(world: World, timer: Timer, reason: str) -> None:
        arguments = timer.arguments
        note(
            world,
            arguments["scenario"],
            "skipped",
            arguments["part"],
            arguments["place"],
            object=timer.target,
            action=arguments["action"] or f"scenario {arguments['hand_to']}",
            reason=reason,
        )

    @staticmethod
    def _latest(world: World, object_id: str) -> _Happening | None:
        """The last event of an object (or its creation), as another scenario takes it over."""
        record = find(world, object_id)
        if not isinstance(record, Record):
            return None
        event = next((event for event in world.journal.events_newest_first() if event.object_id == object_id), None)
        trigger = CREATED if event is None else event.type
        return _Happening(record.environment, trigger, render(world, record), object_id)

    def _hand_over(self, world: World, name: str, successor: str, happening: _Happening, part: str, place: str) -> None:
        """Put an object under another scenario alone, which sees at once what has just happened to it."""
        chain = (*happening.chain, name)
        reason = ""
        if not self.knows(world, successor):
            reason = f"there is no scenario {successor!r}"
        elif stops.why_stopped(world, successor) is not None:
            reason = f"the scenario {successor} was stopped"
        elif successor in chain:
            reason = "the object came from that scenario"
        elif find(world, happening.object_id) is None:
            reason = "there is nothing to hand over"
        action = f"scenario {successor}"
        if reason:
            note(world, name, "skipped", part, place, object=happening.object_id, action=action, reason=reason)
            return
        for timer in world.agenda.in_firing_order():
            if timer.kind == STEP and timer.target == happening.object_id:
                world.agenda.cancel_key(timer.key)
        holding.forget(world, target=happening.object_id)
        world.store.table(BINDINGS).put(happening.object_id, successor)
        note(world, name, "done", part, place, object=happening.object_id, action=action)
        passed = _Happening(happening.environment, happening.trigger, happening.subject, happening.object_id, chain)
        self._offer(world, successor, passed, happening.object_id)

    # Requests

    def answer_for(
        self,
        world: World,
        environment: str,
        method: str,
        path: str,
        body: Mapping[str, Any],
        headers: Mapping[str, str] | None = None,
    ) -> Answer | None:
        """What a rule `on: request` answers this call with (decision H2), or None; `path` is the one below the base.

        A call that names its scenario (header, or the origin of the present change) is looked at by that one alone.
        Counting and chance are kept even though the call has no effect, so the caller must not undo them.
        """
        chosen = world.origin.scenario or (headers or {}).get("x-simulator-scenario", "")
        names = [chosen] if chosen and self.knows(world, chosen) else self.active(world)
        names = [name for name in names if stops.why_stopped(world, name) is None]
        view = View(world, environment, {"method": method.upper(), "path": path}, body=body)
        with world.store.change():
            for name in reversed(names):
                ready = self._catalogue.get(world, name)
                for asked in ready.asked:
                    if not asked.may_match(method.upper(), path):
                        continue
                    index, rule = asked.index, asked.rule
                    if self._take(world, ready.file, index, rule, view, "", _PATH) is None:
                        continue
                    place = ready.file.place(f"rules[{index}]")
                    note(world, name, "fired", f"rules[{index}]", place, event=REQUEST, request=f"{method} {path}")
                    return answer_of(name, rule, place)
        return None

    # What it has done

    def listing(self, world: World) -> list[JsonObject]:
        """{name, description, source, active, stopped (why, or null)} of every scenario."""
        return [self.summary(world, name) for name in self.names(world)]

    def summary(self, world: World, name: str) -> JsonObject:
        file = self.file(world, name)
        return {
            "name": name,
            "description": file.scenario.description,
            "source": file.source,
            "active": name in self.active(world),
            "stopped": stops.why_stopped(world, name),
        }

    def describe(self, world: World, name: str) -> JsonObject:
        """The scenario as written, and what it has done so far; UnknownScenario."""
        return {**self.file(world, name).document, **self.summary(world, name), **self.progress(world, name)}

    def progress(self, world: World, name: str) -> JsonObject:
        """What the logbook has (the newest of each kind), and what is pending, in firing order.

        Rules fired, steps done, skipped and failed, and each time that it was stopped. At the end of what is pending
        stand the steps that wait for a network, without due time (decision S22).
        """
        if not self.knows(world, name):
            raise UnknownScenario(name)
        pending = [
            {
                "due_at": format_timestamp(timer.due_at_ms),
                "part": timer.arguments["part"],
                "place": timer.arguments["place"],
                "object": timer.target,
                "action": timer.arguments["action"] or f"scenario {timer.arguments['hand_to']}",
            }
            for timer in self._pending(world, name)
        ] + [
            {
                "due_at": None,
                "waiting_for": list(held.networks),
                "part": held.part,
                "place": held.place,
                "object": held.target,
                "action": held.action or f"scenario {held.hand_to}",
            }
            for held in holding.held_steps(world, scenario=name)
        ]
        return {
            "rules_fired": notes(world, name, "fired"),
            "steps_done": notes(world, name, "done"),
            "skipped": notes(world, name, "skipped"),
            "failed": notes(world, name, "failed"),
            "stopped": notes(world, name, "stopped"),
            "pending": pending,
        }


__all__ = ["STEP", "TIMELINE", "Answer", "Engine", "UnknownScenario"]
