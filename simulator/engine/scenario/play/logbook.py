"""The logbook of scenarios: which rules fired, which steps were done or skipped; bounded, the oldest go first."""

from __future__ import annotations

from typing import Literal, Required

from pydantic import with_config
from typing_extensions import TypedDict, Unpack

from simulator.engine.records.saved import STRICT, SavedTimestamp
from simulator.kernel.clock import format_timestamp
from simulator.kernel.store import TableKey
from simulator.kernel.world import World

What = Literal["fired", "done", "skipped", "failed", "stopped"]


class About(TypedDict, total=False):
    """What an entry says besides when and where."""

    object: str
    event: str
    request: str
    action: str
    error: str
    name: str
    reason: str


@with_config(STRICT)
class Note(About):
    """What a scenario did, and when. `part` is the path of the rule or step, `place` its file and line."""

    at: Required[SavedTimestamp]
    part: Required[str]
    place: Required[str]


@with_config(STRICT)
class Logged(TypedDict):
    """A row of the logbook."""

    scenario: str
    what: What
    entry: Note


LOG = TableKey("scenario.log", Logged, journal=True)
"""The entries by their numbers."""
KEPT = 10_000


def note(world: World, scenario: str, what: What, part: str, place: str, **about: Unpack[About]) -> int:
    """Write an entry; returns its number; inside a change.

    `part` is the path of the rule or step.
    """
    number = world.next_sequence(LOG.name)
    table = world.store[LOG]
    entry: Note = {"at": format_timestamp(world.now_ms), "part": part, "place": place, **about}
    table.put(str(number), {"scenario": scenario, "what": what, "entry": entry})
    oldest = str(number - KEPT)
    if oldest in table:
        table.delete(oldest)
    return number


def last_entry(world: World) -> int:
    """The number of the newest entry, 0 when there is none."""
    return world.last_sequence(LOG.name)


def dropped(world: World) -> int:
    """How many older entries are gone, whichever scenarios they were of."""
    return max(0, last_entry(world) - len(world.store[LOG]))


def notes(world: World, scenario: str, what: What) -> list[Note]:
    """The entries of one scenario and sort, oldest first."""
    return [row["entry"] for row in world.store[LOG].values() if row["scenario"] == scenario and row["what"] == what]
