"""`rampsim scenario`: validate, list, run, new."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner, Result

from simulator.cli import main

WRONG = """\
name: rain
rules:
  - on: transaction.awaiting_deposit
    do:
      - {after: 20s, action: deposit_arrive}
      - {after: soon, action: complete}
"""
FAILS = """\
name: {name}
drive:
  - get: /profile
expect:
  - event: transaction.completed
"""


def scenario(*words: str | Path) -> Result:
    return CliRunner().invoke(main, ["scenario", *map(str, words)])


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_every_problem_of_every_file_is_printed_with_its_place(here: Path) -> None:
    Path("rain.yaml").write_text(WRONG)
    Path("good.yaml").write_text("name: good\n")
    result = scenario("validate", "rain.yaml", "good.yaml", "gone.yaml")
    assert result.exit_code == 1
    lines = result.stdout.splitlines()
    assert [line.partition(": ")[0] for line in lines] == ["rain.yaml:5:30", "rain.yaml:6:17", "gone.yaml:1:1"]
    assert "did you mean `deposit_arrives`?" in lines[0]
    assert "cannot read the file: No such file or directory" in lines[2]
    assert result.stderr == "rampsim: 3 problems found\n"


def test_valid_files_may_hand_over_to_each_other_and_to_shipped_ones(here: Path) -> None:
    step = "rules: [{on: quote.expired, do: [{scenario: OTHER}]}]\n"
    Path("one.yaml").write_text("name: one\n" + step.replace("OTHER", "two"))
    Path("two.yaml").write_text("name: two\n" + step.replace("OTHER", "autopilot"))
    result = scenario("validate", "one.yaml", "two.yaml")
    assert (result.exit_code, result.stdout) == (0, "2 files are valid\n")
    alone = scenario("validate", "one.yaml")
    assert (alone.exit_code, "unknown scenario `two`" in alone.stdout) == (1, True)
    assert alone.stderr == "rampsim: 1 problem found\n"


def test_validate_warns_about_probable_mistakes(here: Path) -> None:
    Path("a.yaml").write_text("name: a\nrules:\n  - {on: transaction.failed, where: {type: onrmp}, do: []}\n")
    result = scenario("validate", "a.yaml")
    assert result.exit_code == 0
    assert result.stdout == (
        "a.yaml:3:44: warning: rules[0].where.type: `type` is never `onrmp`; did you mean `onramp`?\n"
        "1 file is valid; 1 warning (--strict counts them as problems)\n"
    )
    result = scenario("validate", "--strict", "a.yaml")
    assert result.exit_code == 1
    assert result.stdout == ("a.yaml:3:44: rules[0].where.type: `type` is never `onrmp`; did you mean `onramp`?\n")
    assert result.stderr == "rampsim: 1 problem found\n"


def test_validate_prints_errors_and_warnings(here: Path) -> None:
    Path("a.yaml").write_text(
        "name: a\nrules:\n  - {on: transaction.failed, where: {type: onrmp}, do: [{action: complte}]}\n"
    )
    lines = scenario("validate", "a.yaml").stdout.splitlines()
    assert [line.partition(": ")[0] for line in lines] == ["a.yaml:3:44", "a.yaml:3:66"]


def test_shipped_scenarios_are_listed() -> None:
    assert "autopilot" in scenario("list").stdout


def test_a_new_scenario_is_valid_and_runs(here: Path) -> None:
    written = scenario("new", "my-first")
    assert (written.exit_code, "Wrote my-first.yaml" in written.stdout) == (0, True)
    assert scenario("validate", "my-first.yaml").stdout == "1 file is valid\n"
    result = scenario("run", "my-first.yaml")
    assert result.exit_code == 0
    assert "event    transaction.refunded" in result.stdout
    assert result.stdout.endswith("Passed: my-first\n")


def test_a_new_scenario_overwrites_nothing_unasked(here: Path) -> None:
    Path("kept.yaml").write_text("name: kept\n")
    result = scenario("new", "kept.yaml")
    assert (result.exit_code, "exists; choose another name" in result.stderr) == (2, True)
    assert Path("kept.yaml").read_text() == "name: kept\n"
    assert scenario("new", "kept", "--force").exit_code == 0
    assert Path("kept.yaml").read_text().startswith("name: kept\ndescription: ")
    assert "cannot write" in scenario("new", "nowhere/kept").stderr


def test_a_failed_expectation_exits_1_and_is_reported(here: Path) -> None:
    Path("never.yaml").write_text(FAILS.format(name="never"))
    result = scenario("run", "never.yaml", "deposit-arrives", "--junit", "report.xml")
    assert result.exit_code == 1
    assert "transaction.completed was never emitted" in result.stdout
    assert result.stderr == "rampsim: failed: never\n"
    suites = ElementTree.parse("report.xml").getroot()
    assert [(suite.get("name"), suite.get("failures")) for suite in suites] == [
        ("never", "1"),
        ("deposit-arrives", "0"),
    ]


def test_unwritable_report_is_an_error(here: Path) -> None:
    result = scenario("run", "deposit-arrives", "--junit", "nowhere/report.xml")
    assert (result.exit_code, "cannot write nowhere/report.xml" in result.stderr) == (2, True)


def test_run_refuses_an_unknown_scenario(here: Path) -> None:
    result = scenario("run", "sunshine")
    assert result.exit_code == 2
    assert "'sunshine' is neither a file nor a built-in scenario; `rampsim scenario list`" in result.stderr
    near = scenario("run", "deposit-arives")
    assert "did you mean 'deposit-arrives'" in near.stderr


def test_a_file_with_errors_is_not_run(here: Path) -> None:
    Path("rain.yaml").write_text(WRONG)
    result = scenario("run", "rain.yaml")
    assert (result.exit_code, "rain.yaml:5:30" in result.stderr) == (1, True)


def test_a_scenario_runs_on_a_server_that_is_there(here: Path, origin: str, guarded: str) -> None:
    assert scenario("run", "deposit-arrives", "--url", origin).exit_code == 0
    assert scenario("run", "deposit-arrives", "--url", guarded, "--control-token", "sesame").exit_code == 0
    assert scenario("run", "deposit-arrives", "--url", guarded).exit_code == 1


def test_a_server_that_is_not_there_is_code_3() -> None:
    result = scenario("run", "deposit-arrives", "--url", "http://127.0.0.1:1")
    assert (result.exit_code, result.stderr) == (3, "rampsim: no simulator responds at http://127.0.0.1:1\n")


@pytest.mark.parametrize("name", ["bad name", "", "-x", "ümlaut"])
def test_a_new_scenario_needs_a_name_that_is_valid(here: Path, name: str) -> None:
    result = scenario("new", "--", name)
    assert (result.exit_code, "is not a valid scenario name" in result.stderr) == (2, True)
    assert list(Path().iterdir()) == []
