"""The recommended handler is covered, and each shortcut has a counterexample of known length."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

from simulator.certification.exhaustive.claims import claim
from tests.tools.certification.exhaustive.conftest import Search
from tests.tools.certification.exhaustive.shortcuts import SHORTCUTS

FLOWS = ("onramp", "offramp-refunded", "completed-refunded")


class Counterexample(NamedTuple):
    """The verdict that is characteristic of a shortcut, and its shortest trace."""

    flow: str
    verdict: str
    trace: list[str]
    events: int = 3


COUNTEREXAMPLES = {
    "has-no-settle-job": Counterexample(
        "onramp", "lost", [*(f"lost transaction.{one}" for one in ("created", "processing", "completed")), "settle"]
    ),
    "settles-open-orders-only": Counterexample(
        "completed-refunded", "disagrees", ["deliver transaction.completed", "settle"]
    ),
    "deduplicates-by-event-id-only": Counterexample(
        "onramp", "doubled", ["deliver transaction.completed", "late-after-final transaction.created", "settle"]
    ),
    "acknowledges-before-storing": Counterexample(
        "onramp", "order-dependent", ["deliver transaction.processing", "late-after-next transaction.created", "settle"]
    ),
    "trusts-the-payload": Counterexample(
        "completed-refunded", "order-dependent",
        ["deliver transaction.refunded", "late-after-final transaction.completed", "settle"],
    ),
    "downgrades-a-final-state": Counterexample(
        "onramp", "doubled", ["deliver transaction.completed", "late-after-final transaction.created", "settle"]
    ),
    "last-write-wins": Counterexample(
        "onramp", "order-dependent", ["deliver transaction.processing", "late-after-next transaction.created", "settle"]
    ),
    "expects-the-order-of-events": Counterexample("onramp", "stuck", ["deliver transaction.processing", "settle"]),
    "answers-unknown-types-with-500": Counterexample(
        "onramp", "stuck", ["deliver transaction.held_for_review", "settle"], events=5
    ),
    "refuses-copies": Counterexample(
        "onramp", "stuck", ["deliver transaction.created", "again transaction.created", "settle"]
    ),
    "ignores-the-age": Counterexample("onramp", "forged-accepted", ["late-beyond-age transaction.created", "settle"]),
}  # fmt: skip


def test_the_recommended_handler_is_short() -> None:
    assert len((Path(__file__).parent / "handler.py").read_text("utf-8").splitlines()) <= 40


@pytest.mark.farm  # 13 seconds each
@pytest.mark.parametrize("flow", FLOWS)
def test_the_recommended_handler_is_covered(flow: str, search: Search) -> None:
    report = search("recommended", flow)
    result = report.result
    assert [(one.verdict, one.note, result.trace(one.path)) for one in result.findings] == []
    assert (report.complete, report.unsound, result.depth) == (True, "", 10)
    assert (result.states, result.edges, result.sequences) == (243, 810, 326_011)
    assert all(result.moves.values())
    assert claim(result, has_job=True).endswith("your books equal the ledger. 243 states, 810 edges.")


@pytest.mark.farm
def test_the_recommended_handler_is_covered_with_replayed_prefixes(search: Search) -> None:
    report = search("recommended", "completed-refunded", replays=True, events=3)
    assert (report.complete, report.result.states, report.result.edges) == (True, 27, 54)


@pytest.mark.farm
@pytest.mark.parametrize("name", COUNTEREXAMPLES)
def test_a_shortcut_has_a_shortest_counterexample(name: str, search: Search) -> None:
    wanted = COUNTEREXAMPLES[name]
    result = search(name, wanted.flow, events=wanted.events, copies=1 if wanted.events > 3 else 2).result
    traces = {one.verdict: result.trace(one.path, one.verdict) for one in result.findings}
    assert traces[wanted.verdict] == wanted.trace


def test_each_shortcut_has_a_counterexample() -> None:
    assert list(COUNTEREXAMPLES) == list(SHORTCUTS)
