"""What worlds of a shared server hold, when they were last used, and the end of those that nobody uses."""

from __future__ import annotations

from typing_extensions import TypedDict

from simulator.control.operation import LIMIT, ControlCall, ControlOperation, absent, wrong
from simulator.courier.courier import wall_clock_ms
from simulator.kernel.clock import format_timestamp, parse_duration
from simulator.kernel.journal import newest
from simulator.kernel.world import DEFAULT_WORLD, World
from simulator.wire.fields import Body
from simulator.wire.quotas import objects_of
from simulator.wire.shapes import Count, Timestamp


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
    dry_run: bool = False
    """Whether to tell only which worlds it would be."""


def _reached(call: ControlCall) -> list[World]:
    return [world for world in call.simulator.worlds.values() if call.access.reaches(world.id)]


async def usage(call: ControlCall) -> UsageList:
    """What the worlds that the token reaches hold, and when each was last used; asking for this is no use."""
    uses, now_ms = call.runtime.meter.uses, wall_clock_ms()

    def shown(world: World) -> WorldUse:
        idle = uses.idle_seconds(world)
        return {
            "id": world.id,
            "last_used_at": format_timestamp(now_ms - int(idle * 1000)),
            "idle_seconds": int(idle),
            "objects": objects_of(world),
            "journal_bytes": world.journal.requests_size,
        }

    return {"data": [shown(world) for world in newest(_reached(call), call.limit())]}


async def prune(call: ControlCall) -> PruneAnswer:
    """End the worlds that nobody has used for so long, with their snapshots; never the world default.

    A call about a world is a use of it, what it does by itself is none. Of worlds that the token does not reach none
    ends.
    """
    idle = call.body.idle
    if idle is None:
        raise absent("idle")
    try:
        seconds = parse_duration(idle) / 1000
    except ValueError as error:
        raise wrong("idle", str(error)) from None
    uses = call.runtime.meter.uses
    ended = [world.id for world in _reached(call) if world.id != DEFAULT_WORLD and uses.idle_seconds(world) >= seconds]
    if not call.body.dry_run:
        for world_id in ended:
            call.simulator.delete_world(world_id)
    return {"ended": ended, "dry_run": call.body.dry_run}


ROWS: tuple[ControlOperation, ...] = (
    ControlOperation(
        "GET",
        "/usage",
        "usage",
        "Worlds",
        "What worlds hold, and when they were last used",
        usage,
        query=LIMIT,
        scope="server",
        catches_up=False,
    ),
    ControlOperation(
        "POST",
        "/prune",
        "prune_worlds",
        "Worlds",
        "End worlds that nobody uses",
        prune,
        200,
        PruneBody,
        scope="server",
        catches_up=False,
    ),
)
