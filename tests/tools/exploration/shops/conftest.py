"""The shop in the test process, with the mistakes in SHOP_MISTAKES, and the hooks for explore."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace

import httpx
import pytest
from starlette.testclient import TestClient

from simulator.testing import Receiver, World
from simulator.testing.plugin import world as world
from tests.tools.exploration.shops.mistakes import CASES, EACH
from tests.tools.integrators.rig import Rig
from tests.tools.integrators.shop.app import create_app
from tests.tools.integrators.shop.careless import careless, named
from tests.tools.integrators.shop.settings import Settings

TRUSTED = httpx.create_ssl_context(trust_env=False)
"""Read once: every client would read all certificates by itself, which takes longer than what a visit does."""


class Shop(Rig):
    """As it stands in the tests of the shop, but that it finds its account in the environment."""

    def __init__(self, world: World, webhooks: Receiver, *mistakes: str) -> None:
        self.world = world
        self.webhooks = webhooks
        self.settings = replace(
            Settings.from_environment({**os.environ, "SHOP_BOOKS": "."}),
            books=":memory:",
            sleep=lambda seconds: self._sleep(seconds),
        )
        self.till = careless(*mistakes).open(self.settings, httpx.HTTPTransport(verify=TRUSTED, trust_env=False))
        self.shop = self.till.shop
        self.app = create_app(self.till)
        self.customer = TestClient(self.app, raise_server_exceptions=False)
        webhooks.forward_to(self.app, raises=False)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    asked = os.environ.get("SHOP_MISTAKES", "")
    if asked.startswith(EACH):
        here = [name for name in asked.removeprefix(EACH).split(",") if CASES[name].visit == metafunc.function.__name__]
        metafunc.parametrize("mistakes", [[name] for name in here], ids=here)


@pytest.fixture
def mistakes() -> list[str]:
    return named(os.environ)


@pytest.fixture
def shop(world: World, webhooks: Receiver, mistakes: Sequence[str]) -> Iterator[Shop]:
    with Shop(world, webhooks, *mistakes) as made:
        yield made
    made.shop.service.close()
    made.books.close()


def pytest_rampsim_settle(item: pytest.Function) -> None:
    shop = item.funcargs.get("shop")
    if isinstance(shop, Rig):
        shop.shop.reconcile()


def pytest_rampsim_books(item: pytest.Function) -> list[dict[str, str]]:
    shop = item.funcargs.get("shop")
    return [shop.books.shown(order) for order in shop.books.orders()] if isinstance(shop, Rig) else []
