"""The configuration of a test's world, read from pytest markers."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NoReturn

import pytest

from simulator.engine.text.json import JsonObject
from simulator.testing.given import scenario_file


def body_of(item: pytest.Item) -> JsonObject:
    """Return the request body that creates a test's world. If a marker occurs several times, the closest one applies.
    `world` markers are merged.
    """
    body: JsonObject = {}
    for marker in reversed(list(item.iter_markers("world"))):
        if marker.args:
            _wrong(marker, 'takes names and values, such as settings={"strict": True}')
        body |= marker.kwargs
    if isinstance(given := body.get("observed"), str | Path):
        body["observed"] = _found(given, item, next(item.iter_markers("world")))
    if (scenario := item.get_closest_marker("scenario")) is not None:
        if scenario.kwargs or not all(isinstance(one, str | Path) for one in scenario.args):
            _wrong(scenario, 'takes names and paths, such as "payout-fails"')
        body["scenarios"] = [_found(one, item, scenario) for one in scenario.args]
    if (clock := item.get_closest_marker("clock")) is not None:
        body["clock"] = _only(clock, 'takes one time, such as "2026-03-01" or "2026-03-01T08:00:00Z"')
    if (seed := item.get_closest_marker("seed")) is not None:
        body["seed"] = _only(seed, "takes one whole number, such as 7")
    return body


def history_of(item: pytest.Item) -> JsonObject | None:
    """Return the arguments of a test's marker `history`, or None if it has none."""
    marker = item.get_closest_marker("history")
    if marker is None:
        return None
    if marker.args or set(marker.kwargs) - {"days", "per_day", "mix"}:
        _wrong(marker, 'takes days, per_day and mix by name, such as days=30, mix="failures"')
    return dict(marker.kwargs)


def _only(marker: pytest.Mark, takes: str) -> Any:
    if len(marker.args) != 1 or marker.kwargs:
        _wrong(marker, takes)
    return marker.args[0]


def _found(given: str | Path, item: pytest.Item, marker: pytest.Mark) -> str | Path:
    """Return a scenario name unchanged, or resolve a path relative to the test file or the root directory."""
    path = scenario_file(given)
    if path is None:
        return given
    places = list(dict.fromkeys([item.path.parent, item.config.rootpath]))
    found = next((place / path for place in places if (place / path).is_file()), None)
    return found or _wrong(marker, f"names the file {path}, which is missing in {' and '.join(map(str, places))}")


def _wrong(marker: pytest.Mark, why: str) -> NoReturn:
    given = [*map(repr, marker.args), *(f"{name}={value!r}" for name, value in marker.kwargs.items())]
    pytest.fail(f"@pytest.mark.{marker.name}({', '.join(given)}) {why}.", pytrace=False)
