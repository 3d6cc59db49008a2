"""Hooks for conftest.py, through which `rampsim explore` reaches an application in the test process."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from simulator.testing.worlds import World


@pytest.hookspec(firstresult=True)
def pytest_rampsim_books(item: pytest.Item, world: World) -> Iterable[Mapping[str, object] | Sequence[object]] | None:
    """Return the application's books after this test: dicts or tuples of order, state, amount and currency.

    `order` is the reference sent to the API. `amount` is what the customer received, 0 unless completed. The fixtures
    of the test are still active: `item.funcargs["shop"]` is the value of the fixture `shop`. Return None for a test
    without books.
    """


@pytest.hookspec(firstresult=True)
def pytest_rampsim_settle(item: pytest.Item, world: World) -> object:
    """Run the application's own reconciliation job, as it runs every day."""
