"""What stops a scenario: too many steps at one instant, or steps that break; and who has been stopped, and why.

All of it is plain data in the world's store. The engine decides what being stopped means.
"""

from __future__ import annotations

from pydantic import with_config
from typing_extensions import TypedDict

from simulator.engine.records.saved import STRICT, SavedCount, SavedTimestamp
from simulator.engine.scenario.language.shapes import StoppedScenario
from simulator.engine.scenario.play.logbook import note
from simulator.engine.scenario.play.pending import PlannedStep, note_step
from simulator.engine.worlds.settings import settings_of
from simulator.kernel.clock import format_timestamp
from simulator.kernel.store import TableKey
from simulator.kernel.world import World


@with_config(STRICT)
class Stopped(TypedDict):
    """A scenario that was stopped: why, when, and the number of its entry in the logbook."""

    name: str
    reason: str
    at: SavedTimestamp
    entry: SavedCount


@with_config(STRICT)
class LastFailure(TypedDict):
    """The last step of a scenario that broke, and how: the class of the exception."""

    part: str
    error: str


STOPPED = TableKey("scenario.stopped", Stopped)
INSTANTS = TableKey("scenario.instants", tuple[int, int])
FAILURES = TableKey("scenario.failures", LastFailure)

_LONGEST_REASON = 500

MOST_PENDING = 50_000
"""How many steps of one scenario may be pending; each takes about 1 KB.

Stopping a scenario takes them all away in one change, at some 3 microseconds each: half a million would make every
other world wait for more than a second.
"""
_COUNTED_EVERY = 500


def enter(world: World, name: str, part: str, place: str, reason: str) -> None:
    """Enter that a scenario is stopped, and at which step; inside a change."""
    entry = note(world, name, "stopped", part, place, name=name, reason=reason)
    row: Stopped = {"name": name, "reason": reason, "at": format_timestamp(world.now_ms), "entry": entry}
    world.store[STOPPED].put(name, row)


def clear(world: World, name: str) -> None:
    """Forget what a scenario was stopped for, and what might have stopped it soon; inside a change."""
    for table in (world.store[STOPPED], world.store[INSTANTS], world.store[FAILURES]):
        if name in table:
            table.delete(name)


def why_stopped(world: World, name: str) -> str | None:
    """Why a scenario was stopped, None for one that is not."""
    row = world.store[STOPPED].get(name)
    return None if row is None else row["reason"]


def stopped_since(world: World, entry: int) -> list[StoppedScenario]:
    """{name, reason, at} of every scenario that was stopped after that entry of the logbook, and still is."""
    rows = world.store[STOPPED].values()
    return [{"name": row["name"], "reason": row["reason"], "at": row["at"]} for row in rows if row["entry"] > entry]


def count_step(world: World, name: str) -> str | None:
    """Count a step that was planned without delay; a reason to stop its scenario when there were too many by now.

    Steps planned earlier do not count, however many are due at once: they are as many as what made them.
    """
    instants = world.store[INSTANTS]
    at_ms, count = instants.get(name) or (world.now_ms, 0)
    count = count + 1 if at_ms == world.now_ms else 1
    instants.put(name, (world.now_ms, count))
    most = settings_of(world)["timers_per_instant"]
    if count <= most:
        return None
    return (
        f"more than {most} of its steps without delay came at one instant (the setting timers_per_instant); "
        "do its rules answer each other? Give their steps an `after`"
    )


def count_pending(world: World, name: str, fresh: int) -> str | None:
    """A reason to stop a scenario that has too many steps pending, after `fresh` more of them were planned.

    Rules that answer each event with several steps multiply them. They are counted when there are so many timers in
    all, and a few hundred more each time, because counting takes as long as there are many.
    """
    # Whether a multiple of the step was passed: exact counting each time would make planning n steps cost n squared.
    planned = len(world.agenda)
    if planned <= MOST_PENDING or planned % _COUNTED_EVERY >= fresh:
        return None
    if sum(timer.arguments.get("scenario") == name for timer in world.agenda.all()) <= MOST_PENDING:
        return None
    return f"more than {MOST_PENDING} of its steps are pending; do its rules answer each other with several steps?"


def record_failure(world: World, step: PlannedStep, error: Exception) -> str | None:
    """Enter a step that broke; a reason to stop its scenario when it is the second in a row of its part or sort."""
    failures, sort = world.store[FAILURES], type(error).__name__
    reason = f"{sort}: {error}"[:_LONGEST_REASON]
    note_step(world, "failed", step, error=sort, reason=reason)
    before = failures.get(step.scenario)
    failures.put(step.scenario, {"part": step.part, "error": sort})
    if before is None or (before["part"] != step.part and before["error"] != sort):
        return None
    return f"its steps failed twice in a row, last {step.part}: {reason}"


def record_success(world: World, name: str) -> None:
    """A step was done: failures before it are no longer in a row; inside a change."""
    if name in world.store[FAILURES]:
        world.store[FAILURES].delete(name)
