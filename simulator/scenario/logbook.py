"""The logbook of scenarios: which rules fired, which steps were done or skipped; bounded, the oldest go first."""

from __future__ import annotations

from simulator.kernel.clock import format_timestamp
from simulator.kernel.world import World
from simulator.wire.json import JsonObject

TABLE = "scenario.log"
KEPT = 10_000


def note(world: World, scenario: str, what: str, part: str, place: str, **members: str) -> int:
    """Write an entry and answer its number; inside a change.

    `what`: fired, done, skipped, failed or stopped; `part` is the path of the rule or step.
    """
    number = world.next_sequence(TABLE)
    table = world.store.table(TABLE)
    entry = {"at": format_timestamp(world.now_ms), "part": part, "place": place, **members}
    table.put(str(number), {"scenario": scenario, "what": what, "entry": entry})
    oldest = str(number - KEPT)
    if oldest in table:
        table.delete(oldest)
    return number


def last_entry(world: World) -> int:
    """The number of the newest entry, 0 when there is none."""
    return world.store.table("sequences").get(TABLE) or 0


def notes(world: World, scenario: str, what: str) -> list[JsonObject]:
    """The entries of one scenario and sort, oldest first."""
    return [
        row["entry"] for row in world.store.table(TABLE).values() if row["scenario"] == scenario and row["what"] == what
    ]
