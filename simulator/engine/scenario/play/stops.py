"""Stopping scenarios: too many steps at one instant, too many pending steps, or steps that break repeatedly."""

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
    """A stopped scenario. `entry` is the number of its logbook entry."""

    name: str
    reason: str
    at: SavedTimestamp
    entry: SavedCount


@with_config(STRICT)
class LastFailure(TypedDict):
    """The last step of a scenario that broke. `error` is the class of the exception."""

    part: str
    error: str


STOPPED = TableKey("scenario.stopped", Stopped)
INSTANTS = TableKey("scenario.instants", tuple[int, int])
"""The last instant at which a scenario had a step without delay, and the number of such steps."""
FAILURES = TableKey("scenario.failures", LastFailure)

_LONGEST_REASON = 500

MOST_PENDING = 50_000
"""The maximum of pending steps of a scenario, at about 1 KB each."""
# Stopping a scenario deletes them in one change, which takes about 3 microseconds each. Half a million would block
# all other worlds for more than a second.
_COUNTED_EVERY = 500


def enter(world: World, name: str, part: str, place: str, reason: str) -> None:
    """Note that a scenario is stopped, and by which step; inside a change."""
    entry = note(world, name, "stopped", part, place, name=name, reason=reason)
    row: Stopped = {"name": name, "reason": reason, "at": format_timestamp(world.now_ms), "entry": entry}
    world.store[STOPPED].put(name, row)


def clear(world: World, name: str) -> None:
    """Delete the reason for which a scenario was stopped, and its counts; inside a change."""
    for table in (world.store[STOPPED], world.store[INSTANTS], world.store[FAILURES]):
        if name in table:
            table.delete(name)


def why_stopped(world: World, name: str) -> str | None:
    """Return why a scenario was stopped, or None if it was not."""
    row = world.store[STOPPED].get(name)
    return None if row is None else row["reason"]


def stopped_since(world: World, entry: int) -> list[StoppedScenario]:
    """Return the scenarios that were stopped after this logbook entry and still are."""
    rows = world.store[STOPPED].values()
    return [{"name": row["name"], "reason": row["reason"], "at": row["at"]} for row in rows if row["entry"] > entry]


def count_step(world: World, name: str) -> str | None:
    """Count a due step that was planned without delay. Return a reason to stop its scenario if there are too many."""
    # Only such steps can form an endless loop at one instant. Steps with a delay may well be due together: there are
    # no more of them than events that planned them.
    instants = world.store[INSTANTS]
    at_ms, count = instants.get(name) or (world.now_ms, 0)
    count = count + 1 if at_ms == world.now_ms else 1
    instants.put(name, (world.now_ms, count))
    most = settings_of(world)["timers_per_instant"]
    if count <= most:
        return None
    return (
        f"more than {most} of its steps without delay were due at one instant (the setting timers_per_instant). "
        "Do its rules trigger each other? Give their steps an `after`"
    )


def count_pending(world: World, name: str, fresh: int) -> str | None:
    """Return a reason to stop a scenario if it has too many pending steps, after `fresh` new ones were planned."""
    # Rules that react to each event with several steps multiply them. Counting reads all timers, so it happens only
    # when their number passes a multiple of `_COUNTED_EVERY`. Otherwise planning n steps would cost n squared.
    planned = len(world.agenda)
    if planned <= MOST_PENDING or planned % _COUNTED_EVERY >= fresh:
        return None
    if sum(timer.arguments.get("scenario") == name for timer in world.agenda.all()) <= MOST_PENDING:
        return None
    return f"more than {MOST_PENDING} of its steps are pending. Do its rules trigger each other with several steps?"


def record_failure(world: World, step: PlannedStep, error: Exception) -> str | None:
    """Note a step that broke. Return a reason to stop its scenario if the last failure had the same part or error."""
    failures, kind = world.store[FAILURES], type(error).__name__
    reason = f"{kind}: {error}"[:_LONGEST_REASON]
    note_step(world, "failed", step, error=kind, reason=reason)
    before = failures.get(step.scenario)
    failures.put(step.scenario, {"part": step.part, "error": kind})
    if before is None or (before["part"] != step.part and before["error"] != kind):
        return None
    return f"its steps failed twice in a row, last {step.part}: {reason}"


def record_success(world: World, name: str) -> None:
    """End a series of failures, because a step succeeded; inside a change."""
    if name in world.store[FAILURES]:
        world.store[FAILURES].delete(name)
