"""Rules for every test in this layer: it opens no connection and starts no process.

A test that needs one of them belongs in `tests/service` or `tests/tools`. Here it fails, and the message contains the
line that tried.
"""

from __future__ import annotations

import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
FORBIDDEN = frozenset({"socket.connect", "socket.bind", "subprocess.Popen", "os.fork", "os.posix_spawn"})
"""Audit events of the interpreter (its documentation lists them all)."""

_watching = False


def _refuse(event: str, arguments: tuple[Any, ...]) -> None:
    if _watching and event in FORBIDDEN:
        raise AssertionError(f"{event} in tests/unit: its tests are pure; a test with sockets goes into tests/service")


sys.addaudithook(_refuse)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    global _watching
    _watching = item.path.is_relative_to(HERE)  # pytest calls this hook for the tests of every folder
    try:
        return (yield)
    finally:
        _watching = False
