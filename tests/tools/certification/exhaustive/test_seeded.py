"""Each of the five seeded mistakes is found after three deliveries, and no finding needs fewer."""

from __future__ import annotations

import pytest

from simulator.certification.exhaustive.bounds import LOST, SETTLE
from tests.places import ROOT
from tests.tools.certification.exhaustive.conftest import Search
from tests.tools.certification.exhaustive.seeded import SEEDED
from tests.tools.certification.exhaustive.shortcuts import HANDLERS


@pytest.mark.farm  # 5 seconds each
@pytest.mark.parametrize("mistake", SEEDED)
def test_a_mistake_needs_three_deliveries(mistake: str, search: Search, monkeypatch: pytest.MonkeyPatch) -> None:
    handler, flow, verdict = SEEDED[mistake]
    monkeypatch.setitem(HANDLERS, mistake, handler)
    result = search(mistake, flow, copies=2, depth=3).result
    traces = {one.verdict: result.trace(one.path, one.verdict) for one in result.findings}
    assert len(deliveries(traces[verdict])) == 3, traces
    assert {len(deliveries(trace)) for trace in traces.values()} == {3}, traces


def deliveries(trace: list[str]) -> list[str]:
    return [move for move in trace if not move.startswith((LOST, SETTLE))]


def test_every_mistake_has_its_row() -> None:
    text = (ROOT / "tests/tools/exploration/README.md").read_text("utf-8")
    assert [name for name, (_, _, verdict) in SEEDED.items() if f"| `{name}` | `{verdict}` |" not in text] == []
