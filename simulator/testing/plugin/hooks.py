"""Hooks for conftest.py. `rampsim explore` uses them to reach an application in the test process."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from simulator.testing.worlds import World


@pytest.hookspec(firstresult=True)
def pytest_rampsim_books(item: pytest.Item, world: World) -> Iterable[Mapping[str, object] | Sequence[object]] | None:
    """Return the application's records after this test: dicts or tuples of order, state, amount and currency.

    `order` is the reference that was sent to the API. `amount` is what the customer received, or 0 if the order is
    not completed. The test's fixtures are still active: `item.funcargs["shop"]` is the value of the fixture `shop`.
    Return None for a test without records.
    """


@pytest.hookspec(firstresult=True)
def pytest_rampsim_settle(item: pytest.Item, world: World) -> object:
    """Run the application's own reconciliation job, as a daily schedule would."""


@pytest.hookspec(firstresult=True)
def pytest_rampsim_quiesce(item: pytest.Item) -> bool | None:
    """Wait until the application's own queue is empty. Return False to be called again.

    `world.advance` calls this hook, and so does `rampsim explore` before it reads the application's records.
    """


@pytest.hookspec
def pytest_rampsim_restart(item: pytest.Item) -> None:
    """Rebuild the application without its in-memory state, as if its process had been killed and restarted.

    This hook is called after the application has crashed under a fault of the class `crash-in-handler`, `crash-in-call`
    or `crash-of-process`, possibly in a different thread from the test.
    """
