"""The logbook of scenarios: which rules fired, which steps were done or skipped; bounded, the oldest go first."""

from __future__ import annotations

from typing import Any

from simulator.kernel.clock import format_timestamp
from simulator.kernel.store import TableKey
from simulator.kernel.world import World
from simulator.wire.json import JsonObject

LOG = TableKey("scenario.log", dict[str, Any])
"""The entries by their numbers."""
KEPT = 10_000


def note(world: World, scenario: str, what: str, part: str, place: str, **members: str) -> int:
    """Write an entry and answer its number; inside a change.

    `what`: fired, done, skipped, failed or stopped; `part` is the path of the rule or step.
    """
    number = world.next_sequence(LOG.name)
    table = world.store[LOG]
    entry = {"at": format_timestamp(world.now_ms), "part": part, "place": place, **members}
    table.put(str(number), {"scenario": scenario, "what": what, "entry": entry})
    oldest = str(number - KEPT)
    if oldest in table:
        table.delete(oldest)
    return number


def last_entry(world: World) -> int:
    """The number of the newest entry, 0 when there is none."""
    return world.last_sequence(LOG.name)


def notes(world: World, scenario: str, what: str) -> list[JsonObject]:
    """The entries of one scenario and sort, oldest first."""
    return [row["entry"] for row in world.store[LOG].values() if row["scenario"] == scenario and row["what"] == what]
