"""Ways to use observed files besides HTTP: command line, settings file, variable, pytest, explore."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from simulator.cli import main
from simulator.exploration.flipping import flips, observed
from simulator.exploration.runs.running import StopExploring
from tests.tools.cli.test_serve import process, world_of
from tests.tools.testing.suites import Suite

FILE = """\
version: 1
target: {name: acme-sandbox, environment: sandbox}
observed_at: "DATE"
assumptions:
  H14: {verdict: differs, alternative: lapses_after_1h}
  S9: {verdict: holds}
"""

SUITE = """
    import pytest

    def test_option(world):
        assert world.info["settings"]["assumptions"] == {"H14": "lapses_after_1h"}
        assert world.info["observed"][0]["observed_at"] == "2026-11-23"

    def test_world_of_the_server(simulator):
        with simulator.new_world() as world:
            assert world.info["settings"]["assumptions"] == {"H14": "lapses_after_1h"}

    @pytest.mark.world(observed="other.yaml")
    def test_marker_with_a_path(world):
        assert world.info["settings"]["assumptions"] == {"H14": "lapses_after_7d"}

    @pytest.mark.world(observed={"version": 1, "observed_at": "2026-11-01", "assumptions": {}})
    def test_marker_with_a_document(world):
        assert world.info["settings"]["assumptions"] == {}
"""


def written(path: Path, date: str = "2026-11-23", alternative: str = "lapses_after_1h") -> Path:
    path.write_text(FILE.replace("DATE", date).replace("lapses_after_1h", alternative))
    return path


def serve(*words: str, **variables: str) -> Result:
    return CliRunner().invoke(main, ["serve", "--config", "none", *words], env=variables)


def test_serve_refuses_an_invalid_file_and_names_the_place(tmp_path: Path) -> None:
    path = written(tmp_path / "a.yaml", alternative="lapses_never")
    done = serve("--observed", str(path))
    assert done.exit_code == 2
    assert f"{path}: assumptions.H14.alternative" in done.output


def test_serve_refuses_two_files_that_disagree(tmp_path: Path) -> None:
    one, other = written(tmp_path / "a.yaml"), written(tmp_path / "b.yaml", alternative="lapses_after_7d")
    done = serve(SIMULATOR_OBSERVED=f"{one} {other}")
    assert done.exit_code == 2
    assert f"{one} and {other} disagree on H14" in done.output


def test_serve_warns_of_an_old_file_in_the_settings_file(tmp_path: Path) -> None:
    written(tmp_path / "old.yaml", date="2026-01-02")
    settings = tmp_path / "rampsim.toml"
    settings.write_text('observed = ["old.yaml"]\n')
    with process("--config", str(settings), "--port", "0", "--assume", "H1=creating_answers_200") as (_, lines):
        world = world_of(lines)
    assert world["settings"]["assumptions"] == {"H14": "lapses_after_1h", "H1": "creating_answers_200"}


def test_assume_takes_precedence_over_the_file(tmp_path: Path) -> None:
    path = written(tmp_path / "a.yaml")
    with process("--port", "0", "--assume", "H14=lapses_after_7d", SIMULATOR_OBSERVED=str(path)) as (_, lines):
        assert world_of(lines)["settings"]["assumptions"] == {"H14": "lapses_after_7d"}


@pytest.mark.parametrize("simulator", ["process", "inprocess"])
def test_pytest_bases_worlds_on_the_file(tmp_path: Path, simulator: str) -> None:
    suite = Suite(tmp_path)
    suite.write("test_it.py", SUITE)
    written(suite.directory / "observed.yaml")
    written(suite.directory / "other.yaml", alternative="lapses_after_7d")
    outcome = suite.run_here("--simulator-observed", str(suite.directory / "observed.yaml"), "--simulator", simulator)
    assert set(outcome.tests.values()) == {"passed"}, outcome.text


BOTH = """
    def test_both(world):
        assert world.info["settings"]["assumptions"] == {"H14": "lapses_after_1h", "H1": "creating_answers_200"}
"""


def two_files(folder: Path) -> list[Path]:
    """Write two files that decide different assumptions. Their names contain blanks."""
    other = written(folder / "file two.yaml", alternative="creating_answers_200")
    other.write_text(other.read_text().replace("H14", "H1"))
    return [written(folder / "file one.yaml"), other]


def test_pytest_option_is_repeatable_and_accepts_blanks(tmp_path: Path) -> None:
    suite = Suite(tmp_path)
    suite.write("test_it.py", BOTH)
    flags = [word for path in two_files(tmp_path) for word in ("--simulator-observed", str(path))]
    outcome = suite.run_here(*flags, "--simulator", "inprocess")
    assert set(outcome.tests.values()) == {"passed"}, outcome.text


def test_pytest_setting_is_a_list_of_files(tmp_path: Path) -> None:
    suite = Suite(tmp_path)
    suite.write("test_it.py", BOTH)
    two_files(suite.directory)
    outcome = suite.run_here("-o", "simulator_observed='file one.yaml' 'file two.yaml'", "--simulator", "inprocess")
    assert set(outcome.tests.values()) == {"passed"}, outcome.text


def test_pytest_refuses_two_files_that_disagree(tmp_path: Path) -> None:
    suite = Suite(tmp_path)
    suite.write("test_it.py", "def test_it(): ...\n")
    one, other = written(tmp_path / "a.yaml"), written(tmp_path / "b.yaml", alternative="lapses_after_7d")
    outcome = suite.run_here("--simulator-observed", str(one), "--simulator-observed", str(other))
    assert outcome.code == pytest.ExitCode.USAGE_ERROR
    assert f"{one} and {other} disagree on H14" in outcome.text


def test_pytest_refuses_an_invalid_file(tmp_path: Path) -> None:
    suite = Suite(tmp_path)
    suite.write("test_it.py", "def test_it(): ...\n")
    written(suite.directory / "observed.yaml", alternative="lapses_never")
    outcome = suite.run_here("-o", "simulator_observed=observed.yaml")
    assert outcome.code == pytest.ExitCode.USAGE_ERROR
    assert "assumptions.H14.alternative" in outcome.text


def test_explore_does_not_ask_about_observed_assumptions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path / "a.yaml")
    monkeypatch.setenv("SIMULATOR_OBSERVED", str(path))
    assert {"H14", "S9"} & {flip.id for flip in flips()} == {"H14", "S9"}
    assert {"H14", "S9"} & {flip.id for flip in flips(observed())} == set()
    path.write_text("version: 7\n")
    with pytest.raises(StopExploring, match="version: 7 is newer"):
        observed()
