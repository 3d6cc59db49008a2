"""Suites of integrators as files, and explore over them as from a command line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[3]
PYTEST = (
    sys.executable, "-m", "pytest", "-p", "rampsim", "-p", "no:cacheprovider", "-c", "/dev/null", "--rootdir", ".",
)  # fmt: skip
ALONE = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
"""Suites here need no plugin but the kit's; importing all others that are installed takes longer than most of them."""

FORTY = (*PYTEST[:-1], str(ROOT), "-o", "python_files=visits_*.py", str(ROOT / "tests/tools/exploration/forty"))
"""The forty tests that explore is measured with."""

FOREIGN = ("SIMULATOR_", "PYTEST_", "COV_")
"""How variables begin that belong to the run of these tests, and not to what is explored in it."""


def outside() -> dict[str, str]:
    """The environment of whoever runs explore from a shell, with this checkout to import."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(FOREIGN)}
    return {**kept, **ALONE, "PYTHONPATH": str(ROOT)}


class Explored(NamedTuple):
    """What a run of explore said."""

    code: int
    said: str
    directory: Path

    @property
    def report(self) -> dict[str, Any]:
        assert self.code in (0, 1), self.said
        return self.written("report.json")

    def written(self, name: str) -> dict[str, Any]:
        """A file that it wrote."""
        found: dict[str, Any] = json.loads((self.directory / ".rampsim/explore" / name).read_text("utf-8"))
        return found

    @property
    def findings(self) -> set[tuple[str, str]]:
        """Fault and verdict of each."""
        rows = {row["id"]: row for row in self.report["runs"]}
        return {(rows[name]["fault"], rows[name]["verdict"]) for name in self.report["findings"]}

    @property
    def verdicts(self) -> set[str]:
        return set(self.report["summary"])


def explore(
    directory: Path,
    *words: str,
    command: tuple[str, ...] = (*PYTEST, "."),
    environment: Mapping[str, str] | None = None,
) -> Explored:
    """Run `rampsim explore WORDS -- COMMAND` in a directory, with one worker unless they say otherwise."""
    workers = () if "--workers" in words else ("--workers", "1")
    done = subprocess.run(
        [sys.executable, "-m", "simulator", "explore", *workers, *words, "--", *command],
        cwd=directory,
        env={**outside(), **(environment or {})},
        capture_output=True,
        text=True,
        timeout=1800,
    )
    return Explored(done.returncode, done.stdout + done.stderr, directory)


def begun(directory: Path, *words: str, command: tuple[str, ...] = (*PYTEST, ".")) -> subprocess.Popen[str]:
    """The same, under way."""
    return subprocess.Popen(
        [sys.executable, "-m", "simulator", "explore", *words, "--", *command],
        cwd=directory,
        env=outside(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
