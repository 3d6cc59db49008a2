"""A simulator under test in a separate process, like a partner's server."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import pytest


@pytest.fixture(scope="session")
def origin() -> Iterator[str]:
    command = [sys.executable, "-m", "simulator", "serve", "--port", "0", "--clock", "manual"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert process.stdout is not None
    try:
        ready = next(line for line in process.stdout if line.startswith("Ready on "))
        yield ready.removeprefix("Ready on ").strip()
    finally:
        process.terminate()
        process.wait(timeout=10)
        process.stdout.close()
