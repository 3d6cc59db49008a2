"""Webhooks, frozen time and worlds in process under pytest, and the messages when such tests fail."""

from __future__ import annotations

import re

import pytest

from tests.tools.testing.suites import Outcome, Suite

pytestmark = pytest.mark.xdist_group("plugin-receiver")

SUITE = """
    import hmac, time
    from datetime import datetime, timezone
    import pytest

    DONE = "transaction.completed"

    @pytest.fixture(params=["asyncio", "trio"])
    def anyio_backend(request):
        return request.param

    def test_a_webhook_comes(world, webhooks):
        world.trigger(DONE)
        assert webhooks.wait_for(DONE).genuine

    def test_retries(world, webhooks):
        webhooks.respond(500, times=2)
        world.trigger(DONE)
        world.advance("10m")
        assert [delivery.status for delivery in webhooks.received][:2] == [500, 500]

    def test_an_application(world, webhooks):
        def app(environ, start_response):
            start_response("204 No Content", [])
            return []

        webhooks.forward_to(app)
        world.trigger(DONE)
        assert webhooks.wait_for(DONE).status == 204

    def test_frozen(world, webhooks):
        def verify(delivery):
            stamp = delivery.headers["X-Timestamp"]
            signed = hmac.digest(world.keys.webhook_key.encode(), f"{stamp}.".encode() + delivery.body, "sha256").hex()
            is_now = abs(time.time() * 1000 - int(stamp)) < 1
            return 200 if is_now and signed == delivery.headers["X-Signature"] else 400

        webhooks.respond_with(verify)
        with world.freeze():
            world.advance("31d")
            world.trigger(DONE)
            assert datetime.now(timezone.utc) == world.now
            assert webhooks.wait_for(DONE).status == 200

    def test_frozen_by_a_call(world, webhooks):
        world.freeze()
        world.advance("31d")
        assert datetime.now(timezone.utc) == world.now

    def test_frozen_in_a_separate_world(simulator):
        simulator.new_world().freeze()
        assert time.time() < time.clock_gettime(time.CLOCK_REALTIME) - 60

    def test_time_is_real_again():
        assert abs(time.time() - time.clock_gettime(time.CLOCK_REALTIME)) < 60

    @pytest.mark.anyio
    async def test_async(world, webhooks):
        async with world.async_client as client:
            assert (await client.get("/profile")).status_code == 200
        world.act("emit", type="beneficiary.created")
        assert webhooks.wait_for("beneficiary.created")

    def test_in_process(world_in_process, webhooks):
        assert world_in_process.url == "http://simulator.localhost"
        world_in_process.trigger(DONE)
        assert webhooks.wait_for(DONE)

    def test_both(world, world_in_process, webhooks):
        world.trigger(DONE)
        assert webhooks.wait_for(DONE)

    def test_never_comes(world, webhooks):
        world.trigger("transaction.awaiting_payment")
        world.settle()
        webhooks.wait_for(DONE, timeout=0.01)

    def test_handler_breaks(world, webhooks):
        orders = {}
        webhooks.respond_with(lambda delivery: orders[delivery["type"]])
        world.trigger(DONE)
        world.act("emit", type="beneficiary.created")
        webhooks.wait_for("beneficiary.created")

    def test_handler_breaks_unseen(world, webhooks):
        orders = {}
        webhooks.respond_with(lambda delivery: orders[delivery["type"]])
        world.act("emit", type="beneficiary.created")
        world.settle()

    def test_handler_breaks_and_the_test_too(world, webhooks):
        orders = {}
        webhooks.respond_with(lambda delivery: orders[delivery["type"]])
        world.act("emit", type="beneficiary.created")
        world.act("emit", type="beneficiary.created")
        world.settle()
        assert orders
"""


@pytest.fixture(scope="module", params=["process", "inprocess"])
def outcome(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    suite = Suite(tmp_path_factory.mktemp("receiver"))
    suite.write("test_it.py", SUITE)
    return suite.run_here("-p", "anyio", "--durations=0", f"--simulator={request.param}")


@pytest.mark.parametrize(
    "name",
    [
        "test_a_webhook_comes",
        "test_retries",
        "test_an_application",
        "test_frozen",
        "test_frozen_by_a_call",
        "test_frozen_in_a_separate_world",
        "test_time_is_real_again",
        "test_async[asyncio]",
        "test_async[trio]",
        "test_in_process",
        "test_both",
    ],
)
def test_every_kind_of_test_gets_its_webhooks(outcome: Outcome, name: str) -> None:
    assert outcome.tests[name] == "passed", outcome.text


def test_a_webhook_that_never_comes_is_explained_at_the_line_that_waits_for_it(outcome: Outcome) -> None:
    assert outcome.tests["test_never_comes"] == "failed"
    assert outcome.has(
        ">       webhooks.wait_for(DONE, timeout=0.01)",
        "AssertionError: No transaction.completed arrived within 0.01 seconds.",
        "Deliveries received, in order:",
        "  transaction.created of txn_",
        "  transaction.awaiting_payment of txn_",
        "The world has not emitted it.",
        "its next timer is due at 2026-01-05T08:30:00.000Z. Move it with world.advance(...)",
    )
    assert "receivers.py" not in outcome.text.partition("test_handler_breaks")[0]


def test_a_handler_that_breaks_is_shown_once_with_its_own_line(outcome: Outcome) -> None:
    assert outcome.tests["test_handler_breaks"] == "failed"
    assert "ERROR at teardown of test_handler_breaks _" not in outcome.text
    assert outcome.has(
        "webhooks.respond_with(lambda delivery: orders[delivery[",
        "KeyError: 'beneficiary.created'",
        "The above exception was the direct cause of the following exception",
        "AssertionError: The webhook handler raised an error for beneficiary.created: KeyError",
    )


def test_time_that_is_frozen_leaves_durations_right(outcome: Outcome) -> None:
    seconds = [float(one) for one in re.findall(r"^([0-9.]+)s (?:call|setup|teardown) ", outcome.text, re.MULTILINE)]
    assert seconds
    assert max(seconds) < 300


def test_a_handler_error_is_reported_with_the_test_failure(outcome: Outcome) -> None:
    assert outcome.tests["test_handler_breaks_and_the_test_too"] == "failed"
    assert outcome.has(
        "The webhook handler raised an error",
        "  KeyError: 'beneficiary.created' (test_it.py:",
        ", in <lambda>) (2 times)",
    )
    assert outcome.text.count("The webhook handler raised an error\n") == 1  # `wait_for` has told the other test's


def test_a_handler_that_breaks_unseen_is_an_error_of_the_test(outcome: Outcome) -> None:
    assert outcome.tests["test_handler_breaks_unseen"] == "error"
    assert outcome.has("ERROR at teardown of test_handler_breaks_unseen", "KeyError: 'beneficiary.created'")
