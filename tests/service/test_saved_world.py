"""A world saved by an earlier version can be loaded, is exported unchanged, and continues as expected.

`saved/world.json.gz` is a busy world with a row of nearly every kind, pending steps, held steps and webhooks in flight.
`saved/next_days.json.gz` contains what happened in it afterwards. Never regenerate these files: old documents must stay
readable.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from simulator.engine.worlds.settings import DEFAULTS
from tests.service.test_documents import Inside

SAVED = Path(__file__).parent / "saved"
OF_THE_LOAD = ("control.calls",)
"""Tables that the very call which loads a document writes to."""


def read(name: str) -> Any:
    return json.loads(gzip.decompress((SAVED / name).read_bytes()))


@pytest.fixture
def inside() -> Iterator[Inside]:
    inside = Inside()
    try:
        answer = inside.control("PUT", "/state", read("world.json.gz"))
        assert answer.status == 200, answer.body
        yield inside
    finally:
        inside.close()


def as_saved(written: Any, saved: Any) -> Any:
    """Return rows as written, without fields added since they were saved."""
    if isinstance(written, list) and isinstance(saved, list) and len(written) == len(saved):
        return [as_saved(one, was) for one, was in zip(written, saved, strict=True)]
    if isinstance(written, dict) and isinstance(saved, dict) and "$" in written:
        return {name: as_saved(value, saved[name]) for name, value in written.items() if name in saved}
    return written


def test_a_field_added_to_a_row_later_is_not_a_difference() -> None:
    row = {"$": "Lamp", "parts": [{"$": "Bulb", "watt": 5, "colour": ""}], "any": {"key": 1}}
    assert as_saved([["lamp_1", row]], [["lamp_1", {"$": "Lamp", "parts": [{"$": "Bulb", "watt": 5}]}]]) == [
        ["lamp_1", {"$": "Lamp", "parts": [{"$": "Bulb", "watt": 5}]}]
    ]
    for other in ({**row, "parts": []}, {**row, "any": {"key": 1, "new": 2}}, {"$": "Lamp"}):
        assert as_saved(other, row) != row


def test_it_is_written_again_as_it_was(inside: Inside) -> None:
    saved, written = read("world.json.gz"), inside.control("GET", "/state").body
    assert written["tables"].keys() == saved["tables"].keys()
    for name, rows in saved["tables"].items():
        if name not in OF_THE_LOAD:
            assert as_saved(written["tables"][name], rows) == rows, name
    saved["blueprint"]["settings"] = {**DEFAULTS, **saved["blueprint"]["settings"]}  # it had fewer then
    for name in saved.keys() - {"tables", "simulator"}:
        assert as_saved(written[name], saved[name]) == saved[name], name


def next_days(inside: Inside) -> dict[str, Any]:
    """What happens when time goes on: every event, and what all resources have become."""
    inside.control("POST", "/actions/set_network", {"network": "stellar", "status": "operational"})
    fired = [inside.advance(by=span)["fired"] for span in ("1m", "1h", "2d")]
    events = inside.control("GET", "/events", params={"limit": 1000}).body["data"]
    resources = inside.control("GET", "/resources", params={"limit": 1000}).body["data"]
    return {"fired": fired, "events": events, "resources": resources}


def test_it_continues_as_before(inside: Inside) -> None:
    expected, found = read("next_days.json.gz"), next_days(inside)
    assert found["fired"] == expected["fired"]
    for name in ("events", "resources"):
        assert len(found[name]) == len(expected[name])
        for one, other in zip(found[name], expected[name], strict=True):
            assert one == other
