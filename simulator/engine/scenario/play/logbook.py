"""The logbook of scenarios: rules that fired, and the results of steps. The oldest entries are dropped."""

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
    """The optional fields of a logbook entry."""

    object: str
    event: str
    request: str
    action: str
    error: str
    name: str
    reason: str


@with_config(STRICT)
class Note(About):
    """A logbook entry. `part` is the path of the rule or step in the document, and `place` is its file and line."""

    at: Required[SavedTimestamp]
    part: Required[str]
    place: Required[str]


@with_config(STRICT)
class Logged(TypedDict):
    scenario: str
    what: What
    entry: Note


LOG = TableKey("scenario.log", Logged, journal=True)
"""The logbook entries, by number."""
MAX_ENTRIES = 10_000


def note(world: World, scenario: str, what: What, part: str, place: str, **about: Unpack[About]) -> int:
    """Add an entry to the logbook and return its number. Call this function inside a transaction."""
    number = world.next_sequence(LOG.name)
    table = world.store[LOG]
    entry: Note = {"at": format_timestamp(world.now_ms), "part": part, "place": place, **about}
    table.put(str(number), {"scenario": scenario, "what": what, "entry": entry})
    oldest = str(number - MAX_ENTRIES)
    if oldest in table:
        table.delete(oldest)
    return number


def last_entry(world: World) -> int:
    """Return the number of the newest entry, or 0 if the logbook is empty."""
    return world.last_sequence(LOG.name)


def dropped(world: World) -> int:
    """Return the number of entries that the logbook has dropped, for all scenarios together."""
    return max(0, last_entry(world) - len(world.store[LOG]))


def notes(world: World, scenario: str, what: What) -> list[Note]:
    """Return a scenario's entries of one kind, from oldest to newest."""
    return [row["entry"] for row in world.store[LOG].values() if row["scenario"] == scenario and row["what"] == what]
