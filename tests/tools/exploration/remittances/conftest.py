"""The application in the process of its tests, with the bugs that REMITTANCE_BUGS names, and the hooks for explore."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

import httpx
import pytest
from starlette.testclient import TestClient

from simulator.testing import Receiver, World
from simulator.testing.plugin import world as world
from tests.tools.exploration.remittances.desk import Desk
from tests.tools.exploration.remittances.planted import BUGS, made_of
from tests.tools.exploration.remittances.ramp import Ramp
from tests.tools.exploration.remittances.store import Store
from tests.tools.exploration.remittances.web import Web

EACH = "each:"
"""Before the names in REMITTANCE_BUGS: every test once with each of them."""
TRUSTED = httpx.create_ssl_context(trust_env=False)
"""Read once: a client reads all certificates otherwise, which takes longer than a test."""


class Office:
    """The application, its customers and its staff."""

    def __init__(self, world: World, webhooks: Receiver, bugs: Sequence[str]) -> None:
        self.world = world
        self.store = Store(":memory:")
        keys = world.keys
        transport = httpx.HTTPTransport(verify=TRUSTED, trust_env=False)
        self.ramp = made_of(Ramp, [*bugs])(world.base_url, keys.public_key, keys.secret_key, transport)
        self.desk: Desk = made_of(Desk, [*bugs])(self.store, self.ramp, lambda: world.now.timestamp())
        app = made_of(Web, [*bugs])(self.desk, keys.webhook_key).app()
        self.customer = TestClient(app, raise_server_exceptions=False)
        webhooks.forward_to(app, raises=False)

    def send(self, reference: str, amount: str = "5000") -> None:
        """A customer sends shillings. The workers begin a second later."""
        body = {
            "reference": reference, "amount": amount, "payer": "+254722000000", "recipient": "Wanjiru Otieno",
            "phone_number": "+254733000000",
        }  # fmt: skip
        assert self.customer.post("/transfers", json=body).status_code == 202
        self.world.advance("1s")

    def wait(self, minutes: int) -> None:
        """Let time pass. The workers look at the queue every half minute, by the hook below."""
        for _ in range(minutes * 2):
            self.world.advance("30s")

    def night(self) -> None:
        """The job runs, and the workers do what it left them."""
        self.desk.reconcile()
        self.world.advance("1s")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    asked = os.environ.get("REMITTANCE_BUGS", "")
    if asked.startswith(EACH):
        names = asked.removeprefix(EACH).split(",")
        metafunc.parametrize("bugs", [[name] for name in names], ids=names)


@pytest.fixture
def bugs() -> list[str]:
    names = [name for name in os.environ.get("REMITTANCE_BUGS", "").split(",") if name]
    assert {*names} <= {*BUGS}, names
    return names


@pytest.fixture
def office(world: World, webhooks: Receiver, bugs: list[str]) -> Iterator[Office]:
    made = Office(world, webhooks, bugs)
    yield made
    made.ramp.close()
    made.store.close()


def office_of(item: pytest.Function) -> Office | None:
    found = item.funcargs.get("office")
    return found if isinstance(found, Office) else None


def pytest_rampsim_settle(item: pytest.Function) -> None:
    if (office := office_of(item)) is not None:
        office.desk.reconcile()


def pytest_rampsim_quiesce(item: pytest.Function) -> bool:
    if (office := office_of(item)) is not None:
        office.desk.drain(office.world.settle)
    return True


def pytest_rampsim_books(item: pytest.Function) -> list[dict[str, str]] | None:
    office = office_of(item)
    return None if office is None else office.desk.books()
