"""Runs, parses or skips the fenced blocks of a documentation page, so that pages cannot contain wrong examples.

- The `bash` and `python` blocks of a page are run in order in one session, so later blocks see earlier variables.
- A `text` block contains exactly the output of the previous block.
- `<!-- file: NAME -->` before a block in any language writes it to that file, for use by later blocks.
- `json`, `yaml` and `toml` blocks are parsed, and scenarios are validated. `http` blocks are checked against the API.
- Any other block, and any block that cannot be run, needs `<!-- not run: REASON -->` before it.

The default address in a block is replaced with the address of the test's server.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import yaml

from simulator.contract.files import operation_ids
from simulator.engine.clients.address import CONTROL_BASE, DEFAULT_URL
from simulator.engine.scenario.files.loader import Loader
from simulator.engine.server.http.router import Router
from simulator.host import Simulator, control_rows
from tests.places import ROOT

RUN = ("bash", "python")
READ = ("json", "yaml", "toml", "http")
_END = "=== end of block ==="
_FENCE = re.compile(
    r"(?:^ *<!-- (?P<mark>not run|file)(?:: *(?P<said>.*?))? -->\n)?"
    r"^(?P<indent> *)```(?P<language>[\w+-]*)[^\n]*\n(?P<text>.*?)^(?P=indent)```$",
    re.MULTILINE | re.DOTALL,
)


@dataclass
class Block:
    """A fenced block, what is said before it, and what it is to print where that is shown."""

    language: str
    text: str
    mark: str
    said: str
    prints: str | None = None

    @property
    def is_run(self) -> bool:
        return not self.mark and self.language in RUN

    @property
    def is_read(self) -> bool:
        return self.mark != "not run" and self.language in READ


def blocks(page: str) -> list[Block]:
    """The blocks of a page in order; a `text` block belongs to the one before it."""
    found: list[Block] = []
    for match in _FENCE.finditer(page):
        text = re.sub(f"^{match['indent']}", "", match["text"], flags=re.MULTILINE)
        if match["language"] == "text" and match["mark"] is None and found and found[-1].prints is None:
            found[-1].prints = text
        else:
            found.append(Block(match["language"], text, match["mark"] or "", (match["said"] or "").strip()))
    return found


def problems(page: str) -> list[str]:
    """Return the problems of a page's blocks, one line each, without running them."""
    return [f"{wrong}:\n{block.text}" for block in blocks(page) if (wrong := _wrong(block))]


def _wrong(block: Block) -> str:
    if block.mark == "not run":
        return "" if len(block.said) >= 8 else "say why: <!-- not run: REASON -->"
    if block.mark == "file":
        return "" if block.said else "say which file: <!-- file: NAME -->"
    if block.language not in (*RUN, *READ):
        return f"a block of {block.language or 'no language'} is neither run nor read: <!-- not run: REASON -->"
    return ""


def check(block: Block) -> None:
    """Read a block of data as what would read it; raises what is wrong."""
    if block.language == "json":
        json.loads(block.text)
    elif block.language == "toml":
        tomllib.loads(block.text)
    elif block.language == "http":
        _check_request(block.text)
    elif block.language == "yaml":
        value = yaml.safe_load(block.text)
        if isinstance(value, dict) and "name" in value and value.keys() & {"rules", "drive", "faults", "expect"}:
            Loader(Simulator().vocabulary).load(block.text.encode())


def _check_request(text: str) -> None:
    """The first line is `METHOD /path`, of an operation that there is; a body after an empty line is JSON."""
    head, _, body = text.partition("\n\n")
    method, path = head.split("\n")[0].split()[:2]
    rows = [(f"{method} {path}", method, path) for method, path in map(str.split, operation_ids())]
    router = Router([_Way(one, f"/v1{two}") for _, one, two in rows])
    steering = Router([_Way(row.method, CONTROL_BASE + row.path) for row in control_rows()], turns_back=True)
    found = (router.find(path.partition("?")[0]) or steering.find(path.partition("?")[0]) or ({}, {}))[0]
    assert method in found, f"no such call: {method} {path}"
    if body.strip():
        json.loads(body)


@dataclass
class _Way:
    method: str
    path: str


def surroundings(directory: Path) -> dict[str, str]:
    """An environment without settings of this one; `rampsim`, `python3` and `pytest` are those that run the tests."""
    shims = directory / "bin"
    shims.mkdir()
    pytest = "-m pytest -p no:cacheprovider"
    for name, words in (("rampsim", "-m simulator"), ("python3", ""), ("python", ""), ("pytest", pytest)):
        (shims / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {words} "$@"\n')
        (shims / name).chmod(0o755)
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("SIMULATOR_", "PYTEST_"))}
    return {
        **clean,
        "PATH": f"{shims}:{clean['PATH']}",
        "PYTHONPATH": str(ROOT),
        "NO_COLOR": "1",
        "no_proxy": "127.0.0.1",
    }


@contextmanager
def serving(environment: dict[str, str], directory: Path = ROOT) -> Iterator[str]:
    """The address of a server as `rampsim serve` starts it, but on a free port."""
    words = [sys.executable, "-m", "simulator", "serve", "--port", "0"]
    with subprocess.Popen(words, cwd=directory, env=environment, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        lines = (line.rstrip() for line in server.stdout)
        try:
            yield next(line.removeprefix("Ready on ") for line in lines if line.startswith("Ready on "))
        finally:
            server.kill()


def run(
    script: list[str], environment: dict[str, str], directory: Path = ROOT, seconds: float = 300
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-c", "\n".join(["set -eo pipefail", *script])],
        cwd=directory,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=seconds,
    )


def walk(page: str, origin: str, environment: dict[str, str], directory: Path = ROOT) -> None:
    """Run every block as a reader would whose server listens at `origin`, and look at what each prints."""
    walk_blocks(blocks(page.replace(DEFAULT_URL, origin)), environment, directory)


def walk_blocks(page: list[Block], environment: dict[str, str], directory: Path) -> None:
    """Run these blocks in one shell, and look at what each prints."""
    shown: list[Block] = []
    script = []
    for block in page:
        text = block.text
        if block.mark == "file":
            script.append(_written(block.said, text))
        elif block.is_run:
            shown.append(block)
            script += [f"python3 - <<'PROGRAM'\n{text}PROGRAM" if block.language == "python" else text]
            script += [f"echo '\n{_END}'"]
    done = run(script, environment, directory)
    printed = done.stdout.split(_END)
    assert done.returncode == 0, f"after {len(printed) - 1} blocks: {done.stdout[-2000:]}\n{done.stderr[-2000:]}"
    assert len(printed) == len(shown) + 1
    for block, output in zip(shown, printed, strict=False):
        assert '{"error":' not in output, block.text
        if block.prints is not None:
            assert output.strip() == block.prints.strip(), block.text


def _written(name: str, text: str) -> str:
    """The command that writes a file."""
    assert re.fullmatch(r"[\w./-]+", name), name
    assert ".." not in name, name
    return f"mkdir -p $(dirname {name}) && cat > {name} <<'END_OF_FILE'\n{text}END_OF_FILE"
