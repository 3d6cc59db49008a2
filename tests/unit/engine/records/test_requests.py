"""The request journal of a world."""

from __future__ import annotations

from dataclasses import replace

from simulator.engine.records.requests import JournalEntry, requests_of
from tests.calls import world_of
from tests.toy import PROVIDER

CALL = JournalEntry("req_1", 1, "practice", None, "GET", "/v1/orders", (("accept", "*/*"),), b"", 200, b"{}", 0.5)


def test_each_world_has_its_own_journal() -> None:
    one, other = world_of(PROVIDER), world_of(PROVIDER)
    requests_of(one).enter(CALL)
    assert list(requests_of(one).entries) == [CALL]
    assert not requests_of(other).entries


def test_a_call_is_as_large_as_its_texts_and_a_row() -> None:
    assert CALL.size == 1_000 + len("/v1/orders") + len("accept*/*") + len("{}")
    assert replace(CALL, body=b"x" * 50).size == CALL.size + 50
