"""The runs in a plan, the runs that fit into a budget, and the handling of earlier findings."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.exploration.baselines import Baseline
from simulator.exploration.catalogue import CLASSES
from simulator.exploration.exploring import Explored, Settings
from simulator.exploration.judgement.causes import Judged
from simulator.exploration.judgement.judging import Verdict
from simulator.exploration.plans import Run, expected_seconds, runs_of, within, without_fault
from simulator.exploration.reports import report
from tests.run_evidence import EVERYTHING, call, delivery, transaction
from tests.support import whole

MORE = {**EVERYTHING, "calls": [*EVERYTHING["calls"], *EVERYTHING["calls"]]}
RUNS = runs_of({"one": EVERYTHING, "two": MORE, "three": EVERYTHING}, "full")
TESTS = st.fixed_dictionaries(dict.fromkeys(("one", "two", "three"), st.floats(0.01, 5)))


def what(run: Run) -> tuple[str, str]:
    return run.fault, run.site.partition(" #")[0]


@pytest.mark.long
@settings(max_examples=whole(100, short=25))
@given(TESTS, st.integers(1, 8), st.floats(0, 200))
def test_a_budget_is_never_planned_beyond(seconds: dict[str, float], workers: int, budget: float) -> None:
    chosen = within(RUNS, seconds, workers, budget)
    assert not chosen or expected_seconds(chosen, seconds, workers) <= budget + 1e-6
    assert chosen == [run for run in RUNS if run in chosen]
    left = [run for run in RUNS if run not in chosen]
    for run in left:
        assert expected_seconds([*chosen, run], seconds, workers) > budget - 1e-6


@given(st.integers(1, len(RUNS)))
def test_a_budget_covers_each_class_first_then_each_class_at_each_operation(count: int) -> None:
    cheap = [run for run in RUNS if not CLASSES[run.fault].seconds]
    count = min(count, len(cheap))
    chosen = within(cheap, dict.fromkeys(("one", "two", "three"), 1.0), 1, count)
    assert len(chosen) == count
    assert len({run.fault for run in chosen}) == min(count, len({run.fault for run in cheap}))
    assert len({what(run) for run in chosen}) == min(count, len({what(run) for run in cheap}))
    pairs = {(what(run), run.test) for run in cheap}
    assert len({(what(run), run.test) for run in chosen}) == min(count, len(pairs))


def test_without_a_budget_nothing_is_left_out() -> None:
    assert within(RUNS, {}, 1, None) == RUNS


def names(runs: list[Run]) -> set[str]:
    return {run.id for run in runs}


@pytest.mark.parametrize("plan", ["pair", "full"])
def test_names_of_runs_stay_when_tests_sites_and_classes_come(plan: str) -> None:
    some = ("refused-503", "webhook-lost", "payout-fails")
    before = runs_of({"two": EVERYTHING}, plan, some)
    later = {**EVERYTHING, "calls": [call("list_rates", "/rates", method="GET"), *EVERYTHING["calls"]]}
    after = runs_of({"one": EVERYTHING, "two": later}, plan)
    assert names(before) < names(after)
    assert len(names(after)) == len(after)


def reads(*causes: str) -> list[Any]:
    """Reads of a transaction, and what each reacts to."""
    return [call("get_transaction", "/transactions/txn_1", method="GET", keyed=False, cause=cause) for cause in causes]


def test_pair_plays_the_first_and_the_last_call_for_each_cause() -> None:
    told = ("transaction.processing", "transaction.completed")
    calls = reads("", *told[:1] * 3, "", *told[1:], "")
    test = {**EVERYTHING, "calls": calls, "deliveries": [], "transactions": []}
    for plan, numbers in (("quick", [1]), ("pair", [1, 2, 4, 6, 7]), ("full", [1, 2, 3, 4, 5, 6, 7])):
        runs = runs_of({"test": test}, plan, ("refused-503",))
        assert [run.site for run in runs] == [f"GET /transactions/{{id}} #{number}" for number in numbers], plan


def test_pair_plays_the_first_and_the_last_delivery_and_order() -> None:
    events = [delivery("transaction.completed") for _ in range(4)]
    test = {**EVERYTHING, "calls": [], "deliveries": events, "transactions": [transaction("onramp")] * 3}
    runs = runs_of({"test": test}, "pair", ("webhook-late", "payment-declined"))
    assert [run.site for run in runs] == [
        "transaction.completed #1", "transaction.completed #4", "onramp #1", "onramp #3",
    ]  # fmt: skip


def explored(*found: tuple[str, str]) -> Explored:
    judged = []
    for fault, verdict in found:
        run = without_fault("test") if fault == "none" else Run(fault, "test", fault, "POST /quotes #1", {})
        judged.append(Judged(run, Verdict(verdict, Decimal(0), Decimal(0), "", "why"), "passed"))
    evidence: dict[str, Any] = {"calls": [], "deliveries": [], "transactions": [], "timeline": []}
    baseline = Baseline(evidence, "", 0.1, limit=15.0)
    return Explored(Settings(("pytest",)), {"test": baseline}, judged, 0)


def test_findings_are_new_known_graver_gone_or_not_looked_at(tmp_path: Path) -> None:
    before = explored(
        ("refused-429", "lost"), ("refused-500", "stuck"), ("refused-503", "doubled"), ("answer-late", "hung"),
        ("webhook-late", "lost"), ("none", "disagrees"), ("webhook-lost", "survived"),
    )  # fmt: skip
    report.write(before, tmp_path)
    known = report.known_findings(tmp_path / "report.json")
    now = explored(
        ("refused-429", "lost"), ("refused-500", "doubled"), ("refused-503", "stuck"), ("answer-late", "survived"),
        ("webhook-lost", "lost"),
    )  # fmt: skip
    compared = report.Compared.of(now, known)
    assert set(compared.new) == {"refused-500", "webhook-lost"}
    assert set(compared.gone) == {"answer-late", without_fault("test").id}
    assert set(compared.unseen) == {"webhook-late"}
    told = report.summary(now, tmp_path, known)
    assert "2 known findings are gone: " in told
    assert "1 known finding is not covered by this plan: webhook-late" in told
    for word in ("(the test passed, known already)", "known as stuck)", "known as doubled)", "(the test passed, new)"):
        assert told.count(word) == 1, word
    report.write(now, tmp_path, known)
    assert '<testsuite name="rampsim explore" tests="5" failures="2" errors="0" skipped="2">' in (
        tmp_path / "junit.xml"
    ).read_text("utf-8")


@pytest.mark.parametrize("text", ["", "[]", '{"findings": ["x"], "runs": []}', '{"findings": []}'])
def test_a_file_that_is_not_a_report_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    path.write_text(text)
    with pytest.raises(report.NoFinding, match="written by `rampsim explore`"):
        report.known_findings(path)
    path.write_text(json.dumps({"findings": [], "runs": []}))
    assert report.known_findings(path) == {}
