"""The recommended handler has no counterexample, and each shortcut has one of known length."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from simulator.certification.exhaustive.search import claim
from tests.support import whole
from tests.tools.certification.exhaustive.conftest import Search
from tests.tools.certification.exhaustive.counterexamples import CHOSEN, FILE, PAGE, example_of, page
from tests.tools.certification.exhaustive.shortcuts import SHORTCUTS

FLOWS = ("onramp", "offramp-refunded", "completed-refunded")


LENGTHS = {
    "has-no-settle-job": 6,
    "settles-open-orders-only": 2,
    "deduplicates-by-event-id-only": 3,
    "acknowledges-before-storing": 3,
    "trusts-the-payload": 3,
    "downgrades-a-final-state": 3,
    "last-write-wins": 3,
    "expects-the-order-of-events": 2,
    "answers-unknown-types-with-500": 2,
    "refuses-copies": 3,
    "ignores-the-age": 2,
}


def test_the_recommended_handler_is_short() -> None:
    assert len((Path(__file__).parent / "handler.py").read_text("utf-8").splitlines()) <= 50


@pytest.mark.farm  # 13 seconds each
@pytest.mark.parametrize("flow", FLOWS)
def test_the_recommended_handler_is_covered(flow: str, search: Search) -> None:
    report = search("recommended", flow)
    result = report.result
    assert [(one.verdict, one.note, result.trace(one.path)) for one in result.findings] == []
    assert (report.complete, report.unsound, result.depth) == (True, "", 10)
    assert (result.states, result.edges, result.sequences) == (243, 810, 326_011)
    assert all(result.moves.values())
    assert claim(result, has_job=True).endswith(
        "your books equal the ledger, even if deliveries are lost. 243 states, 810 edges."
    )


@pytest.mark.long
@pytest.mark.farm
@pytest.mark.parametrize("flow", FLOWS[1:])
def test_the_recommended_handler_is_covered_with_six_events(flow: str, search: Search) -> None:
    """Six events have 2,916 edges, the short form with two events has 12."""
    events = whole(6, short=2)
    result = search("recommended", flow, events=events, budget_seconds=900).result
    assert result.findings == ()
    assert (result.complete, result.states, result.edges) == (True, 3**events, 2 * events * 3 ** (events - 1))


@pytest.mark.farm
def test_the_recommended_handler_is_covered_with_replayed_prefixes(search: Search) -> None:
    report = search("recommended", "completed-refunded", replays=True, events=3)
    assert (report.complete, report.result.states, report.result.edges) == (True, 27, 54)


@pytest.mark.farm
@pytest.mark.parametrize("name", CHOSEN)
def test_a_shortcut_has_a_shortest_counterexample(name: str, search: Search) -> None:
    """Two copies are needed for counterexamples with a copy. The search ends when it has covered two deliveries."""
    flow, verdict = CHOSEN[name]
    copies = 2 if name == "refuses-copies" else 1
    found = example_of(search(name, flow, copies=copies, depth=2), verdict)
    if os.environ.get("WRITE"):
        known = json.loads(FILE.read_text("utf-8")) if FILE.exists() else {}
        FILE.write_text(json.dumps({**known, name: found}, indent=1) + "\n", "utf-8")
    assert found == json.loads(FILE.read_text("utf-8"))[name]
    assert len(found["trace"]) == LENGTHS[name]


def test_each_shortcut_has_a_counterexample() -> None:
    assert list(LENGTHS) == list(CHOSEN) == list(SHORTCUTS)


def test_the_page_shows_these_counterexamples() -> None:
    module = "tests.tools.certification.exhaustive.counterexamples"
    assert PAGE.read_text("utf-8") == page(), f"run: python -m {module}"
