"""The README keeps its word: every command and program in it is run, in order, against a real server.

Fenced `bash` and `python` blocks are run; a block marked `<!-- not run -->` is not. A `text` block shows exactly
what the block before it prints. The port of the README is replaced by that of the server.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from click import Group

from simulator.cli import main
from simulator.wire.settings import Settings

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text("utf-8")
ORIGIN = "http://127.0.0.1:8642"
_FENCE = re.compile(r"(?P<mark><!-- not run -->\n)?^```(?P<language>\w+)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
_END = "=== end of block ==="


@dataclass
class Block:
    """A fenced block of the README, and what it is to print where that is shown."""

    language: str
    text: str
    is_run: bool
    prints: str | None = None


def blocks() -> list[Block]:
    found: list[Block] = []
    for match in _FENCE.finditer(README):
        if match["language"] == "text":
            found[-1].prints = match["text"]
        else:
            found.append(Block(match["language"], match["text"], match["mark"] is None))
    return found


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """Without settings of the surroundings; `rampsim` and `python3` are those of this environment."""
    shims = tmp_path / "bin"
    shims.mkdir()
    for name, words in (("rampsim", "-m simulator"), ("python3", "")):
        (shims / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {words} "$@"\n')
        (shims / name).chmod(0o755)
    clean = {name: value for name, value in os.environ.items() if not name.startswith("SIMULATOR_")}
    return {**clean, "PATH": f"{shims}:{clean['PATH']}", "no_proxy": "127.0.0.1"}


@pytest.fixture
def origin(environment: dict[str, str]) -> Iterator[str]:
    """The address of a server as `make run` starts it, but on a free port."""
    words = [sys.executable, "-m", "simulator", "serve", "--port", "0"]
    with subprocess.Popen(words, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        lines = (line.rstrip() for line in server.stdout)
        yield next(line.removeprefix("Ready on ") for line in lines if line.startswith("Ready on "))
        server.kill()


@pytest.mark.skipif(not (shutil.which("curl") and shutil.which("bash")), reason="the walk needs curl and bash")
def test_every_command_does_what_the_readme_says(origin: str, environment: dict[str, str]) -> None:
    run = [block for block in blocks() if block.is_run]
    script = ["set -eo pipefail"]
    for block in run:
        text = block.text.replace(ORIGIN, origin)
        script += [f"python3 - <<'PROGRAM'\n{text}PROGRAM" if block.language == "python" else text, f"echo '\n{_END}'"]
    done = subprocess.run(
        ["bash", "-c", "\n".join(script)],
        cwd=ROOT,
        env={**environment, "SIMULATOR_URL": origin},
        capture_output=True,
        text=True,
        timeout=120,
    )
    printed = done.stdout.split(_END)
    assert done.returncode == 0, f"after {len(printed) - 1} blocks: {done.stdout[-2000:]}\n{done.stderr[-2000:]}"
    assert len(printed) == len(run) + 1
    for block, output in zip(run, printed, strict=False):
        assert '{"error":' not in output, block.text
        if block.prints is not None:
            assert output.strip() == block.prints.strip(), block.text


def test_the_readme_has_blocks_of_every_sort() -> None:
    languages = {(block.language, block.is_run) for block in blocks()}
    assert languages == {("bash", True), ("bash", False), ("python", True)}
    assert sum(block.prints is not None for block in blocks()) >= 5


def test_every_flag_of_serve_is_in_the_table_with_its_variable_and_default() -> None:
    assert isinstance(main, Group)
    for option in main.commands["serve"].params:
        flag = option.opts[0]
        row = next((line for line in README.splitlines() if line.startswith(f"| `{flag}` ")), "")
        assert f"`{option.envvar}`" in row, flag
        if isinstance(option.default, str):
            assert f"`{option.default}`" in row, flag
    flags = {option.name for option in main.commands["serve"].params}
    assert set(Settings.model_fields) <= flags


def test_every_link_to_a_file_leads_somewhere() -> None:
    targets = re.findall(r"\]\(([^)#:]+)\)", README)
    assert targets
    assert [target for target in targets if not (ROOT / target).exists()] == []


def test_it_says_in_bold_what_it_does_not_do() -> None:
    assert "**It moves no funds.**" in README
