"""Each of the ten seeded mistakes of the shop is found by its class, and the careful shop has no finding there."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.tools.exploration.shops.seeded import CASES, HIDDEN, KILLED, explored_case, verdicts
from tests.tools.integrators.shop.seeded import SEEDED

pytestmark = [pytest.mark.farm, pytest.mark.xdist_group("explored-shop")]

README = Path(__file__).parent / "README.md"
FEW = ("order-stored-last", "late-payload-reopens")
"""A crash, and a mistake that the job hides. Killed processes take minutes."""


@pytest.mark.long
@pytest.mark.parametrize("mistake", CASES if os.environ.get("LONG") else FEW)
def test_a_seeded_mistake_is_found_by_its_class(mistake: str, tmp_path: Path) -> None:
    case = CASES[mistake]
    found = explored_case(tmp_path, mistake)
    assert {*verdicts(found)} == {(case.fault, case.verdict)}, found.said
    assert found.code == (0 if case.verdict == HIDDEN else 1)


@pytest.mark.long
@pytest.mark.parametrize("mistake", CASES if os.environ.get("LONG") else FEW)
def test_the_careful_shop_has_no_finding_there(mistake: str, tmp_path: Path) -> None:
    found = explored_case(tmp_path, mistake, careful=True)
    assert (found.code, {*verdicts(found)}) == (0, set()), found.said
    assert found.report["runs"]


def test_every_seeded_mistake_has_its_case_and_its_row() -> None:
    assert [*CASES] == [*SEEDED]
    assert {case.verdict == HIDDEN for case in CASES.values()} == {True, False}
    assert KILLED in {case.fault for case in CASES.values()}
    text = README.read_text("utf-8")
    assert [
        name for name, case in CASES.items() if f"| `{name}` | `{case.fault}` | `{case.verdict}` |" not in text
    ] == []
