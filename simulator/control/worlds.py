"""Worlds, their settings, reset and snapshots (control interface, chapter "Worlds")."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints

from simulator import __version__
from simulator.assembly import DEFAULT_SCENARIOS, DEFAULT_WORLD, MANUAL_START, Blueprint, WorldExists
from simulator.control.operation import ControlCall, ControlOperation, wrong
from simulator.kernel.clock import LAST_MS, format_timestamp, parse_timestamp
from simulator.kernel.journal import Cause
from simulator.kernel.world import World
from simulator.resources.auth import credentials
from simulator.resources.profile import platform_users
from simulator.resources.reference import all_rates, reference_data
from simulator.resources.webhooks import webhook_key
from simulator.server.app import Application
from simulator.server.driver import wall_now_ms
from simulator.server.endpoint import BASES
from simulator.wire.errors import ControlError
from simulator.wire.fields import Body, Text
from simulator.wire.json import JsonObject
from simulator.wire.settings import Settings, change_settings, settings_of, shown

Rate = Annotated[float, Field(gt=0, le=1_000_000, allow_inf_nan=False)]


class ClockBody(Body):
    mode: Literal["real", "manual", "scaled"] | None = None
    now: Text | None = None
    rate: Rate | None = None


class WorldBody(Body):
    """`from_snapshot`: the world begins in the state of that snapshot, with keys of its own."""

    from_snapshot: Text | None = None
    id: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9._-]{1,64}$")] | None = None
    seed: Annotated[int, Field(ge=0, lt=2**63)] | None = None
    clock: ClockBody | None = None
    scenarios: list[Text] | None = None
    settings: Settings | None = None


def show_clock(world: World) -> JsonObject:
    timer = world.agenda.next()
    return {
        "mode": world.clock.mode,
        "now": format_timestamp(world.now_ms),
        "rate": world.clock.rate,
        "timers": len(world.agenda),
        "next_timer_at": None if timer is None else format_timestamp(timer.due_at_ms),
    }


def show_world(call: ControlCall, world: World) -> JsonObject:
    """The world object of the control interface."""
    keys = credentials(world)
    bases = {environment: call.origin + base for base, environment in BASES.items()}
    return {
        "id": world.id,
        "seed": world.seed,
        "clock": show_clock(world),
        "credentials": {
            environment: {
                **keys[environment],
                "webhook_key": webhook_key(world, environment),
                "base_url": bases[environment],
            }
            for environment in ("sandbox", "production")
        },
        "platform_users": [
            {"user_id": user.user_id, "email": user.email, "phone_number": user.phone_number}
            for user in platform_users(world)
        ],
        "scenarios": call.application.simulator.engine.active(world),
        "settings": settings_of(world),
        "created_at": format_timestamp(world.started_at_ms),
    }


def moment(param: str, text: str) -> int:
    """A timestamp of a control call; 400 with `param`."""
    try:
        at_ms = parse_timestamp(text)
    except ValueError as error:
        raise wrong(param, str(error)) from None
    if not 0 <= at_ms <= LAST_MS:
        raise wrong(param, "it lies outside the years 1970 to 9998")
    return at_ms


def rate_of(value: float | None) -> Decimal:
    return Decimal(1) if value is None else Decimal(str(value))


async def health(call: ControlCall) -> JsonObject:
    return {"status": "ok", "version": __version__, "worlds": len(call.application.simulator.worlds)}


async def create_world(call: ControlCall) -> JsonObject:
    simulator, body = call.application.simulator, call.body
    if body.from_snapshot is not None:
        return await _fork(call)
    _require_scenarios(call)
    clock = body.clock or ClockBody()
    mode = clock.mode or "manual"
    start = MANUAL_START if mode == "manual" else format_timestamp(wall_now_ms())
    scenarios = DEFAULT_SCENARIOS if body.scenarios is None else tuple(body.scenarios)
    blueprint = Blueprint(
        id=body.id if body.id is not None else simulator.draw_world_id(),
        seed=body.seed if body.seed is not None else simulator.draw_seed(),
        mode=mode,
        now_ms=moment("clock.now", clock.now or start),
        rate=rate_of(clock.rate),
        scenarios=scenarios,
        settings=shown(body.settings or Settings()),
    )
    try:
        world = simulator.create_world(blueprint)
    except WorldExists as error:
        raise _exists(error) from None
    call.application.begin(world)
    return show_world(call, world)


def _exists(error: WorldExists) -> ControlError:
    return ControlError(409, "already_exists", f"The world {error} lives already, or holds the same keys.", "id")


def _require_scenarios(call: ControlCall, uploaded: Mapping[str, Any] | None = None) -> None:
    for name in call.body.scenarios or ():
        if name not in call.application.simulator.library and name not in (uploaded or {}):
            raise ControlError(404, "not_found", f"There is no scenario {name!r}.", "scenarios")


async def _fork(call: ControlCall) -> JsonObject:
    """A new world in the state of a snapshot; what the call says of clock, scenarios and settings comes on top."""
    simulator, body = call.application.simulator, call.body
    snapshot = simulator.snapshots.get(body.from_snapshot)
    if snapshot is None:
        raise ControlError(404, "not_found", f"There is no snapshot {body.from_snapshot!r}.", "from_snapshot")
    _require_scenarios(call, snapshot.frozen.tables.get("uploaded_scenarios"))
    clock = body.clock or ClockBody()
    target = None if clock.now is None else moment("clock.now", clock.now)
    if target is not None and target < snapshot.frozen.now_ms:
        raise wrong("clock.now", "the clock never moves back")
    try:
        world = simulator.fork(snapshot.frozen, body.id or simulator.draw_world_id(), body.seed)
    except WorldExists as error:
        raise _exists(error) from None
    with world.change(Cause("start", "fork")):
        if body.scenarios is not None:
            simulator.engine.activate(world, body.scenarios)
        if body.settings is not None:
            change_settings(world, body.settings)
    world.journal.keep(settings_of(world)["journal_limit"])
    world.clock.mode = clock.mode or world.clock.mode
    world.clock.rate = world.clock.rate if clock.rate is None else rate_of(clock.rate)
    if target is not None:
        await call.application.driver.advance(world, target)
    call.application.begin(world)
    return show_world(call, world)


async def list_worlds(call: ControlCall) -> JsonObject:
    worlds = list(call.application.simulator.worlds.values())
    limit = call.limit()
    return {
        "data": [show_world(call, world) for world in (worlds if limit is None else worlds[-limit or len(worlds) :])]
    }


def _named(call: ControlCall) -> World:
    world = call.application.simulator.worlds.get(call.path["id"])
    if world is None:
        raise ControlError(404, "not_found", f"There is no world {call.path['id']!r}.")
    call.application.driver.bring_up_to_date(world)
    return world


async def get_world(call: ControlCall) -> JsonObject:
    return show_world(call, _named(call))


async def delete_world(call: ControlCall) -> None:
    world = _named(call)
    if world.id == DEFAULT_WORLD:
        raise ControlError(409, "invalid_state", "The world default stays; reset it instead.")
    require_idle(call.application, world)
    call.application.simulator.delete_world(world.id)
    call.application.end(world)


async def reset(call: ControlCall) -> JsonObject:
    old = call.world
    require_idle(call.application, old)
    world = call.application.simulator.reset_world(old.id)
    call.application.end(old)
    call.application.begin(world)
    return show_world(call, world)


def require_idle(application: Application, world: World) -> None:
    """409 clock_busy while the clock of a world is being advanced."""
    if application.driver.is_busy(world):
        raise ControlError(409, "clock_busy", "The clock of this world is being advanced.")


async def get_settings(call: ControlCall) -> JsonObject:
    return settings_of(call.world)


async def patch_settings(call: ControlCall) -> JsonObject:
    world = call.world
    for name in call.body.model_extra or ():
        raise wrong(name, f"the settings are {', '.join(Settings.model_fields)}")
    with world.change(Cause("action", "settings")):
        settings = change_settings(world, call.body)
    world.journal.keep(settings["journal_limit"])
    return settings


async def rates(call: ControlCall) -> JsonObject:
    return all_rates(call.world, call.environment)


async def reference(call: ControlCall) -> JsonObject:
    return reference_data()


ROWS: tuple[ControlOperation, ...] = (
    ControlOperation("GET", "/health", "health", "Whether the server is up", health, open=True),
    ControlOperation("POST", "/worlds", "create_world", "Make a world", create_world, 201, WorldBody),
    ControlOperation("GET", "/worlds", "list_worlds", "All worlds", list_worlds),
    ControlOperation("GET", "/worlds/{id}", "get_world", "One world", get_world),
    ControlOperation("DELETE", "/worlds/{id}", "delete_world", "End a world", delete_world, 204),
    ControlOperation("POST", "/reset", "reset", "Make the world again as at its creation", reset),
    ControlOperation("GET", "/settings", "get_settings", "The world's settings", get_settings),
    ControlOperation("PATCH", "/settings", "patch_settings", "Change settings", patch_settings, 200, Settings),
    ControlOperation("GET", "/rates", "rates", "All rates: mid, onramp, offramp, swap", rates),
    ControlOperation("GET", "/reference", "reference", "Banks, providers, countries, currencies", reference),
)
