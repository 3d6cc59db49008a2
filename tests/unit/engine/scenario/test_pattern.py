"""Patterns find the same as RE2 alone, although most values are rejected before RE2 is called."""

from __future__ import annotations

import pytest
import re2
from hypothesis import example, given
from hypothesis import strategies as st

from simulator.engine.scenario.language.pattern import Pattern

PARTS = st.sampled_from(
    ["a", "b", "1", " ", ":", "-", ".", "*", "+", "?", "(?i)", "(a)", "(?:)", r"\Q", r"\E", "|", "$"]
)
VALUES = st.text("ab1 :-AB", max_size=4)


@given(st.lists(PARTS, min_size=1, max_size=5).map("".join), VALUES)
@example("ab(?i)*", "a")
@example(r"ab\Q\E*", "a")
def test_prefix_check_agrees_with_re2(after: str, value: str) -> None:
    text = f"^{after}"
    try:
        pattern = Pattern(text)
    except ValueError:
        return
    assert (pattern.search(value) is None) == (re2.search(text, value) is None)


@pytest.mark.parametrize(("value", "found"), [("simulator:x", {"name": "x"}), ("simulato", None), ("", None)])
def test_pattern_with_literal_prefix(value: str, found: dict[str, str] | None) -> None:
    assert Pattern("^simulator:(?P<name>.*)$").search(value) == found
