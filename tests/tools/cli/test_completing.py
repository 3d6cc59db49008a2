"""Shell completion: the scripts, and names from the server or from included files."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from click.shell_completion import ShellComplete

from simulator.cli import main
from simulator.cli.tools import completing
from tests.tools.cli.conftest import Command

NOWHERE = {"SIMULATOR_URL": "http://127.0.0.1:1"}


def completed(words: list[str], monkeypatch: pytest.MonkeyPatch, **variables: str) -> list[str]:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    found = ShellComplete(main, {}, "rampsim", "_RAMPSIM_COMPLETE").get_completions(words[:-1], words[-1])
    return [item.value for item in found]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_a_shell_is_one_that_it_reads(rampsim: Command, shell: str, tmp_path: Path) -> None:
    script = rampsim("completion", shell).stdout
    assert "_RAMPSIM_COMPLETE" in script
    if (program := shutil.which(shell)) is not None:
        (tmp_path / "script").write_text(script)
        subprocess.run([program, "-n", str(tmp_path / "script")], check=True)


def test_names_come_from_the_server(rampsim: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(completing, "_SECONDS", 30)  # a busy machine must not decide what is completed
    variables = {"SIMULATOR_URL": rampsim.origin, "SIMULATOR_WORLD": rampsim.world}
    assert rampsim.world in completed(["clock", "--world", "cli-"], monkeypatch, **variables)
    assert completed(["action", "payment_a"], monkeypatch) == ["payment_arrives"]
    assert "set_balance" in completed(["action", ""], monkeypatch)
    (tmp_path / "rain.yaml").write_text("name: rain\n")
    rampsim("scenario", "upload", str(tmp_path / "rain.yaml"))
    assert completed(["scenario", "activate", "rai"], monkeypatch) == ["rain"]
    rampsim("snapshots", "take", "before")
    assert completed(["snapshots", "restore", ""], monkeypatch) == ["before"]


@pytest.mark.parametrize(
    ("words", "names"),
    [
        (["trigger", "transaction.comp"], ["transaction.completed"]),
        (["events", "--type", "transaction.exp"], ["transaction.expired"]),
        (["serve", "--scenario", "autop"], ["autopilot"]),
        (["scenario", "run", "test-v"], ["test-values"]),
        (["action", "payment_a"], ["payment_arrives"]),
        (["faults", "add", "webhook-d"], ["webhook-doubled"]),
        (["worlds", "end", ""], []),
        (["resources", ""], []),
        (["inbox", "clear", ""], []),
        (["snap"], ["snapshots"]),
    ],
)
def test_completion_works_without_a_server(
    words: list[str], names: list[str], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    assert completed(words, monkeypatch, **NOWHERE) == names
    assert capfd.readouterr() == ("", "")


def test_shipped_actions_are_those_of_the_server(rampsim: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    known = {row["name"] for row in rampsim.client.get("/actions")["data"]}
    assert set(completed(["action", ""], monkeypatch, **NOWHERE)) == known


def test_a_settings_file_that_is_wrong_does_not_disturb(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rampsim.toml").write_text("port =")
    assert completed(["events", "--type", "transaction.exp"], monkeypatch, **NOWHERE) == ["transaction.expired"]
    assert capfd.readouterr().err == ""
