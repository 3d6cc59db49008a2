"""What is shown and kept of a test's world: its timeline, a scenario that repeats what the test did, the world itself.

Files are written to `.rampsim` below the root directory. Whatever fails in here is said where it should have been, for
the failure of the test is what counts.
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
"""Of a scenario."""
_PATIENCE_SECONDS = 20.0
"""How long a server may take to tell what happened: one that hangs must not hold up the report of the failure."""
_USUAL_SEED = 1
"""That of `rampsim scenario run`."""


class Keeper(NamedTuple):
    """How the worlds of tests are shown.

    `keeps`: whether they are kept; `outlives`: whether their server goes on after the run.
    """

    config: pytest.Config
    keeps: bool
    outlives: bool
    has_socket: bool

    def section(self, test: str, world: World) -> str:
        """What a failing test shows of a world: its timeline, how to repeat what was done, how to look at it."""
        world.patience_seconds = _PATIENCE_SECONDS
        repeat = _said(lambda: self._scenario(test, world))
        lines = [_said(world.timeline), *_raised(world), "", f"Repeat what the test did:  {repeat}"]
        if self.keeps:
            look = self.look(test, world)
            lines.append(f"Look at its world:         {look}")
            if self.has_socket and not self.outlives and not look.startswith(_NOT_POSSIBLE):
                lines.append(f"  as long as this run lasts: {world.dashboard_url}")
        return "\n".join(lines)

    def look(self, test: str, world: World) -> str:
        """How to look at a world that is kept."""
        return world.dashboard_url if self.outlives else _said(lambda: self._document(test, world))

    def _scenario(self, test: str, world: World) -> str:
        name = _name(test)
        text = world.control("GET", "/recording", query={"name": name})
        # Editors would look for the schema beside the shipped scenarios, which are not in the project of the tests.
        text = re.sub(r"\A# yaml-language-server: .*\n", "", text)
        seed = f"--seed {world.seed} " if world.seed != _USUAL_SEED else ""
        return f"rampsim scenario run {seed}{self._written(f'{name}.yaml', text)}"

    def _document(self, test: str, world: World) -> str:
        text = json.dumps(world.control("GET", "/state"))
        return f"rampsim serve --state {self._written(f'{_name(test)}.world.json', text)}"

    def _written(self, name: str, text: str) -> str:
        """Write a file; its path as it may be typed where pytest was started."""
        path = directory(self.config) / name
        path.write_text(text, "utf-8")
        return shlex.quote(os.path.relpath(path, self.config.invocation_params.dir))


def directory(config: pytest.Config) -> Path:
    """Where files are written; it is nothing to be committed."""
    path = config.rootpath / DIRECTORY
    if not path.is_dir():
        path.mkdir(exist_ok=True)
        (path / ".gitignore").write_text("*\n", "utf-8")
    return path


def _name(test: str) -> str:
    """The id of a test as the name of a file and a scenario."""
    name = re.sub(r"[^A-Za-z0-9._]+", "-", test.replace(".py::", "-")).strip("-._")
    if len(name) > _LONGEST_NAME:
        mark = f"-{zlib.crc32(test.encode()):08x}"
        name = name[: _LONGEST_NAME - len(mark)] + mark
    return name or "test"


def _raised(world: World) -> list[str]:
    """What handled the webhooks and raised: often the cause of the failure, which else nobody tells."""
    raised = [what for receiver in world.receivers for what in receiver.untold_errors()]
    return ["What handles the webhooks raised", *(f"  {what}" for what in raised)] if raised else []


def _said(tell: Callable[[], str]) -> str:
    """What is told, or why it cannot be."""
    try:
        return tell()
    except Exception as error:  # whatever it is, the test has failed for something else
        return f"{_NOT_POSSIBLE}: {error or type(error).__name__}"
