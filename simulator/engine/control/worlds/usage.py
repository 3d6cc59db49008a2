"""What worlds of a shared server hold, when they were last used, and the end of those that nobody uses."""

from __future__ import annotations

from typing import NotRequired

from typing_extensions import TypedDict

from simulator.engine.control.call import ControlCall
from simulator.engine.control.operation import LIMIT, calls_under
from simulator.engine.control.refusals import absent, wrong
from simulator.engine.control.worlds import holdings
from simulator.engine.records.requests import requests_of
from simulator.engine.server.storage import Use
from simulator.engine.text.fields import Body
from simulator.engine.text.shapes import Count, Timestamp
from simulator.engine.webhooks.courier.courier import wall_clock_ms
from simulator.engine.worlds.quotas import objects_of
from simulator.kernel.clock import format_timestamp, parse_duration
from simulator.kernel.journal import newest
from simulator.kernel.world import DEFAULT_WORLD

operation = calls_under("Worlds")


class WorldUse(TypedDict):
    id: str
    """The id of the world."""
    last_used_at: Timestamp
    """When a call came last that was about it, by the clock of the machine; when it was made or read, without one."""
    idle_seconds: Count
    """How many seconds of real time ago that was."""
    objects: Count
    """How many resources it has, keys and deleted ones included: what quota_objects bounds."""
    journal_bytes: Count
    """About how many bytes its journal of interface calls takes."""
    snapshots: NotRequired[Count]
    """How many snapshots it has: what quota_snapshots bounds. Left out, like the rest, if it is not in memory here."""
    scenarios: NotRequired[Count]
    """How many scenarios were uploaded to it: what quota_scenarios bounds."""
    events: NotRequired[Count]
    """How many events it has: what quota_events bounds."""
    bytes: NotRequired[Count]
    """How many bytes snapshots, uploaded scenarios and events take: what quota_bytes bounds."""


class UsageList(TypedDict):
    data: list[WorldUse]
    """The worlds, oldest first."""


class PruneAnswer(TypedDict):
    ended: list[str]
    """The ids of the worlds that have ended, or would have."""
    dry_run: bool
    """Whether they live on, because only a list was asked for."""


class PruneBody(Body):
    """How long a world has to be without use to be ended."""

    idle: str | float | None = None
    """A duration of real time, such as 7d."""
    world: str | None = None
    """The id of the one world to look at; all without it."""
    dry_run: bool = False
    """Whether to tell only which worlds it would be."""


async def _uses(call: ControlCall) -> dict[str, Use]:
    """When the worlds that the token reaches were last used, oldest world first; of those that live here, up to now."""
    uses, now_ms, persistence = call.runtime.meter.uses, wall_clock_ms(), call.runtime.persistence
    found = {} if persistence is None else dict(await persistence.uses())
    for world in call.simulator.worlds.values():
        used_ms = now_ms - int(uses.idle_seconds(world) * 1000)
        found[world.id] = Use(used_ms, objects_of(world), requests_of(world).size)
    return {world_id: use for world_id, use in found.items() if call.access.reaches(world_id)}


@operation(
    "GET /usage", "What worlds hold, and when they were last used", query=LIMIT, scope="server", catches_up=False
)
async def usage(call: ControlCall) -> UsageList:
    """What the worlds that the token reaches hold, and when each was last used; asking for this is no use.

    With a store that is known to the minute after a restart, and of worlds that are in memory elsewhere or nowhere.
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
    return {"data": newest(rows, call.limit())}


@operation("POST /prune", "End worlds that nobody uses", body=PruneBody, scope="server", catches_up=False)
async def prune_worlds(call: ControlCall) -> PruneAnswer:
    """End the worlds that nobody has used for so long, with their snapshots; never the world default.

    A call about a world is a use of it, what it does by itself is none. Of worlds that the token does not reach none
    ends.
    """
    idle, only = call.body.idle, call.body.world
    if idle is None:
        raise absent("idle")
    try:
        unused_since_ms = wall_clock_ms() - parse_duration(idle)
    except ValueError as error:
        raise wrong("idle", str(error)) from None
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
