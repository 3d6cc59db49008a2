"""The assumptions page for a world that is based on observations of the real service."""

from __future__ import annotations

import re
from collections.abc import Mapping

from simulator.engine.control.call import ControlCall
from simulator.engine.control.worlds.world_object import observed_by
from simulator.engine.worlds.observations import date_observed
from simulator.engine.worlds.settings import all_settings

PAGE = "reference/assumptions"
_ENTRY = re.compile(r'^<a id="(?P<id>[^"]+)"></a>\*\*')
_LAST_LINE = re.compile(r"^- \*Can be \[switched\]")
"""The last line of an entry that has alternatives."""


def standings_of(call: ControlCall) -> Mapping[str, str]:
    """Return a note for each assumption that has alternatives: the behaviour in force, and the date if it was observed.
    The result is empty if the world is not based on observations, or if the caller cannot access it.
    """
    world = call.find_world(call.world_id)
    files = () if world is None else observed_by(call.simulator, world)
    if world is None or not files:
        return {}
    chosen = all_settings(world)["assumptions"]
    notes = {}
    for switch in call.simulator.provider.alternatives().values():
        in_force = chosen.get(switch.id)
        date = date_observed(switch.id, in_force, files)
        behaviour = f"`{in_force}`" if in_force else "as assumed"
        standing = f"observed on {date}" if date else "not observed"
        other = next((file.date for file in files if file.verdicts.get(switch.id, {}).get("verdict") == "neither"), "")
        strange = f" On {other}, the service did something else." if other else ""
        notes[switch.id] = f"- *In this world*: {behaviour}, {standing}.{strange}"
    return notes


def with_standings(source: str, standings: Mapping[str, str]) -> str:
    """Return the source of the page with a note in each entry."""
    lines, entry = [], ""
    for line in source.split("\n"):
        lines.append(line)
        if found := _ENTRY.match(line):
            entry = found["id"]
        elif entry in standings and _LAST_LINE.match(line):
            lines.append(standings[entry])
    return "\n".join(lines)
