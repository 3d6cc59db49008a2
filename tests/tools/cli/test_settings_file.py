"""The settings file: its location, its content, and the order of precedence."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from simulator.cli import main
from simulator.cli.server import settings_file
from simulator.cli.server.settings import CLIENT, SERVE
from tests.tools.cli.conftest import Command


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The root of a repository, two directories above the working directory."""
    (tmp_path / ".git").mkdir()
    below = tmp_path / "tests" / "payments"
    below.mkdir(parents=True)
    monkeypatch.chdir(below)
    return tmp_path


def serve(*words: str, **variables: str) -> Result:
    return CliRunner().invoke(main, ["serve", *words], env=variables)


def test_every_wrong_name_and_value_is_named_at_once_with_its_line(project: Path) -> None:
    (project / "rampsim.toml").write_text(
        'port = 9000\nrate_limit = "5/10"\nstrict = "yes"\nscenario = 7\n\n[tokens]\nend-with-stdin = true\n'
    )
    result = serve()
    assert result.exit_code == 2
    lines = [line.removeprefix(f"rampsim: {project}/") for line in result.stderr.splitlines()]
    assert lines[:3] == [
        "rampsim.toml:2: unknown setting 'rate_limit'; did you mean 'rate-limit'?",
        "rampsim.toml:3: strict: 'yes' is not true or false",
        'rampsim.toml:4: scenario: 7 is not a list like ["one", "two"]',
    ]
    assert lines[3:] == [
        "rampsim.toml:6: unknown table [tokens]: settings are keys of the file itself, such as `port = 9000`"
    ]


def test_serve_names_the_source_of_each_wrong_setting(
    project: Path,
) -> None:
    (project / "rampsim.toml").write_text('# ours\nclock = "broken"\nnow = "yesterday"\nseed = -1\n')
    result = serve("--now", "tomorrow", SIMULATOR_RATE="fast")
    assert (result.exit_code, result.stderr.splitlines()) == (
        2,
        [
            f"rampsim: {project}/rampsim.toml:2: clock: 'broken' is not one of real, manual, scaled",
            f"rampsim: {project}/rampsim.toml:4: seed: '-1' is not a whole number from 0 to 9223372036854775807",
            "rampsim: SIMULATOR_RATE: 'fast' is not a number from 0.001 to 1000000",
            "rampsim: --now: 'tomorrow' is not a timestamp like 2026-01-05T08:00:00Z",
        ],
    )


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("port = \n", "rampsim.toml:1:8: the file is not valid TOML: Invalid value"),
        ("\ufeffport = 0\nport = 1\n", ":2:"),
    ],
)
def test_invalid_toml_is_reported_with_line_and_column(project: Path, text: str, told: str) -> None:
    (project / "rampsim.toml").write_text(text)
    result = serve()
    assert (result.exit_code, told in result.stderr) == (2, True), result.stderr


def test_the_nearest_file_counts_and_none_above_the_root_of_the_repository(project: Path) -> None:
    (project / "tests/rampsim.toml").write_text("port = 1\n")
    (project / "rampsim.toml").write_text("port = 2\n")
    assert settings_file.read(None).path == project / "tests/rampsim.toml"
    (project / "tests/.git").write_text("gitdir: elsewhere\n")
    (project / "tests/rampsim.toml").unlink()
    assert settings_file.read(None) == settings_file.NOTHING


def test_it_is_a_table_of_pyproject_toml_too(project: Path) -> None:
    (project / "pyproject.toml").write_text('[project]\nname = "rampsim-shop"\nport = 1\n')
    assert settings_file.read(None).path is None, "another table is none of ours"
    (project / "pyproject.toml").write_text("[project]\nport = 1\n\n[tool.rampsim]\nport = 2\nseeds = 1\n")
    with pytest.raises(settings_file.WrongSettings, match=r"pyproject.toml:6: unknown setting 'seeds'.*'seed'"):
        settings_file.read(None)
    (project / "rampsim.toml").write_text("port = 3\n")
    assert settings_file.read(None).values == {"port": "3"}, "a file of its own goes before the table"


