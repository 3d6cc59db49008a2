"""Worlds, their settings, reset and snapshots (control interface, chapter "Worlds")."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any, cast

from pydantic import Field, PlainValidator, StringConstraints, WithJsonSchema, create_model

from simulator.engine.control.call import ControlCall
from simulator.engine.control.operation import LIMIT, calls_under
from simulator.engine.control.refusals import wrong
from simulator.engine.control.time.clock import ClockBody, moment, rate_of
from simulator.engine.control.worlds.set_aside import delete_unreadable, unreadable_worlds
from simulator.engine.control.worlds.world_object import WorldList, WorldObject, show_world
from simulator.engine.rows.error import ControlError, sentence
from simulator.engine.scenario.files.library import ScenarioFile
from simulator.engine.scenario.files.loader import Loader, ScenarioError
from simulator.engine.scenario.play.catalogue import CannotActivate
from simulator.engine.text.fields import Body, Text
from simulator.engine.text.json import JsonObject
from simulator.engine.text.strict import did_you_mean
from simulator.engine.webhooks.courier.courier import wall_clock_ms
from simulator.engine.worlds import quotas
from simulator.engine.worlds.alternatives import Alternatives
from simulator.engine.worlds.setting_model import Settings, model_of
from simulator.engine.worlds.settings import change_settings, named
from simulator.engine.worlds.simulator import Blueprint, WorldExists
from simulator.kernel.dataclass import dataclass
from simulator.kernel.journal import newest
from simulator.kernel.world import DEFAULT_WORLD, World

operation = calls_under("Worlds")


def _scenario_choice(value: Any) -> str | JsonObject:
    if isinstance(value, dict) or (isinstance(value, str) and value):
        return value
    raise ValueError("it must be the name of a scenario, or a whole scenario")


ScenarioChoice = Annotated[
    Any,
    PlainValidator(_scenario_choice),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "string", "minLength": 1, "description": "The name of a scenario."},
                {"type": "object", "description": "A whole scenario; see scenario.schema.json."},
            ]
        }
    ),
]


class WorldBody(Body):
    """What is left out comes from the flags of the server; the mode of the clock alone is manual.

    `scenarios`: the active ones, later ones winning; a whole document is uploaded to the world first. `replace`: a
    world that has this id already ends, whatever it holds. `from_snapshot`: the world begins in the state of that
    snapshot, with keys of its own; clock, scenarios and settings are then the snapshot's where they are left out.
    """

    from_snapshot: Text | None = None
    """The snapshot whose state the world begins in."""
    id: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9._-]{1,64}$")] | None = None
    """The id of the new world; made up when left out."""
    seed: Annotated[int, Field(ge=0, lt=2**63)] | None = None
    """The seed; drawn when left out."""
    clock: ClockBody | None = None
    """The clock to begin with."""
    scenarios: list[ScenarioChoice] | None = None
    """The scenarios to be active: names, or whole documents."""
    settings: Settings | None = None
    """The settings to begin with."""
    replace: bool = False
    """Whether a world that has this id already is to end first."""


@operation("POST /worlds", "Make a world", status=201, scope="server", catches_up=False, shows_keys=True)
async def create_world(call: ControlCall) -> WorldObject:
    """Make a world, or fork one `from_snapshot`; with `replace` the world of that id ends first.

    Made by a token for some worlds it has keys that nobody can work out from its id and seed. 403 for an id that is not
    the token's, 400 for a parameter or invalid_scenario, 404 for a scenario or snapshot that is not there, 409
    already_exists, 507 simulator_quota_exceeded for one more than the token may have.
    """
    simulator, body = call.simulator, call.body
    quotas.check_wanted(named(body.settings), simulator.inherited.settings, "settings.")
    world_id = _new_id(call)
    await call.wake(world_id)
    if body.from_snapshot is not None:
        return await _fork(call, world_id)
    chosen = await _choose_scenarios(call)
    inherited, clock = simulator.inherited, body.clock or ClockBody()
    mode = clock.mode or "manual"
    blueprint = Blueprint(
        id=world_id,
        seed=body.seed if body.seed is not None else simulator.draw_seed(),
        mode=mode,
        now_ms=inherited.start_ms(mode, wall_clock_ms()) if clock.now is None else moment("clock.now", clock.now),
        rate=inherited.rate if clock.rate is None else rate_of(clock.rate),
        scenarios=inherited.scenarios if chosen is None else chosen.names,
        settings={**inherited.settings, **named(body.settings)},
        keys_of=_keys_of(call, world_id),
        at_wall_time=mode == "real" and clock.now is None and inherited.now_ms is None,
    )
    await _require_room(call, world_id)
    with _refused_in_words(call):
        world = simulator.create_world(blueprint, chosen.files if chosen else (), replace=body.replace)
    return show_world(call, world)


def _new_id(call: ControlCall) -> str:
    """The id of the world that is to be made, of the body or drawn; 403 for one that is not the token's."""
    if call.body.id is None:
        return call.simulator.draw_world_id(call.access.prefix or "w_")
    call.access.require_new(call.body.id)
    wanted: str = call.body.id
    return wanted


