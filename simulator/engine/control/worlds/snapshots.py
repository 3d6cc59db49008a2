"""Control calls about snapshots and state documents."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict

from simulator.engine.control.call import WORLD_HEADER, ControlCall
from simulator.engine.control.operation import LIMIT, WAIT, Raw, calls_under
from simulator.engine.control.refusals import not_found, replaced
from simulator.engine.control.time.clock import Mode
from simulator.engine.control.worlds import holdings
from simulator.engine.control.worlds.documents import document_text, read_document
from simulator.engine.control.worlds.world_object import WorldObject, show_world
from simulator.engine.rows.error import ControlError
from simulator.engine.text.fields import Body, FreeText
from simulator.engine.text.json import JsonObject
from simulator.engine.text.shapes import Count, Timestamp
from simulator.engine.worlds.settings import SettingSet
from simulator.engine.worlds.simulator import Snapshot, WorldExists, WorldState
from simulator.kernel.clock import format_timestamp
from simulator.kernel.world import World

operation = calls_under("Worlds")


class SnapshotEntry(TypedDict):
    id: str
    """The id of the snapshot."""
    name: str | None
    """The name of the snapshot; null without one."""
    at: Timestamp
    """The simulated time of the snapshot."""
    world: str
    """The id of the world."""


class SnapshotList(TypedDict):
    data: list[SnapshotEntry]
    """The snapshots, oldest first."""


class DocumentClock(TypedDict):
    mode: Mode
    """The mode of the clock."""
    now: Timestamp
    """The simulated time."""
    rate: str
    """The number of simulated seconds per real second."""


class DocumentSettings(SettingSet):
    assumptions: NotRequired[Mapping[str, str]]
    """The chosen alternatives, by the id of the assumption."""


class DocumentBlueprint(TypedDict):
    seed: Count
    """The seed at creation."""
    clock: DocumentClock
    """The clock at creation."""
    scenarios: list[str]
    """The scenarios that were active at creation."""
    settings: DocumentSettings
    """The settings at creation."""
    observed: NotRequired[list[JsonObject]]
    """The observed files (files of observations that `probe` or `infer` writes) that the world is based on, without
    their recorded requests and responses. Absent without such a file.
    """


class StateDocument(TypedDict):
    """The whole state of a world. Tables are lists of [key, row], because the order of their rows matters."""

    format: Literal["rampsim.state"]
    """Always `rampsim.state`."""
    version: Literal[1]
    """The version of this format."""
    simulator: str
    """The version of the simulator that wrote it."""
    world: str
    """The id of the world."""
    keys_of: str
    """The id or secret from which the world's keys are derived."""
    seed: Count
    """The seed of the world."""
    clock: DocumentClock
    """The clock of the world."""
    started_at: Timestamp
    """The simulated time at which the world was created."""
    blueprint: DocumentBlueprint
    """The configuration at creation, which a reset restores."""
    tables: dict[str, list[tuple[str, Any]]]
    """The tables by name. Each table is a list of [key, row]."""
    requests: list[Any]
    """The journal of API requests."""


class SnapshotBody(Body):
    name: FreeText | None = None
    """The name of the snapshot."""
    wait: bool | None = None
    """Whether to wait without a time limit for a receiver that has not responded to a webhook yet."""


async def _state_at_rest(call: ControlCall) -> tuple[World, WorldState]:
    """Return the world and its state, when no webhook attempt is in flight and the clock is not advanced."""
    world = call.world
    call.require_idle(world)
    await call.settle(world)
    if call.world is not world:
        raise replaced()
    call.require_idle(world)
    return world, call.simulator.state_of(world)


def _show(snapshot: Snapshot) -> SnapshotEntry:
    return {
        "id": snapshot.id,
        "name": snapshot.name,
        "at": format_timestamp(snapshot.state.now_ms),
        "world": snapshot.state.world_id,
    }


@operation("POST /snapshots", "Take a snapshot", status=201, body=SnapshotBody, query=WAIT)
async def take_snapshot(call: ControlCall) -> SnapshotEntry:
    """Save the state of the world as soon as no webhook attempt is in flight. You can restore it later, or fork worlds
    from it. Fails with 409 clock_busy during an advance. Fails with 507 simulator_quota_exceeded if the world would
    have more snapshots or bytes than its quotas allow.
    """
    simulator, is_bounded = call.simulator, holdings.is_bounded(call.world)
    await holdings.require_room(simulator, call.world, "quota_snapshots", snapshots=1)
    world, state = await _state_at_rest(call)
    if not is_bounded:
        return _show(simulator.keep_snapshot(state, call.body.name))
    size = await holdings.size_of(simulator, state)
    if not simulator.lives(world):
        raise replaced()
    holdings.held_now(simulator, world).with_more(snapshots=1, size=size).require(world, "quota_snapshots")
    snapshot = simulator.keep_snapshot(state, call.body.name)
    holdings.SIZES[snapshot] = size
    return _show(snapshot)


