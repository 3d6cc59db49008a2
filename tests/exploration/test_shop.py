"""The sample integrator under explore: the careful shop passes, and every mistake is found by its own class."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.exploration.suite import PYTEST, ROOT, Explored, explore

pytestmark = pytest.mark.slow

SHOPS = ROOT / "tests/exploration/shops"

FOUND = {
    "fresh-quote-when-refused": ("key-forgotten", "doubled"),
    "timeout-is-failure": ("answer-lost-after-commit", "lost"),
    "early-event-is-gone": ("answer-lost-after-commit", "lost"),
    "late-event-downgrades": ("webhook-after-final", "lost"),
    "dedups-by-event-id-only": ("webhook-after-final", "doubled"),
    "verifier-without-clock": ("webhook-stale", "forged-accepted"),
    "signature-not-checked": ("webhook-forged", "forged-accepted"),
    "refund-ignored": ("completed-then-refunded", "disagrees"),
    "retries-with-new-key": ("answer-lost-after-commit", "doubled"),
    "unknown-status-is-failure": ("answer-unknown-enum", "lost"),
    "float-money": ("none", "lost"),
    "wrong-network-spelling": ("none", "lost"),
    "amount-before-fees": ("none", "disagrees"),
    "stops-polling-early": ("none", "lost"),
    "processing-is-done": ("refund-late", "disagrees"),
    "trusts-the-payload": ("webhook-untrue", "disagrees"),
}
"""Each mistake, and the class of faults and the verdict by which it is found; `none` is without any fault."""


def explored(directory: Path, *words: str, mistake: str = "") -> Explored:
    command = (*PYTEST, "--rootdir", str(ROOT), "-o", "python_files=visits.py", str(SHOPS))
    return explore(
        directory,
        *words,
        command=command,
        environment={"SHOP_MISTAKES": mistake},
    )


@pytest.mark.long
def test_the_careful_shop_has_no_findings(tmp_path: Path) -> None:
    short = ("--plan", "quick", "--faults", "answer-lost-after-commit,key-forgotten,webhook-after-final,payout-fails")
    found = explored(tmp_path, *(("--plan", "full") if os.environ.get("LONG") else short))
    assert found.code == 0, found.said


@pytest.mark.parametrize("mistake", FOUND)
def test_a_mistake_is_found(mistake: str, tmp_path: Path) -> None:
    fault, verdict = FOUND[mistake]
    found = explored(
        tmp_path, "--plan", "quick", "--faults", "refused-503" if fault == "none" else fault, mistake=mistake
    )
    assert found.code == 1, found.said
    assert (fault, verdict) in found.findings
    assert {name for name, _ in found.findings} == {fault}
