"""The action `emit`: emits any event in the catalogue, with a named resource, the newest matching resource, or an
example.

A resource matches if a transition with this event leads to its status. If a named resource has another status, the
event contains a status to which such a transition leads. In examples, the strings `@`, `@+30m` and `@-1d` are times
relative to now.
"""

from __future__ import annotations

from typing import Any

from simulator.engine.records.conditions import field_in, newest_of
from simulator.engine.records.records import find, no_resource, render_for_event
from simulator.engine.rows.action import ActionCall
from simulator.engine.rows.error import ControlError
from simulator.engine.rows.event import emit
from simulator.engine.text.json import JsonObject, loads
from simulator.engine.vocabulary.subjects import Subject
from simulator.engine.vocabulary.vocabulary import vocabulary_of
from simulator.engine.webhooks import bodies
from simulator.engine.worlds import quotas
from simulator.kernel.clock import format_timestamp, parse_duration
from simulator.kernel.journal import EVENTS
from simulator.kernel.store import TableKey
from simulator.kernel.world import World


def emit_example(call: ActionCall[None, bodies.EmitParameters]) -> JsonObject:
    """Run the action `emit`, and return the object that was sent."""
    world, environment, event_type = call.world, call.environment, call.parameters.type
    quotas.require_event_room(world)
    about = call.parameters.about
    if about is None:
        subject, object_id = _subject(world, environment, event_type)
    else:
        (subject, environment), object_id = _named(world, environment, event_type, about), about
    subject |= call.parameters.object or {}
    if isinstance(subject.get("id"), str):
        object_id = subject["id"]
    emit(world, environment, event_type, subject, object_id)
    return subject


def _subject(world: World, environment: str, event_type: str) -> tuple[JsonObject, str]:
    vocabulary = vocabulary_of(world)
    subjects = vocabulary.subjects[event_type]
    shown = next((one for one in subjects if one.kind.name == vocabulary.events[event_type].example_of), subjects[0])
    if shown.kind.sole is not None:
        record = shown.kind.sole(world)
        own = render_for_event(world, record)
        return own if record.status in shown.statuses else own | _at(world.now_ms, shown.example), record.object_id
    more = event_type in shown.kind.event_shapes
    found = _last_sent(world, environment, event_type) if more else _standing(world, environment, subjects)
    if found is not None:
        return found
    example: JsonObject = _at(world.now_ms, shown.example)
    return example, example.get("id") or f"network_{environment}_{example['network']}"


def _named(world: World, environment: str, event_type: str, about: str) -> tuple[JsonObject, str]:
    """Return a resource as this event would show it now, and its environment. Raise `ControlError` 404 for an unknown
    id, or 400 if the event is never about this kind of resource.
    """
    record = find(world, about)
    if record is None:
        raise no_resource(world, about, "about")
    subjects = vocabulary_of(world).subjects[event_type]
    fitting = next((one for one in subjects if one.kind.name == record.kind), None)
    if fitting is None or fitting.kind.sole is not None or event_type in fitting.kind.event_shapes:
        message = (
            f"{about!r} is of the kind {record.kind}, and {event_type} cannot be sent about such a resource by its id."
        )
        raise ControlError(400, "invalid_parameter", message, "about")
    shown, field = render_for_event(world, record), fitting.kind.status_field
    if field in shown and shown[field] not in fitting.statuses:
        shown[field] = fitting.statuses[0]
        if "updated_at" in shown:
            shown["updated_at"] = format_timestamp(world.now_ms)
    return shown, getattr(record, "environment", environment)


def _standing(world: World, environment: str, subjects: tuple[Subject, ...]) -> tuple[JsonObject, str] | None:
    """Return the newest resource with a kind and status of the event, as (object, id), or None."""
    # Kinds that share a table are searched together. Six kinds are transactions.
    kinds: dict[tuple[TableKey[Any], tuple[str, ...]], list[str]] = {}
    for subject in subjects:
        kinds.setdefault((subject.kind.table, subject.statuses), []).append(subject.kind.name)
    found: list[Any] = []
    for (table, statuses), names in kinds.items():
        own, matching = table.of(environment), (field_in("status", *statuses), field_in("kind", *names))
        for address in (own, own.of_deleted):
            found += newest_of(world.store[address], matching, 1)
    record = max(found, key=lambda one: one.sequence, default=None)
    return None if record is None else (render_for_event(world, record), record.id)


def _last_sent(world: World, environment: str, event_type: str) -> tuple[JsonObject, str] | None:
    """Return the object in the newest event of this type, or None. Some objects, such as runs, exist in events only."""
    wanted = field_in("type", event_type), field_in("environment", environment)
    for event in newest_of(world.store[EVENTS], wanted, 1):
        found: JsonObject = loads(event.raw)["data"]["object"]
        return found, event.object_id
    return None


def _at(now_ms: int, value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _at(now_ms, member) for name, member in value.items()}
    if isinstance(value, list):
        return [_at(now_ms, member) for member in value]
    if isinstance(value, str) and value.startswith("@"):
        span_ms = parse_duration(value[2:]) if len(value) > 1 else 0
        return format_timestamp(now_ms + (-span_ms if value[1:2] == "-" else span_ms))
    return value
