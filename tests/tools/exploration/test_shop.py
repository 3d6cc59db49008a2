"""The sample integrator under explore: the careful shop passes, and every mistake is found by its own fault class."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from simulator.exploration.catalogue import CLASSES
from simulator.exploration.plans import NONE
from tests.tools.exploration.shops.mistakes import CASES, EACH, explored
from tests.tools.integrators.shop.careless import MISTAKES

pytestmark = [pytest.mark.farm, pytest.mark.xdist_group("explored-shop")]

LONG = bool(os.environ.get("LONG"))
SLOW = tuple(name for name, one in CLASSES.items() if one.seconds)
"""Named alone, because beside the others they are planned in one visit only."""


def found_by(classes: tuple[str, ...]) -> list[str]:
    return [mistake for mistake, case in CASES.items() if {*classes} & {*case.found}]


FAMILIES = (
    ("webhook-after-final", "webhook-stale"),
    ("webhook-unknown-type",),
    ("answer-lost-after-commit", "key-forgotten"),
    ("answer-unknown-enum",),
    ("webhook-untrue", "completed-then-refunded", "refund-late", NONE),
)
"""Between them a class for each mistake: each by which of them it is found, under all of that family."""
RUNS = (
    [(tuple(name for name in CLASSES if name not in SLOW), [*CASES]), (SLOW, [*CASES])]
    if LONG
    else [(tuple(name for name in family if name != NONE), found_by(family)) for family in FAMILIES]
)
"""Classes, and the mistakes that are explored under them."""
ONE = ("--workers", "1")
FEW = "answer-lost-after-commit,key-forgotten,webhook-after-final,webhook-untrue,refund-late"


@pytest.mark.long
def test_the_careful_shop_has_no_findings(tmp_path: Path) -> None:
    found = explored(tmp_path, *(("--plan", "full") if LONG else ("--plan", "quick", "--faults", FEW, *ONE)))
    assert found.code == 0, found.said


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, set[tuple[str, str]]]:
    """Classes and verdicts by mistake, of each by itself in its own visit."""
    pairs: dict[str, set[tuple[str, str]]] = {mistake: set() for mistake in CASES}
    for classes, mistakes in RUNS:
        words = ("--plan", "pair", "--faults", ",".join(classes), *(() if LONG else ONE))
        careless = explored(tmp_path_factory.mktemp("careless"), *words, mistakes=EACH + ",".join(mistakes))
        assert careless.code == 1, careless.said
        for row in careless.report["runs"]:
            if row["id"] in careless.report["findings"]:
                pairs[row["test"].rpartition("[")[2].removesuffix("]")].add((row["fault"], row["verdict"]))
    return pairs


@pytest.mark.parametrize("mistake", CASES)
def test_exactly_the_effects_of_a_mistake_are_found(mistake: str, found: Mapping[str, set[tuple[str, str]]]) -> None:
    case = CASES[mistake]
    tried = {name for classes, mistakes in RUNS if mistake in mistakes for name in classes}
    wanted = {
        (fault, verdict)
        for fault, verdicts in case.found.items()
        if fault in (NONE, *tried)
        for verdict in verdicts.split()
    }
    assert found[mistake] == wanted, case.why
    assert wanted


def test_every_mistake_has_its_case() -> None:
    assert [*CASES] == [*MISTAKES]
