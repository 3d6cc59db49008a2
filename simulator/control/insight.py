"""What the integrator's traffic tells: advice on its conduct, and its coverage of the contract."""

from __future__ import annotations

from simulator.control.operation import ControlCall, ControlOperation, Raw, wrong
from simulator.insight import EVERY_WORLD, count_world, coverage_of, findings, merged, render_page
from simulator.kernel.journal import newest
from simulator.wire.advice import SEVERITIES
from simulator.wire.json import JsonObject

ASSUMPTIONS = (
    ("advice-findings", "Advice is one finding per kind and subject; it is computed from the journal when asked for."),
    ("advice-times", "Waits between calls are judged on the clock on which the integrator waited longer."),
    ("coverage-reset", "A reset clears the coverage of a world; that of the whole server keeps what ended worlds had."),
    ("coverage-acknowledged", "An event type is covered once a receiver acknowledged one of it with 2xx."),
)


async def advice(call: ControlCall) -> JsonObject:
    severity, kind = call.query.get("severity") or None, call.query.get("kind") or None
    if severity is not None and severity not in SEVERITIES:
        raise wrong("severity", f"it is one of {', '.join(SEVERITIES)}")
    found = [
        finding
        for finding in findings(call.world, call.application.simulator.operations)
        if severity in (None, finding["severity"]) and kind in (None, finding["kind"])
    ]
    return {"data": newest(found, call.limit())}


def _report(call: ControlCall) -> JsonObject:
    """The coverage of the world of the header, of the one in `world`, or of all that this server ever had (`*`)."""
    application = call.application
    simulator, name = application.simulator, call.query.get("world") or ""
    if name != EVERY_WORLD:
        world = simulator.worlds.get(name) if name else call.world
        if world is None:
            raise wrong("world", f"there is no world {name!r}; {EVERY_WORLD} means all of them")
        application.driver.bring_up_to_date(world)
        return coverage_of(count_world(world), simulator.operations, world, world.id)
    living = list(simulator.worlds.values())
    for world in living:
        application.driver.bring_up_to_date(world)
    counts = merged((application.past.counts, *(count_world(world) for world in living)))
    return coverage_of(counts, simulator.operations, simulator.default, EVERY_WORLD)


async def coverage(call: ControlCall) -> JsonObject:
    return _report(call)


async def coverage_page(call: ControlCall) -> Raw:
    return Raw(render_page(_report(call)).encode(), "text/html; charset=utf-8")


ROWS: tuple[ControlOperation, ...] = (
    ControlOperation("GET", "/advice", "advice", "Findings about the integrator's traffic", advice),
    ControlOperation("GET", "/coverage", "coverage", "What of the contract the traffic has exercised", coverage),
    ControlOperation("GET", "/coverage.html", "coverage_page", "The coverage as a page for people", coverage_page),
)
