"""A few hidden services of each mode. `make evidence` runs many."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.tools.evidence import hidden
from tests.tools.evidence.hidden import one_run, play, read_rows

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


def test_parts_of_a_campaign_add_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    """A part skips what the results file has, and runs again what failed or was cut off."""
    played = []

    def one(mode: str, seed: int) -> tuple[Counter[str], list[str], dict[str, Any]]:
        played.append(seed)
        if played == [0, 1]:
            raise AssertionError("no report")
        return (
            Counter(decided=50 + seed, budget=1),
            ["H1"] * (seed == 2),
            {"calls": 9, "seconds": seed / 2, "assumptions": []},
        )

    monkeypatch.setattr(hidden, "one_run", one)
    results = tmp_path / "results.jsonl"
    play("steered", range(2), results)
    assert "steered 1 failed: AssertionError: no report" in capsys.readouterr().out
    with results.open("a") as file:
        file.write('\n{"mode": "steered", "seed": 2')
    play("steered", range(3), results)
    assert played == [0, 1, 1, 2]
    assert capsys.readouterr().out.splitlines()[-1] == (
        "steered: 3 services; 3 budget, 153 decided, 1 wrong; decided 50 to 52, calls 9 to 9, seconds 0.0 to 1.0"
    )
    assert sorted(seed for _, seed in read_rows(results)) == [0, 1, 2]
