"""Consistency checks for a document's rows. The rows are loaded into a temporary world, and its timers are fired."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Any

import orjson

from simulator.engine.control.history.journal import calls_of, show_call
from simulator.engine.control.history.requests import show_entry
from simulator.engine.faults.in_force import FAULTS, check_event
from simulator.engine.insight.advice import findings
from simulator.engine.insight.counting import count_world
from simulator.engine.records.codec import StateError
from simulator.engine.records.records import INDEX, find, render
from simulator.engine.rows.error import ApiError
from simulator.engine.rows.kind import Record
from simulator.engine.rows.operation import Call
from simulator.engine.scenario.language import schema
from simulator.engine.scenario.play.catalogue import UPLOADED
from simulator.engine.scenario.play.delays import Held
from simulator.engine.scenario.play.pending import KINDS, check_step
from simulator.engine.server.pipeline import perform
from simulator.engine.text.json import dumps
from simulator.engine.vocabulary.vocabulary import identity_of
from simulator.engine.webhooks import all_deliveries, webhook_key
from simulator.engine.webhooks import shapes as webhooks
from simulator.engine.worlds.settings import ASSUMED, SETTINGS, check_assumed
from simulator.engine.worlds.simulator import Simulator, WorldState
from simulator.kernel.agenda import Timer
from simulator.kernel.fields import LAST_TIMESTAMP_MS
from simulator.kernel.journal import Cause, Event
from simulator.kernel.world import World

MAX_FIRED = 2_000
"""The maximum number of timers fired to check a document. Fired timers can plan more timers."""


def check_consistency(simulator: Simulator, state: WorldState) -> None:
    """Raise `StateError` if a state cannot become a world, or its resources or timers fail in that world."""
    if "settings" not in state.tables.get(SETTINGS.name, {}):
        raise StateError("tables.settings", "the settings of the world are missing")
    alternatives = simulator.provider.alternatives
    check_assumed(alternatives, state.blueprint.settings.get("assumptions", {}), "blueprint.settings")
    for key, row in state.tables.get(ASSUMED.name, {}).items():
        check_assumed(alternatives, {key: row}, f"tables.{ASSUMED.name}.{key}")
    for key, row in state.tables.get(FAULTS.name, {}).items():
        check_event(row, f"tables.{FAULTS.name}.{key}", simulator.vocabulary.events)
    stage = "tables"
    try:
        for name, rows in state.tables.items():
            for key, row in rows.items():
                stage = f"tables.{name}.{key}"
                _check_row(simulator, name, key, row)
        world, stage = simulator.from_state(state, state.world_id), "tables"
        _check_whole(simulator, world, state)
        for environment in world.environments:
            for operation in simulator.operations:
                if operation.method == "GET" and "{" not in operation.path:
                    stage = f"the response of GET {operation.path}"
                    pair = next(one for one in identity_of(world).keys(world) if one.environment == environment)
                    with suppress(ApiError):
                        call = Call(world, environment, {}, caller=pair)
                        perform(operation, call, cause=Cause("request", operation.name))
        world.wiring = replace(simulator.wiring, on_failure=None)
        planned, fired = {timer.key for timer in world.agenda.in_firing_order()}, 0
        while planned and fired < MAX_FIRED and (timer := world.agenda.next()) is not None:
            stage = f"tables.timers.{timer.key}"
            world.fire_next(LAST_TIMESTAMP_MS)
            planned.discard(timer.key)
            fired += 1
    except StateError:
        raise
    except Exception as error:
        raise StateError(stage, f"the rows are inconsistent ({type(error).__name__}: {error})") from None


def _check_row(simulator: Simulator, table: str, key: str, row: Any) -> None:
    path = f"tables.{table}.{key}"
    if isinstance(row, Record):
        kind = simulator.wiring.kinds.get(row.kind)
        if kind is None or row.status not in kind.machine.rows or row.id != key:
            raise StateError(path, "the id, kind or status of this row is not valid")
        own = kind.table.of(row.environment, row.owner)
        if table not in (own.text, own.of_deleted.text):
            raise StateError(path, f"this row belongs to the table {own.text}")
    elif isinstance(row, Timer):
        if row.kind not in simulator.wiring.timers or row.key != key:
            raise StateError(path, f"the key of the timer is wrong, or {row.kind!r} is not a kind of timer")
        if row.kind in KINDS:
            check_step(row.arguments, f"{path}.arguments", simulator.vocabulary.names)
    elif isinstance(row, Held):
        check_step(row.arguments(), path, simulator.vocabulary.names)
    elif isinstance(row, Event):
        orjson.loads(row.raw)


def _check_whole(simulator: Simulator, world: World, state: WorldState) -> None:
    for room in simulator.rooms:
        if room.verify is not None:
            room.verify(world)
    for name in state.tables.get(UPLOADED.name, {}):
        schema.validated(simulator.engine.catalogue.file(world, name).document, simulator.vocabulary)
    for name in (*simulator.engine.active(world), *state.blueprint.scenarios):
        if not simulator.engine.catalogue.knows(world, name):
            raise StateError("tables.scenario.active", f"the server has no scenario {name!r}")
    for resource_id in state.tables.get(INDEX.name, {}):
        record = find(world, resource_id)
        if record is None:
            raise StateError(f"tables.index.{resource_id}", "the resource does not exist")
        dumps(render(world, record))
    for name, rows in state.tables.items():
        for key, row in rows.items():
            if isinstance(row, Record) and find(world, key) is not row:
                raise StateError(f"tables.{name}.{key}", "the table index does not contain this row")
    for delivery in all_deliveries(world):
        dumps(webhooks.render_recorded_delivery(world, delivery))
    for row in calls_of(world):
        dumps(show_call(row))
    for exchange in state.requests:
        dumps(show_entry(exchange))
    dumps(findings(world, simulator.operations))
    count_world(world)
    for environment in world.environments:
        webhook_key(world, environment)
    if any(world.ledger.totals().values()):
        raise StateError("tables.ledger.balances", "the ledger does not sum to zero")
