"""Snapshots, restoring, and worlds as documents (control interface, chapter "Worlds")."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict

from simulator.engine.control.call import WORLD_HEADER, ControlCall
from simulator.engine.control.operation import LIMIT, WAIT, Raw, calls_under
from simulator.engine.control.time.clock import Mode
from simulator.engine.control.worlds import holdings
from simulator.engine.control.worlds.documents import document_text, read_document
from simulator.engine.control.worlds.world_object import WorldObject, show_world
from simulator.engine.rows.error import ControlError
from simulator.engine.text.fields import Body, FreeText
from simulator.engine.text.shapes import Count, Timestamp
from simulator.engine.worlds.settings import SettingSet
from simulator.engine.worlds.simulator import Snapshot, WorldExists, WorldState
from simulator.kernel.clock import format_timestamp
from simulator.kernel.journal import newest
from simulator.kernel.world import World

operation = calls_under("Worlds")


class SnapshotEntry(TypedDict):
    id: str
    """Names the snapshot."""
    name: str | None
    """The name it was given; null without one."""
    at: Timestamp
    """The simulated time of the state that it keeps."""
    world: str
    """The world that it is of."""


class SnapshotList(TypedDict):
    data: list[SnapshotEntry]
    """The snapshots, oldest first."""


class DocumentClock(TypedDict):
    mode: Mode
    """How simulated time passes."""
    now: Timestamp
    """The simulated time."""
    rate: str
    """How many simulated seconds pass in a second of the wall clock."""


class DocumentSettings(SettingSet):
    assumptions: NotRequired[Mapping[str, str]]
    """What it was to assume otherwise than usual, by the id of the assumption."""


class DocumentBlueprint(TypedDict):
    seed: Count
    """The seed it was made with."""
    clock: DocumentClock
    """The clock it was made with."""
    scenarios: list[str]
    """The scenarios that were active at first."""
    settings: DocumentSettings
    """The settings it was made with."""


class StateDocument(TypedDict):
    """A whole world. Tables are lists of [key, row], because their order counts."""

    format: Literal["rampsim.state"]
    """Always `rampsim.state`."""
    version: Literal[1]
    """The version of this format."""
    simulator: str
    """The version of the simulator that wrote it."""
    world: str
    """The id of the world."""
    keys_of: str
    """The id that its keys are derived from."""
    seed: Count
    """The seed of the world."""
    clock: DocumentClock
    """The clock of the world."""
    started_at: Timestamp
    """The simulated time at which the world began."""
    blueprint: DocumentBlueprint
    """What the world was made of, for a reset."""
    tables: dict[str, list[tuple[str, Any]]]
    """Every table by its name, as a list of key and row."""
    requests: list[Any]
    """The journal of interface calls."""


class SnapshotBody(Body):
    """`wait`: however long a receiver takes that has not answered a webhook yet."""

    name: FreeText | None = None
    """A name for the snapshot."""
    wait: bool | None = None
    """Whether to wait, however long it takes, for a receiver that has not answered a webhook yet."""


async def _state_at_rest(call: ControlCall) -> tuple[World, WorldState]:
    """The state of the world once nothing is in flight; 409 clock_busy while its clock is being advanced."""
    world = call.world
    call.require_idle(world)
    await call.settle(world)
    if call.world is not world:
        raise ControlError(409, "invalid_state", "The world was replaced meanwhile.")
    call.require_idle(world)
    return world, call.simulator.state_of(world)


def _show(snapshot: Snapshot) -> SnapshotEntry:
    return {
        "id": snapshot.id,
        "name": snapshot.name,
        "at": format_timestamp(snapshot.state.now_ms),
        "world": snapshot.state.world_id,
    }


@operation("POST /snapshots", "Keep the state of the world", status=201, body=SnapshotBody, query=WAIT)
async def take_snapshot(call: ControlCall) -> SnapshotEntry:
    """Keep the state of the world once no webhook attempt is in flight; 409 clock_busy during an advance.

    507 simulator_quota_exceeded for more snapshots, or more bytes, than the world may have.
    """
    simulator, is_bounded = call.simulator, holdings.is_bounded(call.world)
    await holdings.require_room(simulator, call.world, "quota_snapshots", snapshots=1)
    world, state = await _state_at_rest(call)
    if not is_bounded:
        return _show(simulator.keep_snapshot(state, call.body.name))
    size = await holdings.size_of(simulator, state)
    if not simulator.lives(world):
        raise ControlError(409, "invalid_state", "The world was replaced meanwhile.")
    holdings.held_now(simulator, world).with_more(snapshots=1, size=size).require(world, "quota_snapshots")
    kept = simulator.keep_snapshot(state, call.body.name)
    holdings.note_size(simulator, kept.id, size)
    return _show(kept)


@operation("GET /snapshots", "The snapshots of the world", query=LIMIT, catches_up=False)
async def list_snapshots(call: ControlCall) -> SnapshotList:
    """The snapshots of the world of the header, the oldest first."""
    world = call.world
    own = call.simulator.snapshots_of(world.id)
    return {"data": newest([_show(row) for row in own], call.limit())}


async def _named(call: ControlCall) -> Snapshot:
    """The snapshot of the path; its world is the one of the header, where there is a header."""
    await call.wake_snapshot(call.path["id"])
    snapshot = call.simulator.snapshots.get(call.path["id"])
    world_id = "" if snapshot is None else snapshot.state.world_id
    if snapshot is None or call.headers.get(WORLD_HEADER, world_id) != world_id or not call.access.reaches(world_id):
        raise ControlError(404, "not_found", f"There is no snapshot {call.path['id']!r} of this world.")
    return snapshot


@operation("GET /snapshots/{id}", "A snapshot as one JSON document", catches_up=False, shows_keys=True)
async def get_snapshot(call: ControlCall) -> Raw[StateDocument]:
    """The document of a snapshot."""
    return await _written(call, (await _named(call)).state)


async def _written(call: ControlCall, state: WorldState) -> Raw[StateDocument]:
    """A state as its document, written beside the loop: the state changes no more."""
    return Raw(await asyncio.to_thread(document_text, call.simulator, state))


@operation("DELETE /snapshots/{id}", "Forget a snapshot", status=204, catches_up=False)
async def delete_snapshot(call: ControlCall) -> None:
    """Forget a snapshot; worlds made from it stay."""
    call.simulator.forget_snapshot((await _named(call)).id)


@operation("POST /snapshots/{id}/restore", "Go back to a snapshot", catches_up=False, shows_keys=True)
async def restore(call: ControlCall) -> WorldObject:
    """Put the world of a snapshot back into its state."""
    state = (await _named(call)).state
    return _replace_world(call, state.world_id, state)


@operation("GET /state", "The state of the world as one JSON document", query=WAIT, shows_keys=True)
async def get_state(call: ControlCall) -> Raw[StateDocument]:
    """The document of the world as it is, once no webhook attempt is in flight.

    409 clock_busy when a receiver hangs and the world does not come to rest within 15 seconds of real time.
    """
    return await _written(call, (await _state_at_rest(call))[1])


@operation(
    "PUT /state",
    "Replace the world by a document",
    takes="bytes",
    accepts=(StateDocument,),
    max_bytes=64 * 1024 * 1024,
    catches_up=False,
    shows_keys=True,
)
async def put_state(call: ControlCall) -> WorldObject:
    """Replace the world of the header by a document; with one that is refused nothing changes.

    By a token for some worlds the world keeps its own keys, whatever keys and tokens the document has.
    """
    is_unreadable = call.runtime.unreadable(call.world_id) is not None and call.access.reaches(call.world_id)
    world = None if is_unreadable else call.world
    state = await asyncio.to_thread(read_document, call.simulator, call.raw)
    if call.find_world(call.world_id) is not world:
        raise ControlError(409, "invalid_state", "The world was replaced meanwhile.")
    keys_of = call.simulator.draw_keys_of(call.world_id) if world is None else world.keys_of
    return _replace_world(call, call.world_id, state, keys_of=None if call.access.is_of_all else keys_of)


def _replace_world(call: ControlCall, world_id: str, state: WorldState, keys_of: str | None = None) -> WorldObject:
    try:
        world = call.simulator.restore(state, world_id, keys_of)
    except WorldExists as error:
        holder = f"The world {error}" if call.access.reaches(str(error)) else "Another world"
        message = f"{holder} holds one of these keys; delete it first."
        raise ControlError(409, "already_exists", message) from None
    return show_world(call, world)
