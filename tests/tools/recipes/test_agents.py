"""The files for coding agents: what they name is there, and the test that they show passes."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from simulator import live_keys
from simulator.cli import COMMANDS, main

FOLDER = Path(__file__).parents[3] / "simulator" / "docs" / "recipes" / "agents"
TEXT = (FOLDER / "AGENTS.md").read_text("utf-8")


def _blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)


@pytest.mark.slow
def test_the_test_that_it_shows_passes(tmp_path: Path) -> None:
    (tmp_path / "test_shown.py").write_text(_blocks("python")[0], "utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--simulator=inprocess", str(tmp_path)]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "1 passed" in ended.stdout


def test_every_command_and_option_that_it_names_is_there() -> None:
    lines = [line.partition("#")[0] for block in _blocks("bash") for line in block.splitlines()]
    named = [shlex.split(line) for line in lines if line.startswith("rampsim ")]
    assert {words[1] for words in named} == {"serve", "wait", "certify", "explore"}
    for words in named:
        command = COMMANDS[words[1]]()
        known = {option for one in command.params if isinstance(one, click.Option) for option in one.opts}
        own = words[2 : words.index("--")] if "--" in words else words[2:]
        assert {word for word in own if word.startswith("--")} <= known


def test_no_key_in_it_is_real() -> None:
    live_keys.refuse_in(TEXT.replace("_live_…", ""), "AGENTS.md")


def test_the_configuration_begins_the_server_of_tools() -> None:
    begun = json.loads((FOLDER / "mcp.json").read_text("utf-8"))["mcpServers"]["rampsim"]
    assert begun == {"command": "rampsim", "args": ["mcp"]}


def test_it_is_written_into_a_repository(tmp_path: Path) -> None:
    ended = CliRunner().invoke(main, ["recipe", "write", "agents", "--to", str(tmp_path)])
    assert ended.exit_code == 0, ended.output
    assert (tmp_path / "AGENTS.md").read_text("utf-8") == TEXT
    assert (tmp_path / ".mcp.json").is_file()
