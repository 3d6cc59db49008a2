"""The details of one resource: its history with causes, its effects, planned timers and related resources."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from simulator.engine.control.call import ControlCall
from simulator.engine.control.history.journal import call_of
from simulator.engine.control.history.lookups import lookups_of, references_of
from simulator.engine.control.objects import explaining
from simulator.engine.control.objects import inspection_shapes as shapes
from simulator.engine.records import origins
from simulator.engine.records.origins import origin_of
from simulator.engine.records.records import find, is_deleted, kind_of, render
from simulator.engine.records.requests import requests_of
from simulator.engine.rows.kind import Record
from simulator.engine.scenario.play.delays import Held, held_steps
from simulator.engine.scenario.play.pending import KINDS, timers_about
from simulator.engine.scenario.play.rules import bound_to
from simulator.engine.text.json import object_of
from simulator.engine.text.masking import Masker
from simulator.engine.vocabulary.vocabulary import identity_of, vocabulary_of
from simulator.engine.webhooks import deliveries_about
from simulator.engine.webhooks import shapes as webhooks
from simulator.kernel.agenda import Timer
from simulator.kernel.clock import format_timestamp
from simulator.kernel.journal import Cause, Event, HistoryEntry
from simulator.kernel.ledger import Entry
from simulator.kernel.world import World


def find_any(world: World, identifier: str) -> Any | None:
    """Return a resource by its id, or a transaction by its public order number. Return None if neither exists."""
    found = find(world, identifier)
    if found is None:
        orders = vocabulary_of(world).provider.orders
        found = next(filter(None, (orders.find(world, name, identifier) for name in world.environments)), None)
    return found


def inspect(call: ControlCall, record: Record) -> shapes.ResourceStory:
    """Return all available details of a resource."""
    world, shown = call.world, _Inspection(call, record)
    resource, history = render(world, record), [shown.step(step) for step in world.journal.history(record.id)]
    timers = [
        *(show_timer(world, timer) for timer in timers_about(world, record.id)),
        *(show_held(held) for held in held_steps(world, about=record.id)),
    ]
    return {
        "resource": resource,
        "kind": record.kind,
        "user_id": record.owner or identity_of(world).account(world).user_id,
        "environment": record.environment,
        "state": record.status,
        "why": explaining.why(kind_of(world, record), resource, history, timers),
        "deleted": is_deleted(world, record.id),
        "origin": shown.origin(),
        "history": history,
        "allowed": shown.allowed,
        "refused": list(shown.refused()),
        "events": [shown.event(event) for event in shown.events],
        "deliveries": [
            webhooks.render_recorded_delivery(world, row)
            for row in deliveries_about(world, record.environment, [event.id for event in shown.events])
        ],
        "ledger_entries": [show_entry(entry) for entry in lookups_of(world).entries.rows_about(record.id)],
        "timers": timers,
        "related": list(shown.related()),
    }


class _Inspection:
    def __init__(self, call: ControlCall, record: Record) -> None:
        self._call, self._world, self._record = call, call.world, record
        self._lookups = lookups_of(call.world)
        self.events = self._lookups.events.rows_about(record.id)
        self.allowed = call.simulator.actions.allowed(call.world, record)

    def event(self, event: Event) -> shapes.StoryEvent:
        trace = origins.trace_of(self._world, event)
        traced: shapes.Traced = {"traceparent": trace} if trace else {}
        return {
            "id": event.id,
            "type": event.type,
            "at": format_timestamp(event.at_ms),
            "cause": self.cause(event.cause),
            **traced,
        }

    def origin(self) -> shapes.ResourceOrigin:
        world, record = self._world, self._record
        history = world.journal.history(record.id)
        bound = bound_to(world, record.id)
        return {
            "at": format_timestamp(record.created_at_ms),
            "cause": self.cause(history[0].cause) if history else None,
            "body": Masker().value(object_of(origin_of(world, record.id).body)) or None,
            "scenario": None if bound is None else bound[0],
        }

    def step(self, step: HistoryEntry) -> shapes.HistoryStep:
        return {
            "state": step.state,
            "at": format_timestamp(step.at_ms),
            "trigger": step.on,
            "cause": self.cause(step.cause),
        }

    def cause(self, cause: Cause) -> shapes.Cause:
        """Render the cause of a change, with details of the request, the control call or the rule that caused it."""
        shown = show_cause(self._world, cause)
        if cause.kind == "request":
            row = self._lookups.requests.oldest(requests_of(self._world), cause.reference)
            if row is not None:
                shown["request"] = {"id": row.id, "method": row.method, "path": row.path, "status": row.status}
        elif cause.kind == "rule":
            condition = explaining.condition_in(
                self._world, self._call.simulator.engine.catalogue.file, cause.name, cause.reference
            )
            if condition:
                shown["condition"] = condition
        elif cause.kind == "action":
            by = call_of(self._world, cause.reference)
            if by is not None:
                shown["control"] = {"id": by["id"], "method": by["method"], "path": by["path"], "body": by["body"]}
        return shown

    def refused(self) -> Iterator[shapes.RefusedAction]:
        """Yield the actions for this kind of resource that are not legal in the current state, with the reasons."""
        record = self._record
        machine = kind_of(self._world, record).machine
        for name, rows in self._call.simulator.actions.rows.items():
            row = next((row for row in rows if record.kind in row.kinds), None)
            if name in self.allowed or row is None:
                continue
            legal_in = row.states(machine)
            reason = row.guard(self._world, record) if record.status in legal_in else None
            if reason is None:
                reason = f"not legal in the state {record.status!r}"
                reason += f", only in {', '.join(legal_in)}" if legal_in else ""
            yield {"action": name, "reason": reason}

    def related(self) -> Iterator[shapes.RelatedResource]:
        """Yield the order of a transaction, the resources that the record refers to, and those that refer to it."""
        world, record = self._world, self._record
        number = vocabulary_of(world).provider.orders.number_of(record)
        if number is not None:
            yield {"relation": "order", "id": number, "kind": "order", "state": record.status}
        for name, identifier in references_of(world, record).items():
            yield self._relation(name.removesuffix("_id"), identifier)
        for identifier in self._lookups.referring.of(record.id):
            other = find(world, identifier)
            if other is not None:
                yield self._relation(kind_of(world, other).family or other.kind, identifier)

    def _relation(self, relation: str, identifier: str) -> shapes.RelatedResource:
        other = find(self._world, identifier)
        kind, state = (None, None) if other is None else (other.kind, other.status)
        return {"relation": relation, "id": identifier, "kind": kind, "state": state}


def show_timer(world: World, timer: Timer) -> shapes.StoryTimer:
    """Render a service timer with its description, or a scenario step with its file and line."""
    due_at = format_timestamp(timer.due_at_ms)
    if timer.kind not in KINDS:
        return {"due_at": due_at, "kind": timer.kind, "text": _does(world, timer.kind)}
    return {**_show_step(timer.kind, timer.arguments), "due_at": due_at}


def show_held(held: Held) -> shapes.StoryTimer:
    """Render a scenario step that is waiting for unavailable networks."""
    return {**_show_step(held.kind, held.arguments()), "waiting_for": list(held.networks)}


def _show_step(kind: str, arguments: Mapping[str, Any]) -> shapes.StoryTimer:
    file, line = _split_location(arguments["place"])
    return {
        "due_at": None,
        "kind": kind,
        "scenario": arguments["scenario"],
        "part": arguments["part"],
        "file": file,
        "line": line,
        "action": arguments["action"] or f"scenario {arguments['hand_to']}",
        "parameters": arguments["parameters"],
    }


def _split_location(location: str) -> tuple[str, int | None]:
    file, _, line = location.rpartition(":")
    return file or location, int(line) if re.fullmatch(r"[0-9]{1,9}", line) else None


def show_entry(entry: Entry) -> shapes.LedgerEntry:
    """Render a ledger entry, with amounts as decimal strings."""
    return {
        "number": entry.number,
        "at": format_timestamp(entry.at_ms),
        "purpose": entry.purpose,
        "postings": [
            {"account": posting.account, "currency": posting.currency, "amount": f"{posting.amount:f}"}
            for posting in entry.postings
        ],
    }


def show_cause(world: World, cause: Cause) -> shapes.Cause:
    """Render the cause of a change. If the cause is a rule, include the rule's file and line."""
    shown: shapes.Cause = {
        "kind": cause.kind,
        "name": cause.name,
        "reference": cause.reference,
        "text": _describe_cause(world, cause),
    }
    if cause.kind == "rule":
        shown["file"], shown["line"] = _split_location(cause.reference)
    return shown


def _describe_cause(world: World, cause: Cause) -> str:
    if cause.kind == "request":
        return f"the request {cause.name} ({cause.reference})"
    if cause.kind == "law":
        return f"the timer: {_does(world, cause.name)}"
    if cause.kind == "rule":
        return f"a rule of the scenario {cause.name}, {cause.reference}"
    if cause.kind == "action":
        return f"the control call {cause.name}" + (f" ({cause.reference})" if cause.reference else "")
    return "the beginning of the world"


def _does(world: World, kind: str) -> str:
    """Return the description of a kind of timer, or its name if it has none, as for webhook attempts."""
    row = world.wiring.timers.get(kind)
    return kind if row is None else row.does
