"""What the integrator's traffic tells: advice on its conduct, and its coverage of the contract."""

from __future__ import annotations

import asyncio
from typing import Annotated

from simulator.engine.control.call import ControlCall
from simulator.engine.control.operation import LIMIT, Query, Raw, any_text, calls_under, one_of
from simulator.engine.control.pages import HTML, apart, page_rows
from simulator.engine.control.refusals import wrong
from simulator.engine.insight import page
from simulator.engine.insight.advice import findings_in_slices, of_world
from simulator.engine.insight.counting import Counts, count_some, count_world, merged
from simulator.engine.insight.coverage import EVERY_WORLD, coverage_of
from simulator.engine.insight.shapes import AdviceList, CoverageReport
from simulator.engine.records.advice import SEVERITIES, SEVERITY_MEANINGS
from simulator.engine.records.requests import requests_of
from simulator.engine.text.json import JsonObject
from simulator.kernel.journal import newest
from simulator.kernel.world import World

operation = calls_under("Seeing")

_WORLD: Query = {"world": any_text("A world by its id; `*` means all that the server ever had.")}

_ADVICE: Query = {
    "severity": one_of(SEVERITY_MEANINGS, "Only findings that matter this much."),
    "kind": any_text("Only findings of this sort."),
    **_WORLD,
    **LIMIT,
}


@operation("GET /advice", "Findings about the integrator's traffic", query=_ADVICE)
async def advice(call: ControlCall) -> AdviceList:
    """Findings of one world, or with `world=*` of all, those that have ended included; by severity and kind."""
    severity, kind = call.query.get("severity") or None, call.query.get("kind") or None
    if severity is not None and severity not in SEVERITIES:
        raise wrong("severity", f"it is one of {', '.join(SEVERITIES)}")
    limit, operations = call.limit(), call.simulator.operations
    worlds = await _worlds(call)
    if call.query.get("world") == EVERY_WORLD:
        await call.runtime.remembered()
        found = list(call.runtime.ended_worlds.findings)
        for world in worlds:
            found += of_world(world.id, await findings_in_slices(world, operations))
    else:
        found = await findings_in_slices(worlds[0], operations)
    shown = [row for row in found if severity in (None, row["severity"]) and kind in (None, row["kind"])]
    dropped = sum(requests_of(world).dropped for world in worlds)
    told: AdviceList = {"data": newest(shown, limit)}
    return {**told, "dropped": dropped, "truncated": True} if dropped else told


async def _worlds(call: ControlCall) -> list[World]:
    """The world of the header, or the one in `world`, or all that live (`*`); brought up to date."""
    runtime, name = call.runtime, call.query.get("world") or ""
    if not name:
        return [call.world]
    if name == EVERY_WORLD:
        call.access.require_all("`world=*` tells of all worlds of the server.")
        for world_id in runtime.world_ids():
            await call.wake(world_id)
        found = list(runtime.simulator.worlds.values())
    else:
        await call.wake(name)
        found = [world for world in [call.find_world(name)] if world is not None]
    if not found:
        raise wrong("world", f"there is no world {name!r}; {EVERY_WORLD} means all of them")
    for world in found:
        await runtime.driver.bring_up_to_date(world)
    return found


async def _report(call: ControlCall) -> JsonObject:
    """The coverage of the world of the header, of the one in `world`, or of all that this server ever had (`*`)."""
    runtime = call.runtime
    simulator, worlds = runtime.simulator, await _worlds(call)
    if call.query.get("world") != EVERY_WORLD:
        return coverage_of(await _counts(worlds[0]), simulator.operations, worlds[0], worlds[0].id)
    await runtime.remembered()
    living = [await _counts(world) for world in worlds]
    counts = merged((runtime.ended_worlds.counts, *living))
    return coverage_of(counts, simulator.operations, simulator.default, EVERY_WORLD)


async def _counts(world: World) -> Counts:
    """Count a world. Other calls get their turn between slices."""
    while count_some(world):
        await asyncio.sleep(0)
    return count_world(world)


@operation("GET /coverage", "What of the contract the traffic has exercised", query=_WORLD)
async def coverage(call: ControlCall) -> Annotated[JsonObject, CoverageReport]:
    """What the traffic of the world has exercised of the contract, and what it has not, item by item."""
    return await _report(call)


@operation("GET /coverage.html", "The coverage as a page for people", query=_WORLD, media_type=HTML)
async def coverage_page(call: ControlCall) -> Raw[str]:
    """The same coverage as a page to look at."""
    return Raw(apart(page.render_page(await _report(call)), _PAGE).html)


_PAGE = "coverage"


PAGE_ROWS = page_rows(_PAGE, lambda: apart(page.page_source(), _PAGE))
"""What the page for people needs; no part of the contract."""
