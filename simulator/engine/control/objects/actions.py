"""Actions, resources and their state tables: doing what the outside world does, and looking at every object."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from sys import intern
from typing import Annotated, Any, NotRequired

from pydantic import Field, with_config
from typing_extensions import TypedDict

from simulator.engine.control.call import ControlCall
from simulator.engine.control.objects.explaining import meanings
from simulator.engine.control.objects.inspection import find_any, inspect
from simulator.engine.control.objects.inspection_shapes import ResourceStory
from simulator.engine.control.operation import LIMIT, any_text, calls_under
from simulator.engine.control.refusals import wrong
from simulator.engine.control.shapes import AnyObject, Envelope, Environment, embedded
from simulator.engine.control.worlds import holdings
from simulator.engine.records.records import find, ids_newest_first, no_resource, render
from simulator.engine.rows.action import ActionTable, Performed
from simulator.engine.rows.kind import Kind, Record
from simulator.engine.rows.vocabulary import identity_of
from simulator.engine.scenario.language.shapes import StoppedScenario
from simulator.engine.text.fields import Body
from simulator.engine.text.json import JsonObject
from simulator.engine.text.shapes import Timestamp
from simulator.engine.text.strict import did_you_mean
from simulator.kernel.clock import format_timestamp
from simulator.kernel.journal import Cause, newest
from simulator.kernel.world import World

operation = calls_under("Actions")


class ActionAnswer(TypedDict):
    action: str
    """The action that was performed."""
    target: str | None
    """What it acted on, by id; null for an action on the world."""
    at: Timestamp
    """When it was performed, in simulated time."""
    resource: AnyObject | None
    """The resource after the action, as the interface shows it; null where there is nothing to show."""
    events: list[Envelope]
    """The envelopes of the events that it emitted, in their order."""
    stopped_scenarios: NotRequired[list[StoppedScenario]]
    """The scenarios that were stopped meanwhile; left out when there were none."""


class ActionEntry(TypedDict):
    name: str
    """The action's name, the same in scenario files and on the command line."""
    does: str
    """What it does in the world outside."""
    targets: list[str]
    """The kinds of resource that it acts on; empty for an action on the world."""
    parameters: Annotated[AnyObject, Field(description="A JSON Schema.")]


class ActionList(TypedDict):
    data: list[ActionEntry]
    """The actions."""


@with_config(extra="allow")
class ShownResource(TypedDict):
    kind: str
    """What sort of resource it is."""
    user_id: str
    """The platform user whose it is: the account of the world, or another user."""
    environment: Environment
    """The environment that it lies in."""


class ResourceList(TypedDict):
    data: list[ShownResource]
    """The resources, oldest first."""


@operation("GET /actions", "Every action and its parameters", query=LIMIT)
async def list_actions(call: ControlCall) -> ActionList:
    """Every action, with the kinds it acts on and the JSON Schema of its parameters."""
    table: ActionTable = call.simulator.actions
    shown: list[ActionEntry] = []
    for name, rows in newest(list(table.rows.items()), call.limit()):
        schemas = [_closed(row.parameters()) for row in rows]
        distinct = [schema for index, schema in enumerate(schemas) if schema not in schemas[:index]]
        parameters = distinct[0] if len(distinct) == 1 else {"anyOf": distinct}
        shown.append({"name": name, "does": rows[0].does, "targets": table.kinds(name), "parameters": parameters})
    return {"data": shown}


def _closed(model: type[Body]) -> JsonObject:
    """The schema of an action's parameters; those that it does not know are refused."""
    schema = model.model_json_schema()
    own = _inlined({name: part for name, part in schema.items() if name != "$defs"}, schema.get("$defs", {}))
    return {**own, "additionalProperties": False}


def _inlined(part: Any, definitions: JsonObject) -> Any:
    """A schema with what it refers to in place of the references, and without titles: both are names of our classes.

    Among several schemas (`anyOf`) a reference to definitions of one of them would lead nowhere, too.
    """
    if isinstance(part, list):
        return [_inlined(one, definitions) for one in part]
    if not isinstance(part, dict):
        return part
    if "$ref" in part:
        return _inlined(definitions[part["$ref"].rpartition("/")[2]], definitions)
    named = part.get("title")  # where it is an object, it is a property of this name
    return {
        name: _inlined(one, definitions) for name, one in part.items() if name != "title" or not isinstance(named, str)
    }


_MAKE_KEYS = ("create_key", "rotate_webhook_key")
"""Actions whose caller learns a new key from the answer, and from nowhere else."""


