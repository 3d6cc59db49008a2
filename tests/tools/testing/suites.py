"""A partner's small test suites, run by a separate pytest, and its output."""

from __future__ import annotations

import contextlib
import io
import os
import re
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

PLUGINS = ("-p", "rampsim", "-p", "xdist", "-p", "no:cacheprovider")
"""What else is installed here is left out: it takes longer to load than the suites to run."""


@dataclass
class Outcome:
    """How a run ended: its exit code, all it printed, and how every test ended by name (`test_one`, `test_one[a]`)."""

    code: int
    text: str

    @property
    def tests(self) -> dict[str, str]:
        rows = re.findall(r"^(PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS) \S*?::(\S+)", self.text, re.MULTILINE)
        return {name: outcome.lower() for outcome, name in rows}

    def has(self, *parts: str) -> bool:
        """Whether all this stands in what was printed, in this order."""
        at = 0
        for part in parts:
            at = self.text.find(part, at)
            assert at >= 0, f"{part!r} is not, or not in this order, in:\n{self.text}"
        return True


class Suite:
    """A directory with tests. Its runs have a directory for temporary files of their own, to look what they leave."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory / "suite"
        self.temporary = directory / "tmp"
        self.directory.mkdir()
        self.temporary.mkdir()
        (self.directory / "pytest.ini").write_text("[pytest]\naddopts = --strict-markers --strict-config\n")

    def write(self, name: str, text: str) -> Path:
        path = self.directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))
        return path

    def start(self, *arguments: str, variables: Mapping[str, str] | None = None) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "pytest", *PLUGINS, "-rA", *arguments],
            cwd=self.directory,
            env=self._environment(variables),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def run(self, *arguments: str, variables: Mapping[str, str] | None = None) -> Outcome:
        with self.start(*arguments, variables=variables) as process:
            text, _ = process.communicate(timeout=180)
        return Outcome(process.returncode, text)

    def run_here(self, *arguments: str, variables: Mapping[str, str] | None = None) -> Outcome:
        """The same in this process: a second less, and the coverage of the plugin is measured."""
        text = io.StringIO()
        with (
            pytest.MonkeyPatch.context() as patch,
            contextlib.redirect_stdout(text),
            contextlib.redirect_stderr(text),
        ):
            for name in [name for name in os.environ if name.startswith(("SIMULATOR_", "PYTEST_"))]:
                patch.delenv(name)
            patch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
            patch.setenv("COLUMNS", "120")
            for name, value in (variables or {}).items():
                patch.setenv(name, value)
            patch.setattr(tempfile, "tempdir", str(self.temporary))
            patch.chdir(self.directory)
            patch.setattr(sys, "path", [*sys.path])
            # What is left unclosed, the pytest around this one finds, without collecting garbage for each run.
            code = pytest.main([*PLUGINS, "-p", "no:unraisableexception", "-rA", "--rootdir=.", *arguments])
            for name, module in list(sys.modules.items()):
                if str(getattr(module, "__file__", None) or "").startswith(str(self.directory)):
                    del sys.modules[name]
        return Outcome(int(code), text.getvalue())

    def _environment(self, variables: Mapping[str, str] | None) -> dict[str, str]:
        own = {name: value for name, value in os.environ.items() if not name.startswith(("SIMULATOR_", "PYTEST_"))}
        fixed = {"TMPDIR": str(self.temporary), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "COLUMNS": "120"}
        return {**own, **fixed, **(variables or {})}


def worlds_at(origin: str) -> set[str]:
    """The ids of the worlds of a server that runs."""
    rows = httpx.get(f"{origin}/_simulator/worlds", trust_env=False).json()["data"]
    return {row["id"] for row in rows}
