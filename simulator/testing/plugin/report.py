"""Output about a test's world: its timeline, a scenario that repeats the test's requests, and the saved world.

Files are written to `.rampsim` below the root directory. An output that cannot be created does not hide the test's own
failure.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

if TYPE_CHECKING:
    from simulator.testing.worlds import World

DIRECTORY = ".rampsim"
_NOT_POSSIBLE = "not possible"
_LONGEST_NAME = 100
"""The maximum number of characters in a name."""
_PATIENCE_SECONDS = 20.0
"""The time limit for a server to describe what happened. A server that hangs must not delay the failure report."""
_USUAL_SEED = 1
"""The default seed. The command that repeats a test contains `--seed` if the world has a different seed."""


class Keeper(NamedTuple):
    """Reports on the worlds of tests and keeps these worlds for inspection. `keeps`: True if worlds are kept after
    their tests. `outlives`: True if the server continues after the run.
    """

    config: pytest.Config
    keeps: bool
    outlives: bool
    has_socket: bool

    def section(self, test: str, world: World) -> str:
        """Return the report of a failing test's world: the timeline, and how to repeat the test and see the world."""
        world.patience_seconds = _PATIENCE_SECONDS
        repeat = _said(lambda: self._scenario(test, world))
        lines = [_said(world.timeline), *_raised(world), "", f"Repeat the calls:          {repeat}"]
        if not repeat.startswith(_NOT_POSSIBLE):
            lines.append("  It passes if the simulator's responses are the same. It does not include your assertions.")
        if self.keeps:
            look = self.look(test, world)
            lines.append(f"Look at its world:         {look}")
            if self.has_socket and not self.outlives and not look.startswith(_NOT_POSSIBLE):
                lines.append(f"  while this run lasts: {world.dashboard_url}")
        return "\n".join(lines)

    def look(self, test: str, world: World) -> str:
        """Return instructions for inspecting a world that is kept after its test."""
        return world.dashboard_url if self.outlives else _said(lambda: self._document(test, world))

    def _scenario(self, test: str, world: World) -> str:
        name = _name(test)
        text = world.control("GET", "/recording", query={"name": name})
        # Editors would look for the schema next to the shipped scenarios, which are outside the tested project.
        text = re.sub(r"\A# yaml-language-server: .*\n", "", text)
        seed = f"--seed {world.seed} " if world.seed != _USUAL_SEED else ""
        return f"rampsim scenario run {seed}{self._written(f'{name}.yaml', text)}"

    def _document(self, test: str, world: World) -> str:
        text = json.dumps(world.control("GET", "/state"))
        return f"rampsim serve --state {self._written(f'{_name(test)}.world.json', text)}"

    def _written(self, name: str, text: str) -> str:
        """Write a file and return its path relative to the directory in which pytest started."""
        path = directory(self.config) / name
        path.write_text(text, "utf-8")
        return shlex.quote(os.path.relpath(path, self.config.invocation_params.dir))


def directory(config: pytest.Config) -> Path:
    """Return the directory for scenarios and saved worlds. Git ignores this directory."""
    path = config.rootpath / DIRECTORY
    if not path.is_dir():
        path.mkdir(exist_ok=True)
        (path / ".gitignore").write_text("*\n", "utf-8")
    return path


def _name(test: str) -> str:
    """Return the node id of a test in a form that is valid as a file name and as a scenario name."""
    name = re.sub(r"[^A-Za-z0-9._]+", "-", test.replace(".py::", "-")).strip("-._")
    if len(name) > _LONGEST_NAME:
        mark = f"-{zlib.crc32(test.encode()):08x}"
        name = name[: _LONGEST_NAME - len(mark)] + mark
    return name or "test"


def _raised(world: World) -> list[str]:
    """Return the errors that webhook handlers raised. They often cause the failure and are not reported elsewhere."""
    raised = [what for receiver in world.receivers for what in receiver.unraised_errors()]
    return ["The webhook handler raised an error", *(f"  {what}" for what in raised)] if raised else []


def _said(tell: Callable[[], str]) -> str:
    """Return the text that `tell` returns, or the reason why it is unavailable."""
    try:
        return tell()
    except Exception as error:  # must not hide the failure of the test
        return f"{_NOT_POSSIBLE}: {error or type(error).__name__}"
