"""The action `emit`: any event of the catalogue, about the newest resource that fits, else about a realistic example.

A resource fits when it stands where a move that emits this event leads: the state tables say so. It is told as it is.
`examples.json` holds one whole object for each event type; a text `@`, `@+30m` or `@-1d` in it stands for a moment
counted from now.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from itertools import islice
from typing import Any

from simulator.kernel.clock import format_timestamp, parse_duration
from simulator.kernel.machine import Machine
from simulator.kernel.world import World
from simulator.resources.profile import profile_of, show_kyc
from simulator.resources.webhooks.bodies import EmitParameters
from simulator.wire.actions import ActionCall
from simulator.wire.events import EVENT_TYPES, emit
from simulator.wire.fields import Wrong, wrong
from simulator.wire.json import JsonObject, loads
from simulator.wire.records import render_for_event
from simulator.wire.strict import did_you_mean

_ENABLED = {"enabled"}
"""An endpoint that can be tested; webhook.test is no move of its state table."""


def check_emit(parameters: EmitParameters) -> Iterator[Wrong]:
    """What is wrong with the parameters of emit."""
    if parameters.type not in EVENT_TYPES:
        hint = did_you_mean(parameters.type, EVENT_TYPES)
        yield wrong("type", f"there is no event type {parameters.type!r}{hint}")


def emit_example(call: ActionCall[None, EmitParameters]) -> JsonObject:
    """The action emit; answers the object that was sent."""
    world, environment, event_type = call.world, call.environment, call.parameters.type
    subject, object_id = _subject(world, environment, event_type)
    subject |= call.parameters.object or {}
    if isinstance(subject.get("id"), str):
        object_id = subject["id"]
    emit(world, environment, event_type, subject, object_id)
    return subject


def _subject(world: World, environment: str, event_type: str) -> tuple[JsonObject, str]:
    example = _example(world, event_type)
    if event_type.startswith("kyc."):
        profile = profile_of(world)
        shown: JsonObject = {**show_kyc(profile)}
        if shown["kyc_status"] != example["kyc_status"]:
            shown |= example | {"account_type": shown["account_type"], "level": shown["level"]}
        return shown, profile.user_id
    told = _told_last(world, environment, event_type) if "run" in example else _standing(world, environment, event_type)
    return told or (example, example.get("id") or f"network_{environment}_{example['network']}")


def _standing(world: World, environment: str, event_type: str) -> tuple[JsonObject, str] | None:
    """The newest resource that stands where this event leaves one, as it is."""
    found: list[Any] = []
    for kind in world.wiring.kinds.values():
        if kind.sole is not None:
            continue
        states = (
            _ENABLED if event_type == "webhook.test" and kind.name == "webhook" else _states(kind.machine, event_type)
        )
        own = kind.table.of(environment)
        for address in (own, own.of_deleted) if states else ():
            newest = world.store[address].newest_first()
            found += islice((one for one in newest if one.kind == kind.name and one.status in states), 1)
    record = max(found, key=lambda one: one.sequence, default=None)
    return None if record is None else (render_for_event(world, record), record.id)


def _states(machine: Machine, event_type: str) -> set[str]:
    """Where the moves that emit an event lead."""
    moves = (*machine.initial, *(move for row in machine.rows.values() for move in row))
    return {move.target for move in moves if event_type in move.events}


def _told_last(world: World, environment: str, event_type: str) -> tuple[JsonObject, str] | None:
    """What the newest event of this type told: of a run only its event knows."""
    for event in world.journal.events_newest_first():
        if event.type == event_type and event.environment == environment:
            told: JsonObject = loads(event.raw)["data"]["object"]
            return told, event.object_id
    return None


def _example(world: World, event_type: str) -> JsonObject:
    filled: JsonObject = _at(world.now_ms, examples()[event_type])
    return filled


@cache
def examples() -> dict[str, JsonObject]:
    """One object for each event type, moments still written as `@…`; not to be changed."""
    found: dict[str, JsonObject] = loads(files(__package__).joinpath("examples.json").read_bytes())
    return found


def _at(now_ms: int, value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _at(now_ms, member) for name, member in value.items()}
    if isinstance(value, list):
        return [_at(now_ms, member) for member in value]
    if isinstance(value, str) and value.startswith("@"):
        span_ms = parse_duration(value[2:]) if len(value) > 1 else 0
        return format_timestamp(now_ms + (-span_ms if value[1:2] == "-" else span_ms))
    return value
