"""Patterns find what RE2 finds, whatever is known of a value before RE2 is asked."""

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
def test_a_value_is_refused_early_only_where_it_is_refused(after: str, value: str) -> None:
    text = f"^{after}"
    try:
        pattern = Pattern(text)
    except ValueError:
        return
    assert (pattern.search(value) is None) == (re2.search(text, value) is None)


@pytest.mark.parametrize(("value", "found"), [("simulator:x", {"name": "x"}), ("simulato", None), ("", None)])
def test_a_pattern_that_begins_with_plain_text(value: str, found: dict[str, str] | None) -> None:
    assert Pattern("^simulator:(?P<name>.*)$").search(value) == found
