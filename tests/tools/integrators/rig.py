"""A shop in a simulator's world: its customers, its webhooks, its jobs, and the final comparison of its books."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from types import TracebackType
from typing import Any, Protocol, Self

from starlette.testclient import TestClient

from simulator.testing import Receiver, World
from tests.tools.integrators.faults import FaultClass
from tests.tools.integrators.judge import Finding, judge
from tests.tools.integrators.shop.app import create_app
from tests.tools.integrators.shop.books import Books
from tests.tools.integrators.shop.careless import careless
from tests.tools.integrators.shop.settings import Settings, books_of

PHONE = "+254722000000"
WALLET = "0x52908400098527886E0F7030069857D2E4169EE7"


class Answer(Protocol):
    """What the shop answers a customer, whichever client starlette's is made of."""

    @property
    def status_code(self) -> int: ...

    @property
    def text(self) -> str: ...

    def json(self) -> Any: ...


class Rig:
    """The careful shop, or one with mistakes. Its waits move the simulated clock.

    Its books are in memory, or, where SHOP_BOOKS names a folder, in a file that the shop's commands find.
    It serves its customers from one event loop as long as it is open (`with`), and else from one for each of them.
    """

    def __init__(self, world: World, webhooks: Receiver, *mistakes: str) -> None:
        self.world = world
        self.webhooks = webhooks
        self.settings = Settings(
            base_url=world.base_url,
            public_key=world.keys.public_key,
            secret_key=world.keys.secret_key,
            webhook_key=world.keys.webhook_key,
            books=books_of(world.keys.public_key, folder) if (folder := os.environ.get("SHOP_BOOKS")) else ":memory:",
            sleep=lambda seconds: self._sleep(seconds),
        )
        self.till = careless(*mistakes).open(self.settings, world.link.transport())
        self.shop = self.till.shop
        self.app = create_app(self.till)
        self.customer = TestClient(self.app, raise_server_exceptions=False)
        webhooks.forward_to(self.app, raises=not mistakes)

    def __enter__(self) -> Self:
        self.customer.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.customer.__exit__()

    def _sleep(self, seconds: float) -> None:
        self.world.advance(seconds)

    # What customers do.

    def onramp(self, reference: str, amount: str = "5000", currency: str = "KES") -> Answer:
        """A customer buys USDC."""
        return self._order(reference, "onramp", amount, currency)

    def offramp(self, reference: str, amount: str = "30", currency: str = "USDC") -> Answer:
        """A customer sells USDC for mobile money."""
        return self._order(reference, "offramp", amount, currency)

    def _order(self, reference: str, kind: str, amount: str, currency: str) -> Answer:
        wanted = {**self._recipient(reference, amount, currency), "kind": kind, "wallet_address": WALLET}
        return self._post("/orders", wanted)

    def standing_payout(self, reference: str, amount: str = "20", times: int = 1) -> Answer:
        """The shop pays somebody on the sixth of every month."""
        when = {"day_of_month": 6, "start_date": f"{self.world.now:%Y-%m-%d}", "times": times}
        return self._post("/payouts", {**self._recipient(reference, amount, "USDC"), **when})

    def _recipient(self, reference: str, amount: str, currency: str) -> Mapping[str, Any]:
        return {
            "reference": reference,
            "amount": amount,
            "amount_currency": currency,
            "asset": "USDC",
            "fiat_currency": "KES",
            "name": "Wanjiru Otieno",
            "phone_number": PHONE,
        }

    def try_again(self, reference: str) -> Answer:
        return self._post(f"/orders/{reference}/attempts")

    def _post(self, path: str, body: Mapping[str, Any] | None = None) -> Answer:
        answer: Answer = self.customer.post(path, json=body)
        self.world.settle()
        return answer

    def renew_keys(self, key_pair: Mapping[str, Any] | None = None) -> None:
        """The owner gives the shop the webhook key as it is now, and another key pair where the old one is no good."""
        keys = self.world.control("GET", f"/worlds/{self.world.id}")["credentials"]["sandbox"]
        pair = key_pair or {"public_key": self.till.settings.public_key, "secret_key": self.till.settings.secret_key}
        settings = replace(
            self.settings,
            webhook_key=keys["webhook_key"],
            public_key=pair["public_key"],
            secret_key=pair["secret_key"],
        )
        self.till.settings = self.shop.service.settings = settings

    def end_in_the_dashboard(self, reference: str) -> None:
        """The owner deletes a standing payout, past the shop: what it has paid is on no list of it any more."""
        for row in self.world.control("GET", "/resources")["data"]:
            if row["kind"] == "recurring_payment" and row["reference"] == reference:
                self.world.client.delete(f"/recurring-payments/{row['id']}")

    # What happens to it.

    def live_through(self, *classes: FaultClass, customers: Iterable[Callable[[], object]], span: str = "2d") -> bool:
        """Let customers come while something is wrong, and the hourly job run; later it is put right.

        Whether every fault has met something: a shop that was spared has not shown anything.
        """
        world = self.world
        world.scenario("autopilot", *(one.scenario for one in classes if one.scenario))
        in_force = [world.fault(**members) for one in classes for members in one.faults]
        for one in classes:
            one.before(world)
        for customer in customers:
            customer()
        for one in classes:
            one.meanwhile(world)
        world.advance("1h", wait=True)
        self.shop.reconcile()
        world.advance(span, wait=True)
        for fault in in_force:
            fault.remove()
        for one in classes:
            self.renew_keys(one.mend(world))
        return all(fault.hits for fault in in_force)

    # What is in the books.

    def state(self, reference: str) -> str:
        return self.books.order(reference).state

    def shown(self, reference: str) -> tuple[str, str]:
        """State and amount of an order, as its customer sees them."""
        order = self.customer.get(f"/orders/{reference}").json()
        return order["state"], f"{order['amount']} {order['currency']}"

    @property
    def books(self) -> Books:
        return self.shop.books

    # The end.

    def judged(self) -> list[Finding]:
        """As explore does it: reconcile, four days with all that is delivered in them, reconcile, judge."""
        self.shop.reconcile()
        self.world.advance("4d", wait=True)
        self.shop.reconcile()
        return judge(self.world, self.books, self.webhooks.received)
