"""Stops a scenario that has too many steps at one time, too many pending steps, or steps that fail repeatedly."""

from __future__ import annotations

from pydantic import with_config
from typing_extensions import TypedDict

from simulator.engine.records.saved import STRICT, SavedCount, SavedTimestamp
from simulator.engine.scenario.language import shapes
from simulator.engine.scenario.play.logbook import note
from simulator.engine.scenario.play.pending import PlannedStep, note_step
from simulator.engine.worlds.settings import settings_of
from simulator.kernel.clock import format_timestamp
from simulator.kernel.store import TableKey
from simulator.kernel.world import World


@with_config(STRICT)
class Stopped(TypedDict):
    """A stopped scenario. `entry` is the number of the logbook entry that records the stop."""

    name: str
    reason: str
    at: SavedTimestamp
    entry: SavedCount


@with_config(STRICT)
class LastFailure(TypedDict):
    """The most recently failed step of a scenario. `error` is the class name of the exception."""

    part: str
    error: str


STOPPED = TableKey("scenario.stopped", Stopped)
INSTANTS = TableKey("scenario.instants", tuple[int, int])
"""The last time at which a step without delay was due, and the number of such steps at that time, by scenario."""
FAILURES = TableKey("scenario.failures", LastFailure)

_LONGEST_REASON = 500

MOST_PENDING = 50_000
"""The maximum number of pending steps in a scenario. Each takes about 1 KB."""
# Stopping a scenario deletes its pending steps in one transaction, at about 3 microseconds each. Half a million steps
# would block all other worlds for more than a second.
_COUNTED_EVERY = 500


def enter(world: World, name: str, part: str, place: str, reason: str) -> None:
    """Record that a scenario was stopped at a part of it. Call this function inside a transaction."""
    entry = note(world, name, "stopped", part, place, name=name, reason=reason)
    row: Stopped = {"name": name, "reason": reason, "at": format_timestamp(world.now_ms), "entry": entry}
    world.store[STOPPED].put(name, row)


def clear(world: World, name: str) -> None:
    """Delete the records of a scenario's stop, last failure and steps without delay. Call this inside a transaction."""
    for table in (world.store[STOPPED], world.store[INSTANTS], world.store[FAILURES]):
        if name in table:
            table.delete(name)


def why_stopped(world: World, name: str) -> str | None:
    """Return the reason why a scenario was stopped, or None if it is not stopped."""
    row = world.store[STOPPED].get(name)
    return None if row is None else row["reason"]


def stopped_since(world: World, entry: int) -> list[shapes.StoppedScenario]:
    """Return the scenarios that were stopped after the logbook entry with this number and are still stopped."""
    rows = world.store[STOPPED].values()
    return [{"name": row["name"], "reason": row["reason"], "at": row["at"]} for row in rows if row["entry"] > entry]


def count_step(world: World, name: str) -> str | None:
    """Count a due step that was planned without delay. Return a reason to stop if too many are due at once."""
    # Only steps without delay can form an endless loop at one time. Many steps with a delay can be due at the same
    # time, but never more than the events that planned them.
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
    """Return a reason to stop a scenario of which too many steps, `fresh` of them new, are pending, otherwise None."""
    # Rules that react to each event with several steps multiply their steps. Counting reads all timers, so it happens
    # only when the number of timers passes a multiple of `_COUNTED_EVERY`. Otherwise planning n steps would take
    # O(n²) time.
    planned = len(world.agenda)
    if planned <= MOST_PENDING or planned % _COUNTED_EVERY >= fresh:
        return None
    if sum(timer.arguments.get("scenario") == name for timer in world.agenda.all()) <= MOST_PENDING:
        return None
    return f"more than {MOST_PENDING} of its steps are pending. Do its rules trigger each other with several steps?"


def record_failure(world: World, step: PlannedStep, error: Exception) -> str | None:
    """Record a step that failed. Return a reason to stop the scenario if the previous failure was similar."""
    failures, kind = world.store[FAILURES], type(error).__name__
    reason = f"{kind}: {error}"[:_LONGEST_REASON]
    note_step(world, "failed", step, error=kind, reason=reason)
    before = failures.get(step.scenario)
    failures.put(step.scenario, {"part": step.part, "error": kind})
    if before is None or (before["part"] != step.part and before["error"] != kind):
        return None
    return f"its steps failed twice in a row, last {step.part}: {reason}"


def record_success(world: World, name: str) -> None:
    """Delete the record of the scenario's last failure. Call this function inside a transaction."""
    if name in world.store[FAILURES]:
        world.store[FAILURES].delete(name)
