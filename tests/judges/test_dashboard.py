"""The dashboard's script is executed: a page in jsdom, against a server of its own, does what a person does there."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import pytest

from tests.judges import tools

READY = "Ready on "


@pytest.fixture
def origin() -> Iterator[str]:
    """A server with a manual clock."""
    command = [sys.executable, "-m", "simulator", "serve", "--port", "0", "--clock", "manual"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            yield next(line for line in server.stdout if line.startswith(READY)).removeprefix(READY).strip()
        finally:
            server.terminate()


def test_everything_a_person_does_on_the_dashboard_works(origin: str) -> None:
    script = tools.HERE / "dashboard.mjs"
    done = tools.run(tools.node_directory() / "node", script, tools.STORE, origin)
    assert done.returncode == 0, done.stdout
    assert done.stdout.splitlines()[-1] == "a reset empties it", done.stdout
