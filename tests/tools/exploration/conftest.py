"""Fixtures for all tests of explore."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.tools.exploration.suite import ALONE, SHARED


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Suites that are explored from inside are as quick to start as the others."""
    for name, value in ALONE.items():
        monkeypatch.setenv(name, value)


@pytest.fixture(scope="session", autouse=True)
def shared() -> Iterator[None]:
    """What explorations share ends with the session."""
    yield
    SHARED.close()
