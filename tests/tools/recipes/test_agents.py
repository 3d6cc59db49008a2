"""The files for coding agents: the names in them exist, and the test that they show passes."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import click
from click.testing import CliRunner

from simulator.cli import COMMANDS, main
from simulator.service import LIVE_KEYS
from tests.places import ROOT
from tests.tools.testing.suites import Suite

FOLDER = ROOT / "simulator" / "docs" / "recipes" / "agents"
TEXT = (FOLDER / "AGENTS.md").read_text("utf-8")


def _blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)


def test_the_test_that_it_shows_passes(tmp_path: Path) -> None:
    suite = Suite(tmp_path)
    (suite.directory / "test_shown.py").write_text(_blocks("python")[0], "utf-8")
    outcome = suite.run_here("--simulator=inprocess")
    assert outcome.code == 0, outcome.text
    assert list(outcome.tests.values()) == ["passed"]


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
    LIVE_KEYS.check(TEXT.replace("_live_…", ""), "AGENTS.md")


def test_the_configuration_begins_the_server_of_tools() -> None:
    begun = json.loads((FOLDER / "mcp.json").read_text("utf-8"))["mcpServers"]["rampsim"]
    assert begun == {"command": "rampsim", "args": ["mcp"]}


def test_it_is_written_into_a_repository(tmp_path: Path) -> None:
    ended = CliRunner().invoke(main, ["recipe", "write", "agents", "--to", str(tmp_path)])
    assert ended.exit_code == 0, ended.output
    assert (tmp_path / "AGENTS.md").read_text("utf-8") == TEXT
    assert (tmp_path / ".mcp.json").is_file()
