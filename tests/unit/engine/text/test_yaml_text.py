"""YAML is written so that every parser reads back exactly the same."""

from __future__ import annotations

import io
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML

from simulator.engine.text.yaml import yaml_text


def _read(text: str) -> Any:
    return YAML(typ="safe", pure=True).load(io.StringIO(text))


@pytest.mark.parametrize(
    "text",
    [
        "on",
        "No",
        "null",
        "12",
        "1e3",
        "2026-01-05",
        "08:30",
        "a: b",
        "- a",
        "#a",
        "",
        " a",
        "a\nb",
        "{a}",
        "é",
        "~",
        "5e-6",
        "0x1F",
        "\x00\x07\x7f\x85\u2028\ufeff\U0001f600",
        "k" * 2000,
    ],
)
def test_strings_that_could_be_mistaken_stay_strings(text: str) -> None:
    assert _read(yaml_text({"key": text, text: [text]})) == {"key": text, text: [text]}


def test_small_numbers_are_written_without_exponent() -> None:
    assert yaml_text({"cost": 5e-06}) == "cost: 0.000005\n"


def test_large_numbers_stay_what_they_are() -> None:
    assert _read(yaml_text({"a": 1e300, "b": 1e16, "c": 2**64 - 1})) == {"a": 1e300, "b": 1e16, "c": 2**64 - 1}


def test_short_lists_are_on_one_line_and_fields_keep_their_order() -> None:
    assert yaml_text({"b": ["x", 1, None], "a": [], "c": [{"d": {}}]}) == "b: [x, 1, null]\na: []\nc:\n  - d: {}\n"


_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.text(st.characters(exclude_categories=["Cs"]))
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text("abc:- #{}[]'\"é", max_size=6), inner, max_size=4)
    ),
    max_leaves=12,
)


@settings(max_examples=150)
@given(st.dictionaries(st.text("abz_$/", min_size=1, max_size=5), _JSON, min_size=1, max_size=4))
def test_any_document_reads_back_as_it_was(document: dict[str, Any]) -> None:
    assert _read(yaml_text(document)) == document
