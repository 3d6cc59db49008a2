"""A few hidden services of each mode. `make evidence` runs many."""

from __future__ import annotations

import os

import pytest

from tests.tools.evidence.hidden import one_run

pytestmark = pytest.mark.xdist_group("evidence")
LEAST = {"steered": 50, "none": 15, "other": 10, "waiting": 28, "listening": 28}
"""The assumptions that a mode decides at least."""


@pytest.mark.parametrize(("mode", "seed"), [("steered", 1), ("none", 1), ("other", 2)])
def test_hidden_service_is_never_judged_wrongly(mode: str, seed: int) -> None:
    counts, wrong, report = one_run(mode, seed)
    assert wrong == []
    assert counts["decided"] >= LEAST[mode]
    assert report["calls"] <= 400


@pytest.mark.long
@pytest.mark.skipif(not os.environ.get("LONG"), reason="it takes minutes: `make long` runs it")
@pytest.mark.parametrize(
    ("mode", "seed"),
    [(mode, seed) for mode in ("steered", "none", "other") for seed in (3, 4, 5)] + [("waiting", 1), ("listening", 0)],
)
def test_hidden_services_of_the_farm(mode: str, seed: int) -> None:
    test_hidden_service_is_never_judged_wrongly(mode, seed)