@operation(
    "POST /actions/{action}",
    "Do what the outside world does",
    takes="raw",
    by_environment=True,
    recorded_as="action",
    keeps_answer=True,
)
async def perform(call: ControlCall) -> ActionAnswer:
    """Perform an action on the target in the body, with its parameters; returns the resource afterwards and its events.

    400 for parameters, 404 for a target that is not there, 409 invalid_transition with the allowed actions.
    """
    world = call.world
    parameters = dict(call.raw)
    target = parameters.pop("target", None)
    if target is not None and not isinstance(target, str):
        raise wrong("target", "it must be the id of a resource")
    name = call.path["action"]
    if name == "emit":
        await holdings.require_room(call.simulator, world, "quota_events", events=1, size=len(call.sent))
        world = call.world
    table = call.simulator.actions
    done = table.perform(world, name, target, parameters, call.environment, Cause("action", intern(name), call.id))
    call.shows_keys = name in _MAKE_KEYS
    answer = show_performed(done)
    await call.runtime.follow_up(world)
    return {**answer, **call.stopped_scenarios(world)}


def show_performed(done: Performed) -> ActionAnswer:
    """What an action did, as the control interface shows it."""
    return {
        "action": done.action,
        "target": done.target,
        "at": format_timestamp(done.at_ms),
        "resource": done.resource,
        "events": [embedded(event.raw) for event in done.events],
    }


@operation(
    "GET /resources",
    "Every resource of the world",
    query={
        "type": any_text("Only resources of this kind."),
        "user_id": any_text("Only those of this platform user."),
        **LIMIT,
    },
)
async def list_resources(call: ControlCall) -> Annotated[JsonObject, ResourceList]:
    """Every resource of the world in the order of creation, those of other platform users included."""
    world = call.world
    wanted, user = call.query.get("type") or None, call.query.get("user_id") or None
    known = list(dict.fromkeys(name for kind in world.wiring.kinds.values() if kind.listed for name in kind.types))
    if wanted and wanted not in known:
        raise wrong("type", f"there are no resources of the type {wanted[:100]!r}{did_you_mean(wanted, known)}")
    account = identity_of(world).account(world).user_id
    some = (record for record in _newest_first(world, wanted) if user in (None, record.owner or account))
    shown = list(islice(some, call.limit()))[::-1]
    return {
        "data": [
            {
                **render(world, record),
                "kind": record.kind,
                "user_id": record.owner or account,
                "environment": record.environment,
            }
            for record in shown
        ]
    }


def resources_of_type(world: World, wanted: str | None = None) -> list[Any]:
    """The resources of a kind, or of another type that kinds are listed as (None: all), oldest first."""
    return list(_newest_first(world, wanted))[::-1]


def _newest_first(world: World, wanted: str | None) -> Iterator[Record]:
    listed = (kind for kind in world.wiring.kinds.values() if kind.listed)
    kinds = {kind.name: kind.table.name for kind in listed if wanted is None or wanted in kind.types}
    for resource_id in ids_newest_first(world, frozenset(kinds.values())):
        record = find(world, resource_id)
        if record is not None and record.kind in kinds:
            yield record


@operation("GET /resources/{id}", "One resource, its history and what it allows")
async def get_resource(call: ControlCall) -> ResourceStory:
    """A resource with its moves and their causes, events, deliveries, ledger entries, timers, actions."""
    world = call.world
    record = find_any(world, call.path["id"])
    if record is None:
        raise no_resource(world, call.path["id"])
    return inspect(world, record, call.simulator.actions, call.lookups, call.simulator.engine.file)


class StateEntry(TypedDict):
    state: str
    """The state, as statuses name it."""
    means: str
    """What it says to an integrator; "" where the state itself says it."""


MoveEntry = TypedDict(
    "MoveEntry",
    {
        "from": Annotated[str | None, Field(description="The state that it leaves; null where it makes the resource.")],
        "on": Annotated[str, Field(description="The call, action or timer that makes the move.")],
        "when": Annotated[str, Field(description='The case in which it does; "" in every one.')],
        "to": Annotated[str, Field(description="The state that it leads to.")],
        "events": Annotated[list[str], Field(description="The types of the events that tell of it.")],
    },
)
"""One way from state to state."""


class StateTable(TypedDict):
    kind: str
    """The kind of resource."""
    name: str
    """What its state table is called."""
    states: list[StateEntry]
    """Its states, in the order of the table."""
    moves: list[MoveEntry]
    """The ways between them."""


class StateTables(TypedDict):
    data: list[StateTable]
    """The tables, one for each kind."""


@operation("GET /states", "The state table of every kind", query=LIMIT)
async def list_states(call: ControlCall) -> StateTables:
    """The state table of every kind of resource: its states with what they mean, and the moves between them."""
    kinds = list(call.world.wiring.kinds.values())
    return {"data": [_table(kind) for kind in newest(kinds, call.limit())]}


def _table(kind: Kind[Any]) -> StateTable:
    machine, means = kind.machine, meanings(kind, kind.status_field)
    begun = ((None, move) for move in machine.initial)
    made = ((state, move) for state, row in machine.rows.items() for move in row)
    return {
        "kind": kind.name,
        "name": machine.name,
        "states": [{"state": state, "means": means.get(state, "")} for state in machine.rows],
        "moves": [
            {"from": state, "on": move.on, "when": move.when, "to": move.target, "events": list(move.events)}
            for state, move in (*begun, *made)
        ],
    }