@operation("GET /snapshots", "List the snapshots of the world", query=LIMIT, catches_up=False)
async def list_snapshots(call: ControlCall) -> SnapshotList:
    """List the snapshots of the world, oldest first."""
    return {"data": call.newest([_show(row) for row in call.simulator.snapshots_of(call.world.id)])}


async def _snapshot_of(call: ControlCall) -> Snapshot:
    """Return the snapshot in the path, or raise `ControlError` 404, even if it belongs to another world."""
    await call.wake_snapshot(call.path["id"])
    snapshot = call.simulator.snapshots.get(call.path["id"])
    world_id = "" if snapshot is None else snapshot.state.world_id
    if snapshot is None or call.headers.get(WORLD_HEADER, world_id) != world_id or not call.access.reaches(world_id):
        raise not_found("snapshot", call.path["id"], "/snapshots")
    return snapshot


@operation("GET /snapshots/{id}", "Get a snapshot as a document", catches_up=False, shows_keys=True)
async def get_snapshot(call: ControlCall) -> Raw[StateDocument]:
    """Return the whole state of a snapshot as one JSON document, which PUT /state accepts."""
    return await _document(call, (await _snapshot_of(call)).state)


async def _document(call: ControlCall, state: WorldState) -> Raw[StateDocument]:
    # This runs in a thread, because the state may be large. This is safe because a state is immutable.
    return Raw(await asyncio.to_thread(document_text, call.simulator, state))


@operation("DELETE /snapshots/{id}", "Delete a snapshot", status=204, catches_up=False)
async def delete_snapshot(call: ControlCall) -> None:
    """Delete a snapshot. Worlds that were forked from it are not deleted."""
    call.simulator.forget_snapshot((await _snapshot_of(call)).id)


@operation("POST /snapshots/{id}/restore", "Restore a snapshot", catches_up=False, shows_keys=True)
async def restore(call: ControlCall) -> WorldObject:
    """Restore a snapshot's world to the saved state, including clock, keys, settings and journals."""
    state = (await _snapshot_of(call)).state
    return _replace_world(call, state.world_id, state)


@operation("GET /state", "Get the world as a document", query=WAIT, shows_keys=True)
async def get_state(call: ControlCall) -> Raw[StateDocument]:
    """Return the whole state of the world as one JSON document, as soon as no webhook attempt is in flight. Use the
    document to move a world to another server, or attach it to a bug report. The document contains the world's keys.
    Fails with 409 clock_busy if a receiver does not respond within 15 seconds of real time.
    """
    return await _document(call, (await _state_at_rest(call))[1])


@operation(
    "PUT /state",
    "Replace the world with a document",
    takes="bytes",
    accepts=(StateDocument,),
    max_bytes=64 * 1024 * 1024,
    catches_up=False,
    shows_keys=True,
)
async def put_state(call: ControlCall) -> WorldObject:
    """Replace the state and the keys of the world with those in a document. If the document is invalid, nothing
    changes. If the caller's token is limited to certain worlds, the keys of the world do not change. Fails with 409
    already_exists if another world has the same keys.
    """
    is_unreadable = call.runtime.unreadable(call.world_id) is not None and call.access.reaches(call.world_id)
    world = None if is_unreadable else call.world
    state = await asyncio.to_thread(read_document, call.simulator, call.raw)
    if call.find_world(call.world_id) is not world:
        raise replaced()
    keys_of = call.simulator.draw_keys_of(call.world_id) if world is None else world.keys_of
    return _replace_world(call, call.world_id, state, keys_of=None if call.access.reaches_all else keys_of)


def _replace_world(call: ControlCall, world_id: str, state: WorldState, keys_of: str | None = None) -> WorldObject:
    try:
        world = call.simulator.restore(state, world_id, keys_of)
    except WorldExists as error:
        holder = f"The world {error}" if call.access.reaches(str(error)) else "Another world"
        message = f"{holder} has one of these keys. Delete it first."
        raise ControlError(409, "already_exists", message) from None
    return show_world(call, world)
