"""Actions and resources: doing what the outside world does, and seeing the state and story of every object."""

from __future__ import annotations

from typing import Any

import orjson

from simulator.control.operation import ControlCall, ControlOperation, wrong
from simulator.kernel.clock import format_timestamp
from simulator.kernel.journal import Cause, Step, newest
from simulator.kernel.world import World
from simulator.resources.profile import profile_of
from simulator.resources.webhooks import all_deliveries, render_recorded_delivery
from simulator.wire.errors import ControlError
from simulator.wire.json import JsonObject
from simulator.wire.records import Record, find, is_deleted, render
from simulator.wire.triggers import Performed, TriggerTable

_FAMILIES = {
    "transaction": ("onramp", "offramp", "send", "buy", "swap", "withdraw", "deposit_transaction"),
    "quote": ("ramp_quote", "swap_quote", "buy_quote", "withdraw_quote"),
    "lightning_entry": ("lightning_address", "invoice"),
}

_HIDDEN = ("api_key",)
"""Kinds that are shown elsewhere: key pairs stand in the world object."""


async def list_actions(call: ControlCall) -> JsonObject:
    """Every action, with the kinds it acts on and the JSON Schema of its parameters."""
    table: TriggerTable = call.application.simulator.triggers
    return {
        "data": [
            {
                "name": name,
                "does": rows[0].does,
                "targets": table.kinds(name),
                "parameters": _schema([row.parameters.model_json_schema() for row in rows]),
            }
            for name, rows in table.rows.items()
        ]
    }


def _schema(schemas: list[JsonObject]) -> JsonObject:
    distinct = [schema for index, schema in enumerate(schemas) if schema not in schemas[:index]]
    return distinct[0] if len(distinct) == 1 else {"anyOf": distinct}


async def perform(call: ControlCall) -> JsonObject:
    world = call.world
    parameters = dict(call.raw)
    target = parameters.pop("target", None)
    if target is not None and not isinstance(target, str):
        raise wrong("target", "it must be the id of a resource")
    name = call.path["action"]
    table = call.application.simulator.triggers
    done = table.perform(world, name, target, parameters, call.environment, Cause("action", name, "control"))
    answer = show_performed(done)
    if not call.application.driver.is_busy(world):
        world.fire_due()
    call.application.changed(world)
    return answer


def show_performed(done: Performed) -> JsonObject:
    return {
        "action": done.action,
        "target": done.target,
        "at": format_timestamp(done.at_ms),
        "resource": done.resource,
        "events": [orjson.Fragment(event.raw) for event in done.events],
    }


async def list_resources(call: ControlCall) -> JsonObject:
    """Every resource of the world in the order of creation, those of other platform users included."""
    world = call.world
    wanted, user = call.query.get("type") or None, call.query.get("user_id") or None
    account = profile_of(world).user_id
    shown = []
    for resource_id in world.store.table("index").rows:
        record = find(world, resource_id)
        if record is None or record.kind in _HIDDEN or (user is not None and (record.owner or account) != user):
            continue
        if wanted is not None and not _is_of_type(record, wanted):
            continue
        shown.append(record)
    return {
        "data": [
            {
                **render(world, record),
                "kind": record.kind,
                "user_id": record.owner or account,
                "environment": record.environment,
            }
            for record in newest(shown, call.limit())
        ]
    }


def _is_of_type(record: Any, wanted: str) -> bool:
    return record.kind == wanted or record.kind in _FAMILIES.get(wanted, ()) or getattr(record, "type", None) == wanted


async def get_resource(call: ControlCall) -> JsonObject:
    """A resource with its story: moves and their causes, events, deliveries, ledger entries, timers, actions."""
    world = call.world
    record = find(world, call.path["id"])
    if record is None:
        raise ControlError(404, "not_found", f"There is no resource with the id {call.path['id']!r}.")
    return story(world, record, call.application.simulator.triggers)


def story(world: World, record: Record, triggers: TriggerTable) -> JsonObject:
    events = [event for event in world.journal.events() if event.object_id == record.id]
    event_ids = {event.id for event in events}
    allowed = triggers.allowed(world, record)
    applicable = [name for name, rows in triggers.rows.items() if any(record.kind in row.kinds for row in rows)]
    return {
        "resource": render(world, record),
        "kind": record.kind,
        "user_id": record.owner or profile_of(world).user_id,
        "environment": record.environment,
        "state": record.status,
        "deleted": is_deleted(world, record.id),
        "history": [show_step(step) for step in world.journal.history(record.id)],
        "allowed": allowed,
        "refused": [
            {"action": name, "reason": f"not legal in the state {record.status!r}"}
            for name in applicable
            if name not in allowed
        ],
        "events": [
            {"id": event.id, "type": event.type, "at": format_timestamp(event.at_ms), "cause": show_cause(event.cause)}
            for event in events
        ],
        "deliveries": [
            render_recorded_delivery(world, row) for row in all_deliveries(world) if row.event_id in event_ids
        ],
        "ledger_entries": [
            {
                "number": entry.number,
                "at": format_timestamp(entry.at_ms),
                "purpose": entry.purpose,
                "postings": [
                    {"account": posting.account, "currency": posting.currency, "amount": f"{posting.amount:f}"}
                    for posting in entry.postings
                ],
            }
            for entry in world.ledger.entries()
            if entry.resource_id == record.id
        ],
        "timers": [
            {"due_at": format_timestamp(timer.due_at_ms), "kind": timer.kind}
            for timer in world.agenda.in_firing_order()
            if timer.target == record.id
        ],
    }


def show_step(step: Step) -> JsonObject:
    return {
        "state": step.state,
        "at": format_timestamp(step.at_ms),
        "trigger": step.trigger,
        "cause": show_cause(step.cause),
    }


def show_cause(cause: Cause) -> JsonObject:
    """Why: {kind: request | law | action | rule | start, name, reference}."""
    return {"kind": cause.kind, "name": cause.name, "reference": cause.reference}


ROWS: tuple[ControlOperation, ...] = (
    ControlOperation("GET", "/actions", "list_actions", "Every action and its parameters", list_actions),
    ControlOperation("POST", "/actions/{action}", "perform", "Do what the outside world does", perform),
    ControlOperation("GET", "/resources", "list_resources", "Every resource of the world", list_resources),
    ControlOperation("GET", "/resources/{id}", "get_resource", "One resource and its story", get_resource),
)
