"""Hooks for conftest.py: what `rampsim explore` asks of an application that lives in the process of its tests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from simulator.testing.worlds import World


@pytest.hookspec(firstresult=True)
def pytest_rampsim_books(item: pytest.Item, world: World) -> Iterable[Mapping[str, object] | Sequence[object]] | None:
    """The books of the application after this test: dicts or tuples of order, state, amount and currency.

    `order` is the reference that the interface was given, `amount` what the customer received, 0 unless completed. The
    fixtures of the test still live: `item.funcargs["shop"]` is what the fixture `shop` gave. None for a test that has
    no books.
    """


@pytest.hookspec(firstresult=True)
def pytest_rampsim_settle(item: pytest.Item, world: World) -> object:
    """Run the application's own job that puts right what was missed, as it does every day."""
