"""The second sample application under explore: no finding without a bug, and most planted bugs are found."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.tools.exploration.remittances.found import CASES, LOST, PAID, PAIRS, explored, verdicts
from tests.tools.exploration.remittances.planted import BUGS

pytestmark = [pytest.mark.farm, pytest.mark.xdist_group("explored-remittances")]

LONG = bool(os.environ.get("LONG"))
FOUND = [bug for bug, case in CASES.items() if case.verdict]
FEW = ("removed-when-claimed", "fresh-quote-per-try", "second-payout-when-slow")
"""A crash of a worker, a pair of faults, and a fault that lasts while the job runs."""
SEVERAL = "payroll or similar"
FAULTS = "completed-then-refunded,webhook-lost-for-good,crash-in-call"


@pytest.mark.long
def test_the_correct_application_has_no_findings(tmp_path: Path) -> None:
    words = ("--plan", "quick", *(() if LONG else ("--faults", FAULTS)))
    found = explored(tmp_path, *words, visits="test_" if LONG else f"{PAID} or nobody_pays")
    assert found.code == 0, found.said


@pytest.mark.long
def test_the_correct_application_has_no_findings_under_pairs(tmp_path: Path) -> None:
    found = explored(tmp_path, *PAIRS, *(() if LONG else ("--faults", LOST)), visits=PAID)
    assert found.code == 0, found.said


@pytest.mark.long
@pytest.mark.parametrize("bug", FOUND if LONG else FEW)
def test_a_planted_bug_is_found(bug: str, tmp_path: Path) -> None:
    assert CASES[bug].verdict in {verdict for _, verdict in verdicts(tmp_path, bug)}


def test_reports_are_the_same_bytes_for_any_number_of_workers(tmp_path: Path) -> None:
    """In these tests, the events of several transfers are in the queue at once."""
    reports: set[bytes] = set()
    for workers in ("1", "2", *(("3",) * 8 if LONG else ())):
        words = ("--plan", "quick", "--faults", "refused-429,crash-in-handler,crash-in-call", "--workers", workers)
        found = explored(tmp_path, *words, visits=SEVERAL)
        assert found.code == 0, found.said
        assert [row["test"] for row in found.report["baseline"]["tests"] if not row["steady"]] == []
        reports.add((tmp_path / ".rampsim/explore/report.json").read_bytes())
    assert len(reports) == 1


def test_every_bug_has_its_case_and_most_are_found() -> None:
    assert [*CASES] == [*BUGS]
    assert len(BUGS) == 20
    assert len(FOUND) == 18
