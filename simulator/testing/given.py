"""What tests give to a world, as the control interface takes it: resources, moments, lengths of time, files."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

Target = str | Mapping[str, object]
"""A resource: its id, or the resource itself as any answer shows it."""


def id_of(target: Target) -> str:
    """The id of a resource that is named by it or given whole; ValueError when it has none."""
    if isinstance(target, str):
        return target
    found = target.get("id")
    if not isinstance(found, str):
        raise ValueError(f"this has no `id`, so it is no resource: {dict(target)!r}")
    return found


def ids_in(until: Mapping[str, object]) -> dict[str, object]:
    """What an advance waits for, with resources by their ids."""
    return {
        name: id_of(value) if name in ("resource", "object_id") and isinstance(value, str | Mapping) else value
        for name, value in until.items()
    }


_DAY = re.compile(r"\d{4}-\d\d-\d\d")


def timestamp(moment: str | date) -> str:
    """A moment as the control interface takes it, a day as its beginning; ValueError for a datetime without a zone."""
    if not isinstance(moment, datetime):
        return f"{moment}T00:00:00Z" if _DAY.fullmatch(str(moment)) else str(moment)
    if moment.tzinfo is None:
        raise ValueError(f"{moment!r} has no time zone: say datetime(..., tzinfo=UTC)")
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def span_of(span: str | float | timedelta) -> str | float:
    """A length of time as the control interface takes it."""
    return f"{span // timedelta(milliseconds=1)}ms" if isinstance(span, timedelta) else span


Scenario = str | Path | Mapping[str, object]
"""A scenario: its name, the path of its file, or the whole of it."""


def scenario_file(given: str | Path) -> Path | None:
    """The path of a scenario's file, None for the name of a scenario."""
    is_path = isinstance(given, Path) or given.endswith((".yaml", ".yml", ".json")) or "/" in given
    return Path(given) if is_path else None
