"""Control calls for shared servers: list the usage of worlds, and delete unused worlds."""

from __future__ import annotations

from typing import NotRequired

from typing_extensions import TypedDict

from simulator.engine.control.call import ControlCall
from simulator.engine.control.operation import LIMIT, calls_under
from simulator.engine.control.refusals import invalid_parameter, missing_parameter
from simulator.engine.control.worlds import holdings
from simulator.engine.records.requests import requests_of
from simulator.engine.server.storage import Use
from simulator.engine.text.fields import Body
from simulator.engine.text.shapes import Count, Timestamp
from simulator.engine.webhooks.courier.courier import wall_clock_ms
from simulator.engine.worlds.quotas import objects_of
from simulator.kernel.clock import format_timestamp, parse_duration
from simulator.kernel.world import DEFAULT_WORLD

operation = calls_under("Worlds")


class WorldUse(TypedDict):
    id: str
    """The id of the world."""
    last_used_at: Timestamp
    """The real time of the last control call about the world, or of its creation or loading."""
    idle_seconds: Count
    """The number of real seconds since the last use."""
    objects: Count
    """The number of resources, including keys and deleted resources. The limit is quota_objects."""
    journal_bytes: Count
    """The approximate size of the journal of API requests in bytes."""
    snapshots: NotRequired[Count]
    """The number of snapshots. The limit is quota_snapshots. This field and the next ones are present only for a world
    in memory.
    """
    scenarios: NotRequired[Count]
    """The number of uploaded scenarios. The limit is quota_scenarios."""
    events: NotRequired[Count]
    """The number of events. The limit is quota_events."""
    bytes: NotRequired[Count]
    """The bytes of snapshots, uploaded scenarios and events. The limit is quota_bytes."""


class UsageList(TypedDict):
    data: list[WorldUse]
    """The worlds, oldest first."""


class PruneAnswer(TypedDict):
    ended: list[str]
    """The ids of the deleted worlds. With `dry_run`, the ids of the worlds that would be deleted."""
    dry_run: bool
    """Whether this was a dry run, in which nothing is deleted."""


class PruneBody(Body):
    idle: str | float | None = None
    """Delete worlds that were not used for this duration of real time, such as 7d."""
    world: str | None = None
    """The id of the only world to consider. By default, all worlds are considered."""
    dry_run: bool = False
    """Whether to list the worlds without deleting them."""


async def _uses(call: ControlCall) -> dict[str, Use]:
    uses, now_ms, persistence = call.runtime.meter.uses, wall_clock_ms(), call.runtime.persistence
    found = {} if persistence is None else dict(await persistence.uses())
    for world in call.simulator.worlds.values():
        used_ms = now_ms - int(uses.idle_seconds(world) * 1000)
        found[world.id] = Use(used_ms, objects_of(world), requests_of(world).size)
    return {world_id: use for world_id, use in found.items() if call.access.reaches(world_id)}


@operation("GET /usage", "List the usage of worlds", query=LIMIT, scope="server", catches_up=False)
async def usage(call: ControlCall) -> UsageList:
    """List the size and the last use of each world that the token can access. This call does not count as a use. With a
    store, the last use survives a restart, with a precision of one minute. The list then includes worlds that are not
    in memory.
    """
    now_ms = wall_clock_ms()
    rows: list[WorldUse] = []
    for world_id, use in (await _uses(call)).items():
        row: WorldUse = {
            "id": world_id,
            "last_used_at": format_timestamp(use.used_ms),
            "idle_seconds": max(now_ms - use.used_ms, 0) // 1000,
            "objects": use.objects,
            "journal_bytes": use.journal_bytes,
        }
        if (world := call.simulator.worlds.get(world_id)) is not None:
            held = await holdings.measure(call.simulator, world)
            row |= {"snapshots": held.snapshots, "scenarios": held.scenarios, "events": held.events, "bytes": held.size}
        rows.append(row)
    return {"data": call.newest(rows)}


@operation("POST /prune", "Delete unused worlds", body=PruneBody, scope="server", catches_up=False)
async def prune_worlds(call: ControlCall) -> PruneAnswer:
    """Delete the worlds that have not been used for a given duration, and their snapshots. The world `default` is never
    deleted. Any call that concerns a world counts as a use. Timers and scenarios do not count. Only worlds that the
    token can access are deleted.
    """
    idle, only = call.body.idle, call.body.world
    if idle is None:
        raise missing_parameter("idle")
    try:
        unused_since_ms = wall_clock_ms() - parse_duration(idle)
    except ValueError as error:
        raise invalid_parameter("idle", str(error)) from None
    ended = [
        world_id
        for world_id, use in (await _uses(call)).items()
        if world_id != DEFAULT_WORLD and only in (None, world_id) and use.used_ms <= unused_since_ms
    ]
    if not call.body.dry_run:
        for world_id in ended:
            await call.wake(world_id)
        ended = [world_id for world_id in ended if world_id in call.simulator.worlds]
        for world_id in ended:
            call.simulator.delete_world(world_id)
    return {"ended": ended, "dry_run": call.body.dry_run}
