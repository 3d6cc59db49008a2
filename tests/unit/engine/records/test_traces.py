"""Parsing the header `traceparent` (W3C Trace Context, level 1 and later versions)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.engine.records.origins import child_of, parent_of, read_trace

TRACE, SPAN = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"


@pytest.mark.parametrize(
    ("given", "read_as"),
    [
        (f"00-{TRACE}-{SPAN}-01", f"00-{TRACE}-{SPAN}-01"),
        (f"00-{TRACE}-{SPAN}-00", f"00-{TRACE}-{SPAN}-00"),
        (f"00-{TRACE}-{SPAN}-fe", f"00-{TRACE}-{SPAN}-00"),
        (f"00-{TRACE}-{SPAN}-ff", f"00-{TRACE}-{SPAN}-01"),
        (f"cc-{TRACE}-{SPAN}-01", f"00-{TRACE}-{SPAN}-01"),
        (f"cc-{TRACE}-{SPAN}-01-what-the-future-brings", f"00-{TRACE}-{SPAN}-01"),
    ],
)
def test_a_well_formed_one_is_taken(given: str, read_as: str) -> None:
    assert read_trace(given) == parent_of({"traceparent": given}) == read_as


@pytest.mark.parametrize(
    "given",
    [
        "",
        "00",
        f"ff-{TRACE}-{SPAN}-01",
        f"00-{TRACE}-{SPAN}-01-more",
        f"00-{TRACE}-{SPAN}-01.",
        f"cc-{TRACE}-{SPAN}-01.more",
        f"00-{'0' * 32}-{SPAN}-01",
        f"00-{TRACE}-{'0' * 16}-01",
        f"00-{TRACE.upper()}-{SPAN}-01",
        f"00-{TRACE[:-1]}-{SPAN}-01",
        f"00-{TRACE}-{SPAN}-1",
        f" 00-{TRACE}-{SPAN}-01",
        f"00-{TRACE}-{SPAN}-01\r\nX-Evil: 1",
        f"00-{TRACE}-{SPAN}-01\n",
    ],
)
def test_a_malformed_one_is_none(given: str) -> None:
    assert read_trace(given) == parent_of({"traceparent": given}) == ""


def test_without_one_there_is_none() -> None:
    assert parent_of({"tracestate": "a=b"}) == ""


@given(st.text())
def test_any_input_parses_to_something_readable_again(text: str) -> None:
    assert read_trace(text) in ("", read_trace(read_trace(text)))


def test_child_trace_has_a_derived_span() -> None:
    parent = f"00-{TRACE}-{SPAN}-01"
    child = child_of(parent, "dlv_1")
    assert child == child_of(parent, "dlv_1") == read_trace(child)
    assert child.split("-")[1] == TRACE
    assert len({SPAN, child.split("-")[2], child_of(parent, "dlv_2").split("-")[2]}) == 3
