"""Control calls that create, fork, list, reset and delete worlds."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from typing import Annotated, Any, cast

from pydantic import Field, PlainValidator, StringConstraints, WithJsonSchema, create_model

from simulator.engine.clients.address import CONTROL_BASE
from simulator.engine.control.call import ControlCall
from simulator.engine.control.operation import LIMIT, calls_under
from simulator.engine.control.refusals import invalid_parameter, invalid_state, not_found
from simulator.engine.control.time.clock import ClockBody, moment
from simulator.engine.control.worlds.set_aside import delete_unreadable, unreadable_worlds
from simulator.engine.control.worlds.world_object import WorldList, WorldObject, show_world
from simulator.engine.records.codec import StateError
from simulator.engine.rows.error import ControlError, sentence
from simulator.engine.scenario.files import loader
from simulator.engine.scenario.files.library import ScenarioFile
from simulator.engine.scenario.play.catalogue import CannotActivate
from simulator.engine.text.fields import Body, Text
from simulator.engine.text.json import JsonObject
from simulator.engine.text.strict import did_you_mean
from simulator.engine.webhooks.courier.courier import wall_clock_ms
from simulator.engine.worlds import quotas
from simulator.engine.worlds.alternatives import Alternatives
from simulator.engine.worlds.observations import Observed, read_all
from simulator.engine.worlds.setting_model import Settings, model_of
from simulator.engine.worlds.settings import change_settings, named
from simulator.engine.worlds.simulator import Blueprint, WorldExists
from simulator.kernel.world import DEFAULT_WORLD, World

operation = calls_under("Worlds")


def _scenario_choice(value: Any) -> str | JsonObject:
    if isinstance(value, dict) or (isinstance(value, str) and value):
        return value
    raise ValueError("it must be a scenario document or the name of a scenario")


_CHOICES = [
    {"type": "string", "minLength": 1, "description": "The name of a scenario."},
    {"type": "object", "description": "A scenario document; see scenario.schema.json."},
]
ScenarioChoice = Annotated[Any, PlainValidator(_scenario_choice), WithJsonSchema({"anyOf": _CHOICES})]


def _observed_file(value: Any) -> JsonObject | list[JsonObject]:
    if isinstance(value, dict) or (isinstance(value, list) and value and all(isinstance(one, dict) for one in value)):
        return value
    why = "it must be the content of an observed file (`rampsim probe --out` writes one), or a list of such contents"
    raise ValueError(why)


_CONTENTS = [
    {"type": "object", "description": "The content of a file that `rampsim probe --out` writes."},
    {"type": "array", "items": {"type": "object"}, "description": "The contents of several files."},
]
ObservedFile = Annotated[Any, PlainValidator(_observed_file), WithJsonSchema({"anyOf": _CONTENTS})]


class WorldBody(Body):
    """Options for a new world. Defaults come from the server's flags, or from the snapshot. The default mode of the
    clock is manual.
    """

    from_snapshot: Text | None = None
    """The id of a snapshot to fork. The new world starts in the state of the snapshot, with new keys."""
    id: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9._-]{1,64}$")] | None = None
    """The id of the new world. The default is a random id."""
    seed: Annotated[int, Field(ge=0, lt=2**63)] | None = None
    """The seed for ids, addresses and random decisions. The default is a random seed."""
    clock: ClockBody | None = None
    """The initial clock."""
    scenarios: list[ScenarioChoice] | None = None
    """The active scenarios: names, or whole documents that are uploaded to the world. Later ones take precedence."""
    settings: Settings | None = None
    """The initial settings."""
    observed: ObservedFile | None = None
    """The observed file (a file of observations that `probe` or `infer` writes) that the world is based on.
    `settings.assumptions` takes precedence. The default is the server's file.
    """
    replace: bool = False
    """Whether an existing world with this id is deleted first."""


@operation("POST /worlds", "Create a world", status=201, scope="server", catches_up=False, shows_keys=True)
async def create_world(call: ControlCall) -> WorldObject:
    """Create an isolated world with its own clock, keys and data, or fork a snapshot. Use one world for each test.

    Errors: 400 for a wrong parameter or scenario, 403 if the token cannot access the id, 404 for an unknown scenario
    or snapshot, 409 already_exists without `replace`, 507 simulator_quota_exceeded if the token already has its
    maximum number of worlds. If the token is limited to certain worlds, the keys of the new world cannot be derived
    from its id and seed.
    """
    simulator, body = call.simulator, call.body
    quotas.check_wanted(named(body.settings), simulator.inherited.settings, "settings.")
    world_id = _new_id(call)
    await call.wake(world_id)
    if body.from_snapshot is not None:
        if body.observed is not None:
            why = "a world that is created from a snapshot uses the snapshot's observations. Omit this field"
            raise invalid_parameter("observed", why)
        return await _fork(call, world_id)
    names, files = await _choose_scenarios(call)
    inherited, clock = simulator.inherited, body.clock or ClockBody()
    mode = clock.mode or "manual"
    blueprint = Blueprint(
        id=world_id,
        seed=body.seed if body.seed is not None else simulator.draw_seed(),
        mode=mode,
        now_ms=inherited.start_ms(mode, wall_clock_ms()) if clock.now is None else moment("clock.now", clock.now),
        rate=inherited.rate if clock.rate is None else Decimal(str(clock.rate)),
        scenarios=inherited.scenarios if names is None else tuple(names),
        settings={**inherited.settings, **named(body.settings)},
        keys_of=_keys_of(call, world_id),
        at_wall_time=mode == "real" and clock.now is None and inherited.now_ms is None,
        observed=inherited.observed if body.observed is None else _observed(call),
    )
    await _require_room(call, world_id)
    with _as_control_error(call):
        world = simulator.create_world(blueprint, files, replace=body.replace)
    return show_world(call, world)


def _observed(call: ControlCall) -> tuple[Observed, ...]:
    """Return the files of observations in the body, or raise `ControlError` 400 with the location of the error."""
    try:
        provider = call.simulator.provider
        return read_all(call.body.observed, provider.alternatives(), "observed", provider.malformed_fact)
    except StateError as error:
        raise invalid_parameter(error.path, error.why) from None


def _new_id(call: ControlCall) -> str:
    if call.body.id is None:
        return call.simulator.draw_world_id(call.access.prefix or "w_")
    wanted: str = call.body.id
    if not call.access.reaches(wanted):
        why = f"This token cannot create a world {wanted!r}. {call.access.reach}"
        raise ControlError(403, "forbidden", why, "id")
    return wanted


async def _require_room(call: ControlCall, world_id: str) -> None:
    """Raise `ControlError` 507 if the token has its maximum number of worlds, including those only in the store."""
    if call.access.most_worlds is not None:
        saved = () if call.runtime.persistence is None else await call.runtime.persistence.uses()
        call.access.require_room(world_id, {*call.simulator.worlds, *saved})


def _keys_of(call: ControlCall, world_id: str) -> str:
    """Return a value from which the keys of a new world are derived, or "" for the world's id. If the caller's token is
    limited to certain worlds, the value is secret, so that other tokens' holders cannot derive the keys.
    """
    return "" if call.access.reaches_all else call.simulator.draw_keys_of(world_id)


@contextmanager
def _as_control_error(call: ControlCall) -> Iterator[None]:
    """Convert errors to `ControlError`: 409 for an id or keys in use, 400 for an initial state that cannot be set."""
    try:
        yield
    except WorldExists as error:
        if str(error) == call.body.id:
            why = f"There is already a world {error}. To delete it first, add `replace: true`."
        else:
            why = f"The world {error} already has the keys of the new world. Delete it, or choose another id or seed."
        raise ControlError(409, "already_exists", why, "id") from None
    except CannotActivate as error:  # The path in the error is relative to the scenario.
        given: list[str | JsonObject] = call.body.scenarios or []
        names = [one if isinstance(one, str) else one.get("name") for one in given]
        within = f"scenarios[{names.index(error.scenario)}]" if error.scenario in names else error.scenario
        problem = {"path": f"{within}.{error.path}", "message": error.message}
        raise ControlError(400, "invalid_scenario", error.message, "scenarios", errors=[problem]) from None


async def _choose_scenarios(
    call: ControlCall, uploaded: Iterable[str] = ()
) -> tuple[list[str] | None, list[ScenarioFile]]:
    """Return the names of the scenarios in the body (None without the field), and the files of those whose documents
    are in the body. Raise `ControlError` 400 invalid_scenario with every problem, or 404 for an unknown name.
    `uploaded` are names of scenarios that the world will have in addition to the server's scenarios.
    """
    given: list[str | JsonObject] | None = call.body.scenarios
    if given is None:
        return None, []
    simulator = call.simulator
    written = [one["name"] for one in given if isinstance(one, dict) and isinstance(one.get("name"), str)]
    known = list(dict.fromkeys([*simulator.library, *uploaded, *written]))
    names: list[str] = []
    files: list[ScenarioFile] = []
    errors: list[JsonObject] = []
    for index, one in enumerate(given):
        if isinstance(one, str):
            if one not in known:
                hint = did_you_mean(one, known) or f". List them with GET {CONTROL_BASE}/scenarios"
                raise ControlError(404, "not_found", sentence(f"There is no scenario {one!r}{hint}"), "scenarios")
            names.append(one)
            continue
        try:
            reader = loader.Loader(simulator.vocabulary)
            file = await asyncio.to_thread(reader.load_inside, call.sent, ("scenarios", index), one, known)
        except loader.ScenarioError as error:
            errors += [
                {**row, "path": ".".join(filter(None, (f"scenarios[{index}]", row["path"])))} for row in error.errors
            ]
            continue
        if file.name in (other.name for other in files):
            raise invalid_parameter("scenarios", f"two documents have the name {file.name!r}")
        names.append(file.name)
        files.append(file)
    if errors:
        first = f"{errors[0]['path']}: {errors[0]['message']}"
        raise ControlError(400, "invalid_scenario", f"The scenarios are not valid: {first}", "scenarios", errors=errors)
    return names, files


async def _fork(call: ControlCall, world_id: str) -> WorldObject:
    simulator, body = call.simulator, call.body
    await call.wake_snapshot(body.from_snapshot)
    snapshot = simulator.snapshots.get(body.from_snapshot)
    if snapshot is None or not call.access.reaches(snapshot.state.world_id):
        raise not_found("snapshot", body.from_snapshot, "/snapshots", "from_snapshot")
    names, files = await _choose_scenarios(call, snapshot.state.tables.get("uploaded_scenarios") or ())
    clock = body.clock or ClockBody()
    target = None if clock.now is None else moment("clock.now", clock.now, snapshot.state.now_ms)

    def prepare(world: World) -> None:
        for file in files:
            simulator.engine.upload(world, file)
        if names is not None:
            simulator.engine.activate(world, names)
        if body.settings is not None:
            change_settings(world, body.settings)
        world.clock.mode = clock.mode or world.clock.mode
        world.clock.rate = world.clock.rate if clock.rate is None else Decimal(str(clock.rate))

    await _require_room(call, world_id)
    with _as_control_error(call):
        world = simulator.fork(
            snapshot.state, world_id, body.seed, prepare=prepare, replace=body.replace, keys_of=_keys_of(call, world_id)
        )
    if target is not None:
        await call.advance(world, target)
    return show_world(call, world)


@operation("GET /worlds", "List the worlds", query=LIMIT, scope="server", catches_up=False, shows_keys=True)
async def list_worlds(call: ControlCall) -> WorldList:
    """List the worlds of the server that the token can access, oldest first, with their keys. `unreadable` lists the
    saved worlds that this version cannot read, with the reasons.
    """
    reached = [world_id for world_id in call.runtime.world_ids() if call.access.reaches(world_id)]
    shown: list[WorldObject] = []
    for world_id in call.newest(reached):
        world = call.simulator.worlds.get(world_id)
        if world is not None:
            shown.append(show_world(call, world))
        elif (persistence := call.runtime.persistence) is not None:
            shown.append(cast(WorldObject, persistence.show_at_rest(world_id, call.origin)))
    return {"data": shown, "unreadable": call.newest(unreadable_worlds(call))}


@operation("GET /worlds/{id}", "Get a world", scope="server", catches_up=False, shows_keys=True)
async def get_world(call: ControlCall) -> WorldObject:
    """Return a world with its clock, keys and settings. Fails with 404 for an unknown id."""
    world_id, look_at = call.path["id"], call.runtime.look_at
    await call.wake(world_id)
    if look_at is not None and call.find_world(world_id) is None and call.access.reaches(world_id):
        saved = await look_at(world_id)
        if saved is not None:
            return show_world(call, saved)
    await call.runtime.driver.bring_up_to_date(call.world_called(world_id))
    return show_world(call, call.world_called(world_id))


@operation("DELETE /worlds/{id}", "Delete a world", status=204, scope="server", catches_up=False)
async def delete_world(call: ControlCall) -> None:
    """Delete a world and its snapshots. Requests with its tokens then return 401. Fails with 409 for the world
    `default`: reset it instead. You can also delete a world that this version cannot read. If the unreadable world is
    `default`, a new world `default` is created immediately.
    """
    if delete_unreadable(call, call.path["id"]):
        return
    await call.wake(call.path["id"])
    world = call.world_called(call.path["id"])
    if world.id == DEFAULT_WORLD:
        raise invalid_state("The world default cannot be deleted. Reset it instead.")
    call.simulator.delete_world(world.id)


@operation("POST /reset", "Reset the world", catches_up=False, shows_keys=True)
async def reset(call: ControlCall) -> WorldObject:
    """Reset the world to its state at creation: the same seed, keys, start time, scenarios and settings, and no data.
    Snapshots and uploaded scenarios are preserved. If this version cannot read `default`, a new one is created.
    """
    if call.world_id == DEFAULT_WORLD and delete_unreadable(call, DEFAULT_WORLD):
        return show_world(call, call.world)
    world = call.simulator.reset_world(call.world.id, wall_clock_ms())
    return show_world(call, world)


def body_of(alternatives: Alternatives) -> type[WorldBody]:
    """Return the body type of POST /worlds. The settings in the body can select `alternatives`."""
    settings: Any = model_of(alternatives) | None, WorldBody.model_fields["settings"]
    return create_model("WorldBody", __base__=WorldBody, __doc__=WorldBody.__doc__, settings=settings)