async def _require_room(call: ControlCall, world_id: str) -> None:
    """507 where the token has as many worlds as it may, in memory or in the store."""
    if call.access.most_worlds is not None:
        kept = () if call.runtime.persistence is None else await call.runtime.persistence.uses()
        call.access.require_room(world_id, {*call.simulator.worlds, *kept})


def _keys_of(call: ControlCall, world_id: str) -> str:
    """What its keys are derived from: its id ("") where all who steer may know them, else a secret."""
    return "" if call.access.is_of_all else call.simulator.draw_keys_of(world_id)


@contextmanager
def _refused_in_words(call: ControlCall) -> Iterator[None]:
    """409 for a world that is in the way, 400 for a scenario whose initial state cannot be set."""
    try:
        yield
    except WorldExists as error:
        if str(error) == call.body.id:
            why = f"There is a world {error} already; with `replace: true` it ends first."
        else:
            why = f"The world {error} holds the keys that this one would get; delete it, or choose another id or seed."
        raise ControlError(409, "already_exists", why, "id") from None
    except CannotActivate as error:  # its path is the scenario's, not the call's
        given: list[str | JsonObject] = call.body.scenarios or []
        names = [one if isinstance(one, str) else one.get("name") for one in given]
        within = f"scenarios[{names.index(error.scenario)}]" if error.scenario in names else error.scenario
        problem = {"path": f"{within}.{error.path}", "message": error.message}
        raise ControlError(400, "invalid_scenario", error.message, "scenarios", errors=[problem]) from None


@dataclass(frozen=True)
class _Chosen:
    """Scenarios as a body names them: the active names, and the documents among them."""

    names: tuple[str, ...]
    files: tuple[ScenarioFile, ...]


async def _choose_scenarios(call: ControlCall, uploaded: Iterable[str] = ()) -> _Chosen | None:
    """What `scenarios` says, None when it is left out; 400 invalid_scenario with every problem, 404 for a name.

    `uploaded`: names of the scenarios that the world is going to have besides the library's.
    """
    given: list[str | JsonObject] | None = call.body.scenarios
    if given is None:
        return None
    simulator = call.simulator
    written = [one["name"] for one in given if isinstance(one, dict) and isinstance(one.get("name"), str)]
    known = list(dict.fromkeys([*simulator.library, *uploaded, *written]))
    names: list[str] = []
    files: list[ScenarioFile] = []
    errors: list[JsonObject] = []
    for index, one in enumerate(given):
        if isinstance(one, str):
            if one not in known:
                hint = did_you_mean(one, known)
                raise ControlError(404, "not_found", sentence(f"There is no scenario {one!r}{hint}"), "scenarios")
            names.append(one)
            continue
        try:
            loader = Loader(simulator.vocabulary)
            file = await asyncio.to_thread(loader.load_inside, call.sent, ("scenarios", index), one, known)
        except ScenarioError as error:
            errors += [
                {**row, "path": ".".join(filter(None, (f"scenarios[{index}]", row["path"])))} for row in error.errors
            ]
            continue
        if file.name in (other.name for other in files):
            raise wrong("scenarios", f"two of its documents have the name {file.name!r}")
        names.append(file.name)
        files.append(file)
    if errors:
        first = f"{errors[0]['path']}: {errors[0]['message']}"
        raise ControlError(400, "invalid_scenario", f"The scenarios are not valid: {first}", "scenarios", errors=errors)
    return _Chosen(tuple(names), tuple(files))


