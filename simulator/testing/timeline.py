"""What happened in a world, in lines: what a failing test prints."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from simulator.engine.control.history.timeline import Timeline, TimelineEntry
    from simulator.engine.control.scenarios.faults import FaultList
    from simulator.engine.insight.shapes import Finding
    from simulator.testing.seen import SeenWorld

_LINES = 40


def timeline(world: SeenWorld) -> str:
    """Calls and what each led to, in their order, the newest last; then the faults in force, and the advice.

    At most 40 lines of what happened, and how many stand before them.
    """
    happened: Timeline = world.control("GET", "/timeline", query={"limit": _LINES})
    faults: FaultList = world.control("GET", "/faults")
    return "\n".join(
        [
            f"World {world.id}, seed {world.seed}, now {world.now:%Y-%m-%d %H:%M:%S} UTC",
            *_happened(happened),
            *_faults(faults),
            *_advice(world.advice()),
        ]
    )


def _happened(timeline: Timeline) -> Iterator[str]:
    """A line for each entry; time and day stand where they change."""
    if not timeline["data"]:
        yield "  nothing happened"
    if timeline["earlier"]:
        yield f"  … {timeline['earlier']} earlier"
    day = time = call = ""
    for entry in timeline["data"]:
        if entry["what"] in ("call", "control"):
            call = entry["text"]
        elif entry["text"].startswith(f"{entry['id']} (new)") and entry["id"] in call and "tells" not in entry["text"]:
            continue  # the call above says so
        date, _, now = entry["at"].removesuffix("Z").partition("T")
        if date != day:
            yield f"  {date}"
        yield f"  {now if (date, now) != (day, time) else '':12}  {_line(entry)}"
        day, time = date, now


def _line(entry: TimelineEntry) -> str:
    """What a call led to stands to the right of it."""
    signs = {"call": "", "control": "* ", "move": "    ", "event": "    ", "delivery": "    webhook "}
    return signs[entry["what"]] + entry["text"]


def _faults(faults: FaultList) -> Iterator[str]:
    if faults["data"]:
        yield "Faults in force"
    for row in faults["data"]:
        left = "" if row["times_left"] is None else f", {row['times_left']} left"
        where = row.get("match") or row.get("webhook") or {}
        words = " ".join(str(part) for part in where.values()) or "everything"
        yield f"  {row['id']} on {words}: acted {row['hits']}×{left}"


def _advice(found: list[Finding]) -> Iterator[str]:
    """The gravest first; what to do once for all findings of a kind."""
    kinds: dict[tuple[int, str], list[Finding]] = {}
    for row in found:
        kinds.setdefault((_GRAVEST.index(row["severity"]), row["kind"]), []).append(row)
    if kinds:
        yield "Advice"
    for index, (_, rows) in enumerate(sorted(kinds.items(), key=lambda item: item[0])):
        if index == _MOST_ADVICE:
            yield f"  … {len(kinds) - index} further kinds: world.advice() has them"
            return
        yield from (f"  {row['severity']}: {row['message']}" for row in rows[:_MOST_ADVICE])
        if len(rows) > _MOST_ADVICE:
            yield f"    and {len(rows) - _MOST_ADVICE} more like it"
        yield f"    {rows[0]['what_to_do']}"


_GRAVEST = ("error", "warning", "info")
_MOST_ADVICE = 4
