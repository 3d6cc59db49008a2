"""Systems without uvloop or POSIX file locks: the package can be imported, serve and run tests."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tests.places import ROOT

BLOCKED = """
    import sys

    class Blocked:
        def find_spec(self, name, path=None, target=None):
            if name.partition(".")[0] in ("uvloop", "fcntl"):
                raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    for name in [name for name in sys.modules if name in ("uvloop", "fcntl")]:
        del sys.modules[name]
    sys.meta_path.insert(0, Blocked())
"""


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """An environment in which every Python process lacks uvloop and fcntl."""
    (tmp_path / "sitecustomize.py").write_text(textwrap.dedent(BLOCKED))
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("SIMULATOR_", "PYTEST_"))}
    return clean | {"PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)])}


def run(environment: dict[str, str], directory: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *words], env=environment, cwd=directory, capture_output=True, text=True, timeout=120
    )


def test_the_modules_are_really_blocked(environment: dict[str, str], tmp_path: Path) -> None:
    for name in ("uvloop", "fcntl"):
        assert f"No module named '{name}'" in run(environment, tmp_path, "-c", f"import {name}").stderr


def test_a_test_runs_with_a_separate_server(environment: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "test_one.py").write_text(
        textwrap.dedent("""
            def test_a_webhook(world, webhooks):
                order = world.flow("onramp")
                assert webhooks.wait_for("transaction.completed", order["id"]).genuine
        """)
    )
    words = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "simulator.testing.plugin", "test_one.py")
    done = run(environment | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}, tmp_path, *words)
    assert (done.returncode, "1 passed" in done.stdout) == (0, True), done.stdout + done.stderr


def test_a_sqlite_store_is_refused_in_one_line(environment: dict[str, str], tmp_path: Path) -> None:
    words = ("-m", "simulator", "serve", "--port", "0", "--store", "sqlite:///worlds.db")
    done = run(environment, tmp_path, *words)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith("rampsim: --store: a SQLite store needs file locks")