async def _fork(call: ControlCall, world_id: str) -> WorldObject:
    """A new world in the state of a snapshot; what the call says of clock, scenarios and settings comes on top."""
    simulator, body = call.simulator, call.body
    await call.wake_snapshot(body.from_snapshot)
    snapshot = simulator.snapshots.get(body.from_snapshot)
    if snapshot is None or not call.access.reaches(snapshot.state.world_id):
        raise ControlError(404, "not_found", f"There is no snapshot {body.from_snapshot!r}.", "from_snapshot")
    chosen = await _choose_scenarios(call, snapshot.state.tables.get("uploaded_scenarios") or ())
    clock = body.clock or ClockBody()
    target = None if clock.now is None else moment("clock.now", clock.now)
    if target is not None and target < snapshot.state.now_ms:
        raise wrong("clock.now", "the clock never moves back")

    def prepare(world: World) -> None:
        if chosen is not None:
            for file in chosen.files:
                simulator.engine.upload(world, file)
            simulator.engine.activate(world, chosen.names)
        if body.settings is not None:
            change_settings(world, body.settings)
        world.clock.mode = clock.mode or world.clock.mode
        world.clock.rate = world.clock.rate if clock.rate is None else rate_of(clock.rate)

    await _require_room(call, world_id)
    with _refused_in_words(call):
        world = simulator.fork(
            snapshot.state, world_id, body.seed, prepare=prepare, replace=body.replace, keys_of=_keys_of(call, world_id)
        )
    if target is not None:
        await call.advance(world, target)
    return show_world(call, world)


@operation("GET /worlds", "All worlds", query=LIMIT, scope="server", catches_up=False, shows_keys=True)
async def list_worlds(call: ControlCall) -> WorldList:
    """All worlds of the server that the token of the call reaches, oldest first, with their keys.

    Worlds that the server cannot read are listed apart, as `unreadable`, each with the reason.
    """
    reached = [world_id for world_id in call.runtime.world_ids() if call.access.reaches(world_id)]
    shown: list[WorldObject] = []
    for world_id in newest(reached, call.limit()):
        world = call.simulator.worlds.get(world_id)
        if world is not None:
            shown.append(show_world(call, world))
        elif (persistence := call.runtime.persistence) is not None:
            shown.append(cast(WorldObject, persistence.show_at_rest(world_id, call.origin)))
    return {"data": shown, "unreadable": newest(unreadable_worlds(call), call.limit())}


@operation("GET /worlds/{id}", "One world", scope="server", catches_up=False, shows_keys=True)
async def get_world(call: ControlCall) -> WorldObject:
    """One world with its clock and its keys; 404 for an id that there is not."""
    world_id, look_at = call.path["id"], call.runtime.look_at
    await call.wake(world_id)
    if look_at is not None and call.find_world(world_id) is None and call.access.reaches(world_id):
        kept = await look_at(world_id)
        if kept is not None:
            return show_world(call, kept)
    await call.runtime.driver.bring_up_to_date(call.world_called(world_id))
    return show_world(call, call.world_called(world_id))


@operation("DELETE /worlds/{id}", "End a world", status=204, scope="server", catches_up=False)
async def delete_world(call: ControlCall) -> None:
    """End a world with its snapshots, even one that cannot be read; 409 for the world default.

    The world default that cannot be read begins anew at once.
    """
    if delete_unreadable(call, call.path["id"]):
        return
    await call.wake(call.path["id"])
    world = call.world_called(call.path["id"])
    if world.id == DEFAULT_WORLD:
        raise ControlError(409, "invalid_state", "The world default stays; reset it instead.")
    call.simulator.delete_world(world.id)


@operation("POST /reset", "Make the world again as at its creation", catches_up=False, shows_keys=True)
async def reset(call: ControlCall) -> WorldObject:
    """Make the world of the header again as its creation call made it.

    The world default that cannot be read begins anew as the flags of the server say.
    """
    if call.world_id == DEFAULT_WORLD and delete_unreadable(call, DEFAULT_WORLD):
        return show_world(call, call.world)
    world = call.simulator.reset_world(call.world.id, wall_clock_ms())
    return show_world(call, world)


def body_of(alternatives: Alternatives) -> type[WorldBody]:
    """What a world is made of; its settings choose among `alternatives`."""
    settings: Any = model_of(alternatives) | None, WorldBody.model_fields["settings"]
    return create_model("WorldBody", __base__=WorldBody, __doc__=WorldBody.__doc__, settings=settings)
