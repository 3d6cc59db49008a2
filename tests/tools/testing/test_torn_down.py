"""No delivery reaches an application after the end of its test or block."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from simulator.testing import Delivery, Receiver, World, receiver
from tests.tools.testing.suites import Suite

EVENT = "beneficiary.created"

CONFTEST = """
    import time
    import pytest

    class Shop:
        is_open = True
        seen = 0

        def take(self):
            time.sleep(0.05)
            assert self.is_open
            self.seen += 1

        def app(self, environ, start_response):
            self.take()
            start_response("200 OK", [])
            return []

    @pytest.fixture
    def shop(world, webhooks):
        shop = Shop()
        yield shop
        shop.is_open = False
        world.act("emit", type="beneficiary.created")
        assert shop.seen == 1

    @pytest.fixture
    def forwarding(shop, webhooks):
        webhooks.forward_to(shop.app)
        return shop
"""
SUITE = """
    def test_an_application(world, forwarding):
        world.act("emit", type="beneficiary.created")

    def test_a_function(world, webhooks, shop):
        webhooks.respond_with(lambda delivery: shop.take())
        world.act("emit", type="beneficiary.created")
"""


@pytest.fixture
def webhooks(kit: World) -> Iterator[Receiver]:
    with receiver(kit) as made:
        yield made


@pytest.mark.parametrize("mode", ["process", "inprocess"])
def test_forward_to_ends_before_the_fixtures_of_its_test(tmp_path_factory: pytest.TempPathFactory, mode: str) -> None:
    suite = Suite(tmp_path_factory.mktemp("torn"))
    suite.write("conftest.py", CONFTEST)
    suite.write("test_shop.py", SUITE)
    outcome = suite.run_here(f"--simulator={mode}")

    assert (outcome.code, set(outcome.tests.values())) == (0, {"passed"}), outcome.text


def test_forward_to_as_a_block_delivers_then_detaches(kit: World, webhooks: Receiver) -> None:
    seen: list[bytes] = []
    entered, may_go_on = threading.Event(), threading.Event()

    def app(environ: dict[str, Any], start_response: Callable[..., object]) -> list[bytes]:
        entered.set()
        assert may_go_on.wait(10)
        seen.append(environ["wsgi.input"].read())
        start_response("202 Accepted", [])
        return []

    with webhooks.forward_to(app):
        kit.act("emit", type=EVENT)
        assert entered.wait(10)
        threading.Timer(0.05, may_go_on.set).start()
    assert len(seen) == 1
    kit.act("emit", type=EVENT)

    assert [delivery.status for delivery in webhooks.received] == [202, 200]
    assert len(seen) == 1


def test_forward_to_inside_another_gives_back_the_outer_one(kit: World, webhooks: Receiver) -> None:
    def answering(status: int) -> Callable[..., list[bytes]]:
        def app(environ: dict[str, Any], start_response: Callable[..., object]) -> list[bytes]:
            start_response(f"{status} Answer", [])
            return []

        return app

    webhooks.respond(203)
    with webhooks.forward_to(answering(201)) as outer:
        with webhooks.forward_to(answering(202)):
            kit.act("emit", type=EVENT)
        kit.act("emit", type=EVENT)
        kit.settle()
        inner = webhooks.forward_to(answering(204))
        outer.detach()
        outer.detach()
        kit.act("emit", type=EVENT)
        kit.settle()
        inner.detach()
        kit.act("emit", type=EVENT)

    assert [delivery.status for delivery in webhooks.received] == [202, 201, 204, 203]


def test_detach_of_a_world_ends_every_application(kit: World, webhooks: Receiver) -> None:
    def answer(delivery: Delivery) -> int:
        return 202

    fork = kit.fork()
    with receiver(fork) as of_fork:
        for one in (webhooks, of_fork):
            one.respond_with(answer)
        kit.detach_applications()
        for world in (kit, fork):
            world.act("emit", type=EVENT)

        assert {delivery.status for delivery in webhooks.received} == {200}
        assert {delivery.status for delivery in of_fork.received} == {200}
