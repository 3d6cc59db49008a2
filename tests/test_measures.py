"""The bounds that the measures of the source keep; `python -m tests.measures` prints them."""

from __future__ import annotations

from tests.measures import circle, measured


def test_modules_import_each_other_in_no_circle() -> None:
    assert circle() is None


def test_the_source_stays_small_and_typed() -> None:
    found = measured()
    assert found.lines <= 38_600
    assert found.anys_per_100_lines <= 1.9
    assert found.casts <= 52
