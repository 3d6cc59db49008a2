"""Control calls that perform actions, and calls that list resources and state tables."""

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
from simulator.engine.control.refusals import invalid_parameter
from simulator.engine.control.shapes import AnyObject, Envelope, Environment, embedded
from simulator.engine.control.worlds import holdings
from simulator.engine.records.records import find, ids_newest_first, no_resource, render
from simulator.engine.rows.action import ActionTable
from simulator.engine.rows.kind import Kind, Record
from simulator.engine.scenario.language.shapes import StoppedScenario
from simulator.engine.text.fields import Body
from simulator.engine.text.json import JsonObject
from simulator.engine.text.shapes import Timestamp
from simulator.engine.text.strict import did_you_mean
from simulator.engine.vocabulary.vocabulary import identity_of
from simulator.kernel.clock import format_timestamp
from simulator.kernel.journal import Cause
from simulator.kernel.world import World

operation = calls_under("Actions")


class ActionAnswer(TypedDict):
    action: str
    """The action that was performed."""
    target: str | None
    """The id of the target; null for an action on the world."""
    at: Timestamp
    """The simulated time of the action."""
    resource: AnyObject | None
    """The resource after the action, as the API shows it; null if there is none."""
    events: list[Envelope]
    """The envelopes of the events that the action emitted, in order."""
    stopped_scenarios: NotRequired[list[StoppedScenario]]
    """The scenarios that failed and were stopped during the call; omitted if there are none."""


class ActionEntry(TypedDict):
    name: str
    """The name of the action, as in scenario files and on the command line."""
    does: str
    """A description of the action."""
    targets: list[str]
    """The kinds of resource that the action applies to; empty for an action on the world."""
    parameters: Annotated[AnyObject, Field(description="A JSON Schema.")]


class ActionList(TypedDict):
    data: list[ActionEntry]
    """The actions."""


@with_config(extra="allow")
class ShownResource(TypedDict):
    kind: str
    """The kind of resource."""
    user_id: str
    """The platform user who owns the resource: the world's account, or another user."""
    environment: Environment
    """The environment of the resource."""


class ResourceList(TypedDict):
    data: list[ShownResource]
    """The resources, oldest first."""


@operation("GET /actions", "List the actions", query=LIMIT)
async def list_actions(call: ControlCall) -> ActionList:
    """List the actions, with the kinds of resource they apply to and the JSON Schemas of their parameters."""
    table: ActionTable = call.simulator.actions
    shown: list[ActionEntry] = []
    for name, rows in call.newest(list(table.rows.items())):
        schemas = [_closed(row.parameters()) for row in rows]
        distinct = [schema for index, schema in enumerate(schemas) if schema not in schemas[:index]]
        parameters = distinct[0] if len(distinct) == 1 else {"anyOf": distinct}
        shown.append({"name": name, "does": rows[0].does, "targets": table.kinds(name), "parameters": parameters})
    return {"data": shown}


def _closed(model: type[Body]) -> JsonObject:
    schema = model.model_json_schema()
    own = _inlined({name: part for name, part in schema.items() if name != "$defs"}, schema.get("$defs", {}))
    return {**own, "additionalProperties": False}


def _inlined(part: Any, definitions: JsonObject) -> Any:
    """Return a JSON Schema without titles and `$ref`, which contain names of Python classes."""
    if isinstance(part, list):
        return [_inlined(one, definitions) for one in part]
    if not isinstance(part, dict):
        return part
    if "$ref" in part:
        return _inlined(definitions[part["$ref"].rpartition("/")[2]], definitions)
    named = part.get("title")  # Here, a dictionary is the schema of a property called "title".
    return {
        name: _inlined(one, definitions) for name, one in part.items() if name != "title" or not isinstance(named, str)
    }


_MAKE_KEYS = ("create_key", "rotate_webhook_key")
"""Actions that return a new key. The caller cannot read this key anywhere else."""


