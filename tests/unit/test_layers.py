"""Tests are in four layers, and the conftest of the unit layer keeps it pure."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Callable

import pytest

from tests.places import LAYERS, ROOT

TESTS = ROOT / "tests"


def test_every_test_is_in_one_of_the_four_layers() -> None:
    found = {path.relative_to(TESTS).parts[0] for path in TESTS.rglob("test_*.py")}
    assert found == set(LAYERS)


def test_the_pure_layer_takes_nothing_from_the_others() -> None:
    others = tuple(f"from tests.{layer}" for layer in LAYERS[1:])
    importing = [
        str(path.relative_to(TESTS))
        for path in (TESTS / "unit").rglob("*.py")
        if any(line.lstrip().startswith(others) for line in path.read_text("utf-8").splitlines())
    ]
    assert importing == []


def connect() -> None:
    with socket.socket() as one:
        one.connect(("127.0.0.1", 9))


def bind() -> None:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))


@pytest.mark.parametrize(
    "use",
    [connect, bind, lambda: subprocess.run([sys.executable, "--version"], check=True), os.fork],
    ids=["connect", "bind", "run", "fork"],
)
def test_a_socket_or_a_process_fails_a_test_of_this_layer(use: Callable[[], object]) -> None:
    with pytest.raises(AssertionError, match="in tests/unit: its tests are pure"):
        use()