@pytest.mark.parametrize("text", ["tool = 1 # tool.rampsim\n", '[tool]\nrampsim = "x" # tool.rampsim\n'])
def test_settings_file_needs_a_table(project: Path, text: str) -> None:
    (project / "pyproject.toml").write_text(text)
    with pytest.raises(settings_file.WrongSettings, match="must be a table"):
        settings_file.read(None)


def test_a_key_of_the_real_service_is_refused_with_its_place(project: Path) -> None:
    (project / "rampsim.toml").write_text('seed = 1\ncontrol-token = "sk_live_4eC39HqLyjWDarjtT1zdp7dc"\n')
    with pytest.raises(settings_file.WrongSettings) as caught:
        settings_file.read(None)
    (problem,) = caught.value.problems
    assert problem.startswith(f"{project}/rampsim.toml:2: control-token has the live key sk_live_4eC3…")
    (project / "rampsim.toml").write_text('control-token = "sk_live_simulator"\n')
    assert settings_file.read(None).values == {"control_token": "sk_live_simulator"}


def test_paths_are_relative_to_the_settings_file(project: Path) -> None:
    (project / "rain.yaml").write_text("name: rain\n")
    (project / "rampsim.toml").write_text(
        'scenario = ["autopilot", "rain.yaml"]\nstore = "sqlite:///worlds.db"\nstate = "kept/world.json"\n'
    )
    assert settings_file.read(None).values == {
        "scenario": ["autopilot", f"{project}/rain.yaml"],
        "store": f"sqlite:///{project}/worlds.db",
        "state": f"{project}/kept/world.json",
    }
    (project / "rampsim.toml").write_text('store = "sqlite:////var/worlds.db"\n')
    assert settings_file.read(None).values == {"store": "sqlite:////var/worlds.db"}


def test_flags_go_before_variables_before_the_file_before_the_default(project: Path, rampsim: Command) -> None:
    (project / "rampsim.toml").write_text('url = "http://127.0.0.1:1"\nworld = "nowhere"\n')
    silent = {"SIMULATOR_URL": "", "SIMULATOR_WORLD": ""}
    refused = rampsim("clock", **silent)
    assert (refused.exit_code, "127.0.0.1:1" in refused.stderr, "rampsim.toml:1" in refused.stderr) == (
        3, True, True,
    )  # fmt: skip
    assert "'nowhere'" in rampsim("clock", SIMULATOR_WORLD="").stderr
    assert rampsim("clock").exit_code == 0
    assert rampsim("clock", "--url", "http://127.0.0.1:2").exit_code == 3
    assert rampsim("clock", "--config", "none", "--url", rampsim.origin, **silent).exit_code == 0
    assert rampsim("clock", "--url", rampsim.origin, **silent, SIMULATOR_CONFIG="none").exit_code == 0


def test_a_file_may_be_named_and_has_to_be_there(project: Path, rampsim: Command) -> None:
    (project / "other.toml").write_text('world = "nowhere"\n')
    variables = {"SIMULATOR_WORLD": "", "SIMULATOR_CONFIG": "../../other.toml"}
    for words in (["clock", "advance", "1m"], ["clock"]):
        assert "'nowhere'" in rampsim(*words, **variables).stderr
    named = ["clock", "--config", "../../other.toml", "advance", "1m"]
    assert "'nowhere'" in rampsim(*named, SIMULATOR_WORLD="").stderr, "before the sub-command, too"
    missing = rampsim("clock", "--config", "absent.toml")
    assert (missing.exit_code, missing.stderr) == (
        2, "rampsim: --config: cannot read absent.toml: No such file or directory\n",
    )  # fmt: skip


def test_a_server_of_another_program_obeys_no_file_that_happens_to_lie_there(project: Path) -> None:
    (project / "rampsim.toml").write_text("nonsense = 1\n")
    assert "nonsense" in serve("--port", "no").stderr
    assert serve("--end-with-stdin", "--port", "no").stderr == (
        "rampsim: --port: 'no' is not a whole number from 0 to 65535\n"
    )


def test_names_of_settings_are_not_given_twice() -> None:
    keys = [row.key for row in SERVE]
    assert len(keys) == len(set(keys))
    assert {row.key for row in CLIENT} & set(keys) == {"control-token"}
