"""The architecture page states measures of the source and their bounds. `python -m tests.measures` prints them."""

from __future__ import annotations

import re

import pytest

from tests.measures import PACKAGE, Measures, circle, measured, parts, table
from tests.unit.test_places import places

pytestmark = pytest.mark.xdist_group("source")  # its modules are parsed once

_PART = re.compile(r"^\| (\w+) \| ([0-9,]+) \| ([0-9,]+) \| ([0-9.]+) \|$", re.MULTILINE)
_ROW = re.compile(r"^\| ([^|]+?) \| ([0-9.,]+) \| ([0-9.,]+) \|$", re.MULTILINE)


def _stated() -> dict[str, tuple[float, float]]:
    """Every measure of the page: its value when the page was written, and its bound."""
    page = (PACKAGE / "ARCHITECTURE.md").read_text("utf-8")
    return {
        name: (float(value.replace(",", "")), float(bound.replace(",", "")))
        for name, value, bound in _ROW.findall(page)
    }


def _found(measures: Measures) -> dict[str, float]:
    counted = places()
    return {
        "lines of Python": measures.lines,
        "lines of the longest file": measures.longest_file,
        "`Any` per 100 lines": measures.anys_per_100_lines,
        "casts": measures.casts,
        "circles of imports": measures.circles,
        "places for a new event: its row and its cell": counted["event"],
        "places for a new room: `ROOMS`, the layers": counted["room"],
        "places for a new control call: its row": counted["control call"],
        "places for a new member of a fault: its field, what acts on it": counted["fault member"],
    }


def test_modules_import_each_other_in_no_circle() -> None:
    assert circle() is None


def test_the_page_states_the_measures_and_they_keep_their_bounds() -> None:
    stated, found = _stated(), _found(measured())
    assert stated.keys() == found.keys()
    assert {name: value for name, value in found.items() if value > stated[name][1]} == {}
    far_off = {name for name, (value, _) in stated.items() if abs(found[name] - value) > max(value / 50, 0.05)}
    assert far_off == set(), "state what is counted now in simulator/ARCHITECTURE.md"


def test_the_page_states_the_size_of_each_part() -> None:
    page = (PACKAGE / "ARCHITECTURE.md").read_text("utf-8")
    stated = {name: [float(n.replace(",", "")) for n in numbers] for name, *numbers in _PART.findall(page)}
    found = {name: [part.lines, part.code_lines, part.anys_per_100_lines] for name, part in parts().items()}
    assert stated.keys() == found.keys(), table()
    bounds = (50, 50, 0.05)
    far_off = {
        name
        for name, numbers in found.items()
        for number, said, bound in zip(numbers, stated[name], bounds, strict=True)
        if abs(number - said) > max(number / 50, bound)
    }
    assert far_off == set(), "\n".join(["simulator/ARCHITECTURE.md has to state:", *table()])


def test_the_architecture_is_one_page() -> None:
    assert len((PACKAGE / "ARCHITECTURE.md").read_text("utf-8").split()) <= 1200
