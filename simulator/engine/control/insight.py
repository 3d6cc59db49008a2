"""Control calls that evaluate the integrator's traffic. They return findings and the coverage of the contract."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from typing import Annotated

from simulator.engine.clients.address import CONTROL_BASE
from simulator.engine.control.call import ControlCall
from simulator.engine.control.operation import LIMIT, Query, Raw, any_text, calls_under, one_of
from simulator.engine.control.pages import HTML, apart, page_rows
from simulator.engine.control.refusals import invalid_parameter
from simulator.engine.control.shapes import describe_dropped
from simulator.engine.control.worlds.world_object import observed_by
from simulator.engine.insight import page
from simulator.engine.insight.advice import findings_in_slices, of_world
from simulator.engine.insight.counting import Counts, count_some, count_world, merged
from simulator.engine.insight.coverage import EVERY_WORLD, coverage_of
from simulator.engine.insight.shapes import AdviceList, CoverageReport, Finding, RestsOn
from simulator.engine.records.advice import SEVERITIES, SEVERITY_MEANINGS
from simulator.engine.records.requests import requests_of
from simulator.engine.text.citations import assumptions_in
from simulator.engine.text.json import JsonObject
from simulator.engine.worlds.observations import Observed, date_observed
from simulator.engine.worlds.settings import all_settings
from simulator.kernel.world import World

operation = calls_under("Seeing")

_WORLD: Query = {"world": any_text("The id of a world, or `*` for all worlds that the server ever had.")}

_ADVICE: Query = {
    "severity": one_of(SEVERITY_MEANINGS, "Only findings of this severity."),
    "kind": any_text("Only findings of this kind."),
    **_WORLD,
    **LIMIT,
}


@operation("GET /advice", "List advice on your API traffic", query=_ADVICE)
async def advice(call: ControlCall) -> AdviceList:
    """List findings about your API traffic. A finding describes what may fail with the real service, the requests that
    are evidence, and the recommended change. With `world=*`, the list includes the findings of all worlds, including
    deleted ones.
    """
    severity, kind = call.choice("severity", SEVERITIES), call.given("kind")
    worlds = await _worlds(call)
    if call.query.get("world") == EVERY_WORLD:
        await call.runtime.remembered()
        found = list(call.runtime.ended_worlds.findings)
        for world in worlds:
            found += of_world(world.id, await _findings(call, world))
    else:
        found = await _findings(call, worlds[0])
    shown = [row for row in found if severity in (None, row["severity"]) and kind in (None, row["kind"])]
    dropped = sum(requests_of(world).dropped for world in worlds)
    return {"data": call.newest(shown), **describe_dropped(dropped)}


async def _findings(call: ControlCall, world: World) -> list[Finding]:
    """Return the findings of a world, with the assumptions on which they depend if the world has observations."""
    found = await findings_in_slices(world, call.simulator.operations)
    if files := observed_by(call.simulator, world):
        chosen = all_settings(world)["assumptions"]
        for finding in found:
            if rows := [_rests_on(one, chosen, files) for one in assumptions_in(finding["clause"])]:
                finding["rests_on"] = rows
    return found


def _rests_on(identifier: str, chosen: Mapping[str, str], files: Iterable[Observed]) -> RestsOn:
    date = date_observed(identifier, chosen.get(identifier), files)
    return {"id": identifier, "standing": "observed" if date else "assumed", "observed_at": date}


async def _worlds(call: ControlCall) -> list[World]:
    """Return the worlds to evaluate, in `world` of the query or the header, after firing their due timers."""
    runtime, name = call.runtime, call.given("world")
    if name is None:
        return [call.world]
    if name == EVERY_WORLD:
        call.access.require_all("`world=*` covers all worlds of the server.")
        for world_id in runtime.world_ids():
            await call.wake(world_id)
        found = list(runtime.simulator.worlds.values())
    else:
        await call.wake(name)
        found = [world for world in [call.find_world(name)] if world is not None]
    if not found:
        why = f"there is no world {name!r}; list the worlds with GET {CONTROL_BASE}/worlds"
        raise invalid_parameter("world", f"{why}, or use {EVERY_WORLD} for all")
    for world in found:
        await runtime.driver.bring_up_to_date(world)
    return found


async def _report(call: ControlCall) -> JsonObject:
    runtime = call.runtime
    simulator, worlds = runtime.simulator, await _worlds(call)
    if call.query.get("world") != EVERY_WORLD:
        return coverage_of(await _counts(worlds[0]), simulator.operations, worlds[0], worlds[0].id)
    await runtime.remembered()
    living = [await _counts(world) for world in worlds]
    counts = merged((runtime.ended_worlds.counts, *living))
    return coverage_of(counts, simulator.operations, simulator.default, EVERY_WORLD)


async def _counts(world: World) -> Counts:
    while count_some(world):
        await asyncio.sleep(0)
    return count_world(world)


@operation("GET /coverage", "Get the coverage of the contract", query=_WORLD)
async def coverage(call: ControlCall) -> Annotated[JsonObject, CoverageReport]:
    """Return which operations, errors, events and states your traffic has exercised, and which it has not. Use the
    report to find gaps in your tests. With `world=*`, all worlds count, including deleted ones.
    """
    return await _report(call)


@operation("GET /coverage.html", "Show the coverage as a page", query=_WORLD, media_type=HTML)
async def coverage_page(call: ControlCall) -> Raw[str]:
    """Return the coverage of the contract as an HTML page."""
    return Raw(apart(page.render_page(await _report(call)), _PAGE).html)


_PAGE = "coverage"
PAGE_ROWS = page_rows(_PAGE, lambda: apart(page.page_source(), _PAGE))
"""The routes that serve the page's style sheet and script. They are not part of the published contract."""
