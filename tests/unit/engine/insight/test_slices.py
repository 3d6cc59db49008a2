"""Advice is computed in slices, and other requests are handled between them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.engine.insight import advice, traffic
from simulator.engine.insight.shapes import Finding
from simulator.engine.records.requests import JournalEntry, requests_of
from tests.library import Simulator, library_with
from tests.unit.engine.insight.test_findings import BLUEPRINT, CALL, FINES


def _simulator(calls: list[JournalEntry]) -> Simulator:
    made = Simulator(library_with(FINES))
    made.create_world(BLUEPRINT)
    requests_of(made.default).entries.extend(replace(call, id=f"req_{place}") for place, call in enumerate(calls))
    return made


def _pieces(simulator: Simulator, found: list[Finding], size: int) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for module in (advice, traffic):
            patch.setattr(module, "SLICE", size)
        yield from advice._search(simulator.default, simulator.operations, found)


CALLS = st.builds(
    lambda operation, status, book, at_ms, response, key: replace(
        CALL,
        method="POST" if operation == "pay_fine" else "GET",
        operation=operation,
        path="/v1/fines" if operation == "pay_fine" else f"/v1/books/{book}",
        body=b'{"amount": 1, "reference": "order"}' if operation == "pay_fine" else b"",
        headers=(("idempotency-key", key),) if key else (),
        status=status,
        response=response,
        at_ms=CALL.at_ms + at_ms,
        wall_ms=0.0,
    ),
    st.sampled_from(["pay_fine", "get_book", "get_transaction", ""]),
    st.sampled_from([200, 200, 200, 400, 404, 503]),
    st.integers(1, 2),
    st.sampled_from([0, 100, 2_000]),
    st.sampled_from([b"{}", b'{"id": "book-1"}', b'{"error": {"code": "not_found"}}']),
    st.sampled_from(["", "a", "b"]),
)


@given(st.lists(CALLS, max_size=40))
def test_findings_are_equal_for_every_size_of_slice(calls: list[JournalEntry]) -> None:
    whole: list[Finding] = []
    parts: list[Finding] = []
    simulator = _simulator(calls)
    list(_pieces(simulator, whole, 1_000))
    list(_pieces(simulator, parts, 1))
    assert parts == whole


def test_a_larger_journal_is_read_in_more_slices() -> None:
    few, many = (len(list(_pieces(_simulator([CALL] * count), [], 10))) for count in (10, 200))
    assert many >= few + 6 * 19  # the journal is read six times


def test_a_request_during_the_search_is_not_judged() -> None:
    simulator = _simulator([CALL] * 30)
    found: list[Finding] = []
    for number, _ in enumerate(_pieces(simulator, found, 10)):
        requests_of(simulator.default).entries.append(replace(CALL, id=f"req_late{number}"))
    assert [row["count"] for row in found if row["kind"] == "fast_polling"] == [26]