@operation(
    "POST /actions/{action}",
    "Perform an action of a third party",
    takes="raw",
    by_environment=True,
    recorded_as="action",
    keeps_answer=True,
)
async def perform(call: ControlCall) -> ActionAnswer:
    """Perform an action, such as the arrival of a payment, on the target named in the body. The other fields of the
    body are the parameters of the action. If the action is not legal in the current state, the response is 409
    invalid_transition, and `error.allowed` lists the legal actions.
    """
    world = call.world
    parameters = dict(call.raw)
    target = parameters.pop("target", None)
    if target is not None and not isinstance(target, str):
        raise invalid_parameter("target", "it must be the id of a resource")
    name = call.path["action"]
    if name == "emit":
        await holdings.require_room(call.simulator, world, "quota_events", events=1, size=len(call.sent))
        world = call.world
    table = call.simulator.actions
    done = table.perform(world, name, target, parameters, call.environment, Cause("action", intern(name), call.id))
    call.shows_keys = name in _MAKE_KEYS
    await call.runtime.follow_up(world)
    return {
        "action": done.action,
        "target": done.target,
        "at": format_timestamp(done.at_ms),
        "resource": done.resource,
        "events": [embedded(event.raw) for event in done.events],
        **call.stopped_scenarios(world),
    }


@operation(
    "GET /resources",
    "List the resources of the world",
    query={
        "type": any_text("Only resources of this kind."),
        "user_id": any_text("Only resources of this platform user."),
        **LIMIT,
    },
)
async def list_resources(call: ControlCall) -> Annotated[JsonObject, ResourceList]:
    """List the resources of the world, including those of other platform users, in order of creation."""
    world, wanted, user = call.world, call.given("type"), call.given("user_id")
    known = list(dict.fromkeys(name for kind in world.wiring.kinds.values() if kind.listed for name in kind.types))
    if wanted and wanted not in known:
        hint = did_you_mean(wanted, known) or f"; the types are {', '.join(sorted(known))}"
        raise invalid_parameter("type", f"unknown resource type {wanted[:100]!r}{hint}")
    account = identity_of(world).account(world).user_id
    some = (record for record in newest_first(world, wanted) if user in (None, record.owner or account))
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


def newest_first(world: World, wanted: str | None) -> Iterator[Record]:
    """Yield all resources, or those of one kind or of a type that several kinds share."""
    listed = (kind for kind in world.wiring.kinds.values() if kind.listed)
    kinds = {kind.name: kind.table.name for kind in listed if wanted is None or wanted in kind.types}
    for resource_id in ids_newest_first(world, frozenset(kinds.values())):
        record = find(world, resource_id)
        if record is not None and record.kind in kinds:
            yield record


@operation("GET /resources/{id}", "Inspect a resource")
async def get_resource(call: ControlCall) -> ResourceStory:
    """Return a resource with its history, events, deliveries, ledger entries, timers and legal actions. Use this call
    to find out why a resource has its current status (`why`) and what can happen next (`allowed`, `timers`).
    """
    world = call.world
    record = find_any(world, call.path["id"])
    if record is None:
        raise no_resource(world, call.path["id"])
    return inspect(call, record)


class StateEntry(TypedDict):
    state: str
    """The name of the state, as in `status`."""
    means: str
    """The meaning of the state; "" if its name is clear."""


MoveEntry = TypedDict(
    "MoveEntry",
    {
        "from": Annotated[str | None, Field(description="The previous state; null if the resource is created.")],
        "on": Annotated[str, Field(description="The operation, action or timer that triggers it.")],
        "when": Annotated[str, Field(description='The case in which it applies; "" for every case.')],
        "to": Annotated[str, Field(description="The next state.")],
        "events": Annotated[list[str], Field(description="The types of the events it emits.")],
    },
)
"""A transition rule of a state table."""


class StateTable(TypedDict):
    kind: str
    """The kind of resource."""
    name: str
    """The name of the state table."""
    states: list[StateEntry]
    """The states, in the order of the table."""
    moves: list[MoveEntry]
    """The transitions between them."""


class StateTables(TypedDict):
    data: list[StateTable]
    """The state tables, one per kind."""


@operation("GET /states", "List the state tables", query=LIMIT)
async def list_states(call: ControlCall) -> StateTables:
    """List the state table of each kind of resource.

    A table contains the states, their meanings and the transitions.
    """
    return {"data": [_show_table(kind) for kind in call.newest(list(call.world.wiring.kinds.values()))]}


def _show_table(kind: Kind[Any]) -> StateTable:
    machine, means = kind.machine, meanings(kind, kind.status_field)
    initial = ((None, move) for move in machine.initial)
    later = ((state, move) for state, row in machine.rows.items() for move in row)
    return {
        "kind": kind.name,
        "name": machine.name,
        "states": [{"state": state, "means": means.get(state, "")} for state in machine.rows],
        "moves": [
            {"from": state, "on": move.on, "when": move.when, "to": move.target, "events": list(move.events)}
            for state, move in (*initial, *later)
        ],
    }
