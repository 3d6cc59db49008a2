"""Conversion of test arguments for the control API: resources, times, durations, files."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

Target = str | Mapping[str, object]
"""A resource: its id, or the whole resource from a response."""


def id_of(target: Target) -> str:
    """Return the id of a resource, given as its id or as a whole. Raises ValueError if the resource has no id."""
    if isinstance(target, str):
        return target
    found = target.get("id")
    if not isinstance(found, str):
        raise ValueError(f"not a resource, because it has no `id`: {dict(target)!r}")
    return found


def ids_in(until: Mapping[str, object]) -> dict[str, object]:
    """Return the condition of an advance with each resource replaced by its id."""
    return {
        name: id_of(value) if name in ("resource", "object_id") and isinstance(value, str | Mapping) else value
        for name, value in until.items()
    }


_DAY = re.compile(r"\d{4}-\d\d-\d\d")


def timestamp(moment: str | date) -> str:
    """Return a time in the format of the control API. A date becomes midnight. A naive datetime raises ValueError."""
    if not isinstance(moment, datetime):
        return f"{moment}T00:00:00Z" if _DAY.fullmatch(str(moment)) else str(moment)
    if moment.tzinfo is None:
        raise ValueError(f"{moment!r} has no time zone. Use datetime(..., tzinfo=UTC)")
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def span_of(span: str | float | timedelta) -> str | float:
    """Return a duration in the format of the control API."""
    return f"{span // timedelta(milliseconds=1)}ms" if isinstance(span, timedelta) else span


Scenario = str | Path | Mapping[str, object]
"""A scenario: its name, the path of its file, or the whole document."""


def scenario_file(given: str | Path) -> Path | None:
    """Return the path of a scenario file, or None for a scenario name."""
    is_path = isinstance(given, Path) or given.endswith((".yaml", ".yml", ".json")) or "/" in given
    return Path(given) if is_path else None
