"""Tests of the suite itself: its rows, its statistics, its load, and a smoke run of two rows. Measured values are
ignored.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from tests.campaigns.benchmarks import suite
from tests.campaigns.benchmarks.__main__ import main
from tests.campaigns.benchmarks.client import QUOTE, Refused, signed_in
from tests.campaigns.benchmarks.load import Load, run_here, run_times
from tests.campaigns.benchmarks.machine import LOAD_CORE, cpu_seconds, on_core
from tests.campaigns.benchmarks.plan import Plan
from tests.campaigns.benchmarks.plot import picture
from tests.campaigns.benchmarks.results import BEFORE, NOW, TWIN, Results, Sample, as_json, comparison, figure, table
from tests.campaigns.benchmarks.rows import ROWS, SCENES, Row
from tests.campaigns.benchmarks.servers import TWIN as TWIN_SERVER
from tests.campaigns.benchmarks.servers import Server

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="processor time is read as Linux tells it")

RATIO = Row("quick", "something quick", "calls/s", "scene", "twin", 0.6, "more")
PLAIN = Row("small", "something small", "KB", "scene", "value", 8)
FLAT = Row("flat", "something flat", "ms", "scene", "growth", 1.5, sizes="things")


def results_of(*samples: tuple[str, str, float, int]) -> Results:
    return Results([Sample(row, subject, value, 7.0, size) for row, subject, value, size in samples])


def test_every_row_has_a_unique_name_and_a_scene() -> None:
    names = [row.name for row in ROWS]
    assert len(set(names)) == len(names)
    assert set(names).isdisjoint(set(SCENES) - set(names))
    for scene in SCENES:
        assert callable(import_module(f"tests.campaigns.benchmarks.scenes.{scene}").measure)
    for row in ROWS:
        assert row.bound > 0
        assert (row.against == "growth") <= bool(row.sizes), row.name


def test_a_row_is_asked_for_by_its_name_or_by_its_scene() -> None:
    assert [row.name for row in suite.rows_named(["create"])] == ["create"]
    assert {row.name for row in suite.rows_named(["requests"])} == {"create", "read"}
    assert suite.rows_named([]) == list(ROWS)


def test_a_ratio_is_that_of_the_medians_and_is_held_to_the_bound() -> None:
    rounds = [("quick", NOW, value, 0) for value in (10.0, 70.0, 60.0)]
    twins = [("quick", TWIN, value, 0) for value in (100.0, 1.0, 100.0)]
    found = results_of(*rounds, *twins).outcome(RATIO)
    assert found is not None
    assert (found.measured, found.base, found.ratio, found.met) == (60.0, 100.0, 0.6, True)
    lower = results_of(("quick", NOW, 59.0, 0), *twins).outcome(RATIO)
    assert lower is not None
    assert not lower.met


def test_without_a_twin_there_is_no_ratio_and_no_goal_is_met() -> None:
    found = results_of(("quick", NOW, 60.0, 0)).outcome(RATIO)
    assert found is not None
    assert (found.ratio, found.met) == (None, False)


@pytest.mark.parametrize(("value", "met"), [(8.0, True), (8.1, False)])
def test_a_figure_by_itself_is_held_to_the_bound(value: float, met: bool) -> None:
    found = results_of(("small", NOW, value, 0)).outcome(PLAIN)
    assert found is not None
    assert (found.measured, found.ratio, found.met) == (value, None, met)


@pytest.mark.parametrize(("last", "met"), [(3.0, True), (3.1, False)])
def test_growth_is_from_the_smallest_size_to_the_largest(last: float, met: bool) -> None:
    samples = [("flat", NOW, 9.0, 500), ("flat", NOW, last, 1_000), ("flat", NOW, 2.0, 10)]
    found = results_of(*samples).outcome(FLAT)
    assert found is not None
    assert (found.base, found.measured, found.ratio, found.met) == (2.0, last, last / 2, met)


def test_rows_that_were_not_measured_are_left_out() -> None:
    measured = results_of(("small", NOW, 5.0, 0))
    assert measured.outcome(FLAT) is None
    assert "something flat" not in table(measured, [PLAIN, FLAT])


def test_the_table_shows_figures_goal_and_verdict_side_by_side() -> None:
    row = Row("small", "something small", "KB", "scene", "value", 8, bound_by="the width of a word")
    lines = table(results_of(("small", NOW, 12.34, 0)), [row]).splitlines()
    assert len({len(line) for line in lines}) == 1
    cells = [cell.strip() for cell in lines[-1].strip("|").split("|")]
    assert cells == [
        "small", "something small", "–", "–", "12.3", "KB", "at most 8 KB", "NOT MET: the width of a word", "7.0 ms",
    ]  # fmt: skip


def test_two_commits_are_shown_as_the_ratio_of_the_new_figure_to_the_old() -> None:
    small = [("small", NOW, 5.0, 0), ("small", BEFORE, 10.0, 0)]
    quick = [("quick", NOW, 60.0, 0), ("quick", BEFORE, 30.0, 0), ("quick", TWIN, 100.0, 0)]
    lines = comparison(results_of(*small, *quick, ("flat", NOW, 1.0, 1)), [PLAIN, RATIO, FLAT]).splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]
    assert [line[3:6] + line[7:] for line in cells] == [
        ["0.500", "10.0", "5.00", "no", "yes"],
        ["2.00", "0.300 × (30.0)", "0.600 × (60.0)", "no", "yes"],
    ]


@pytest.mark.parametrize(
    ("value", "text"), [(None, "–"), (12_345.6, "12,346"), (45.67, "45.7"), (1.234, "1.23"), (0.01234, "0.012")]
)
def test_a_figure_shows_the_digits_that_count(value: float | None, text: str) -> None:
    assert figure(value) == text


def test_the_results_hold_every_sample_and_every_outcome() -> None:
    found = as_json(results_of(("small", NOW, 5.0, 0)), [PLAIN, FLAT], machine="this one")
    assert json.loads(json.dumps(found)) == found
    assert found["machine"] == "this one"
    assert found["rows"]["small"]["met"] is True
    assert found["samples"] == [{"row": "small", "subject": NOW, "value": 5.0, "calibration_ms": 7.0, "size": 0}]


@pytest.mark.parametrize(
    ("row", "results"),
    [
        (RATIO, results_of(("quick", NOW, 60.0, 0), ("quick", NOW, 61.0, 0), ("quick", TWIN, 100.0, 0))),
        (FLAT, results_of(("flat", NOW, 1.0, 100), ("flat", NOW, 2.0, 100_000), ("flat", BEFORE, 3.0, 100))),
        (FLAT, results_of(("flat", NOW, 0.0, 1))),
    ],
    ids=["bars", "a line", "a single point"],
)
def test_a_picture_is_well_formed_and_shows_the_medians_inside_its_frame(row: Row, results: Results) -> None:
    drawn = ElementTree.fromstring(picture(results, row))
    texts = ["".join(text.itertext()) for text in drawn.iter("{http://www.w3.org/2000/svg}text")]
    assert f"{row.name}: {row.what}" in texts
    for subject in results.subjects(row.name):
        assert subject in texts
        for _, value in results.curve(row.name, subject):
            assert figure(value) in texts
    for circle in drawn.iter("{http://www.w3.org/2000/svg}circle"):
        assert 0 <= float(circle.get("cx", "-1")) <= 640
        assert 0 <= float(circle.get("cy", "-1")) <= 360


@pytest.fixture(scope="module")
def twin() -> Iterator[Server]:
    with TWIN_SERVER.running() as server:
        yield server


def test_the_load_sends_its_request_and_counts_responses(twin: Server) -> None:
    with signed_in(twin) as client:
        quote = client.call("POST", "/v1/quotes", QUOTE)
        assert client.call("GET", f"/v1/quotes/{quote['id']}") == quote
        headers = {name: client.headers[name] for name in ("content-type", "authorization")}
    create = Load(twin.origin, "POST", "/v1/quotes", headers, json.dumps(QUOTE).encode())
    run_times(create, 40, connections=4)
    assert run_here(Load(twin.origin, "GET", f"/v1/quotes/{quote['id']}", headers), 0.05, connections=4) > 0


def test_a_load_with_an_unexpected_response_shows_the_response(twin: Server) -> None:
    nobody = Load(twin.origin, "GET", "/v1/quotes/qt_1")
    with pytest.raises(Refused, match="unauthorized"):
        run_times(nobody, 3, connections=1)
    run_times(Load(twin.origin, "GET", "/v1/quotes/qt_1", refused=True), 3, connections=1)


def test_processor_time_of_a_process_goes_up_with_what_it_does(twin: Server) -> None:
    with signed_in(twin) as client:
        before = cpu_seconds(twin.pid)
        cost = client.cost_ms("POST", "/v1/quotes", QUOTE)
        assert 0 < cost <= (cpu_seconds(twin.pid) - before) * 1000
    assert twin.resident > 1_000_000


@pytest.mark.skipif(LOAD_CORE is None, reason="this system keeps no process on a core")
def test_a_process_pinned_to_a_core_is_released_afterwards() -> None:
    from os import sched_getaffinity

    before = sched_getaffinity(0)
    with on_core(LOAD_CORE):
        assert sched_getaffinity(0) == {LOAD_CORE}
    assert sched_getaffinity(0) == before


def test_a_failed_scene_is_reported_and_the_others_continue(monkeypatch: pytest.MonkeyPatch) -> None:
    def play(scene: str, *_: Any) -> Iterator[Sample]:
        yield Sample("start" if scene == "start" else "world", NOW, 1.0, 7.0)
        if scene == "start":
            raise Refused("no quote")

    monkeypatch.setattr(suite, "play", play)
    said: list[str] = []
    results = suite.run(suite.rows_named(["start", "world"]), Plan(), say=said.append)
    assert results.failed == ["start"]
    assert [sample.row for sample in results.samples] == ["start", "world"]
    assert any("no quote" in text for text in said)


def test_the_smoke_of_a_row_measures_it_and_writes_its_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(
        sys, "argv", ["benchmarks", "--quick", "--only", "world", "--only", "reset", "--output", str(tmp_path)]
    )
    assert main() == 0
    assert "new world over HTTP" in capsys.readouterr().out
    assert sorted(path.name for path in tmp_path.iterdir()) == ["reset.svg", "results.json", "table.md", "world.svg"]
    found = json.loads((tmp_path / "results.json").read_text())
    assert set(found["rows"]) == {"world", "reset"}
    assert all(sample["value"] > 0 and sample["calibration_ms"] > 0 for sample in found["samples"])
