"""The frozen time of a test follows simulated time."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import anyio
import httpx
import pytest
from starlette.types import Receive, Scope, Send

from simulator.service import SIGNATURE
from simulator.testing import Delivery, Receiver, SimulatorError, World, receiver, world
from simulator.testing.freezing import Library

EVENT = "beneficiary.created"
START = datetime(2026, 1, 5, 8, tzinfo=UTC)


@pytest.fixture(params=["over HTTP", "in process"])
def a_world(request: pytest.FixtureRequest) -> Iterator[World]:
    with world(in_process=request.param == "in process", seed=7) as made:
        yield made


@pytest.fixture(params=["freezegun", "time-machine"])
def using(request: pytest.FixtureRequest) -> Library:
    name: Library = request.param
    return name


def verifies(key: str, delivery: Delivery) -> bool:
    """An integrator's verifier: accept timestamps within five minutes of its own clock."""
    stamp = int(delivery.headers["X-Timestamp"])
    is_fresh = abs(time.time() * 1000 - stamp) <= 300_000
    return is_fresh and delivery.headers["X-Signature"] == SIGNATURE.sign(key, str(stamp), delivery.body)


def test_time_is_frozen_at_the_simulated_time_and_follows_it(a_world: World, using: Library) -> None:
    with a_world.freeze(using=using):
        assert datetime.now(UTC) == START == a_world.now
        a_world.advance("31m")
        assert datetime.now(UTC) == START + timedelta(minutes=31) == a_world.now
        assert time.time() == datetime.now(UTC).timestamp()

    assert abs(datetime.now(UTC) - START) > timedelta(days=30)


@pytest.mark.parametrize("end", ["the world", "end"])
def test_freeze_without_a_block_holds_until_it_ends(end: str, using: Library) -> None:
    with world(in_process=True) as made:
        frozen = made.freeze(using=using)
        made.advance("31m")
        assert datetime.now(UTC) == START + timedelta(minutes=31)
        if end == "end":
            frozen.end()
            frozen.end()
            assert made.control("GET", "/settings")["webhook_timestamp"] == "wall"

    assert abs(datetime.now(UTC) - START) > timedelta(days=30)


def test_freeze_without_a_block_names_a_wrong_library(a_world: World) -> None:
    with pytest.raises(ValueError, match="'freezegun' or 'time-machine', not 'freezer'"):
        a_world.freeze(using="freezer")  # type: ignore[arg-type]  # a wrong name, as somebody without a type checker has it


def test_a_verifier_that_asks_for_the_time_accepts_what_comes(a_world: World, using: Library) -> None:
    with receiver(a_world) as webhooks, a_world.freeze(using=using):
        verdicts = []

        def verify(delivery: Delivery) -> int:
            verdicts.append(verifies(a_world.keys.webhook_key, delivery))
            return 200

        webhooks.respond_with(verify)
        a_world.act("emit", type=EVENT)
        webhooks.wait_for(EVENT)
        a_world.advance("3d")
        a_world.act("emit", type=EVENT)
        a_world.settle()

        assert verdicts == [True, True]
        assert [delivery.genuine for delivery in webhooks.received] == [True, True]
        assert webhooks.received[1].headers["X-Timestamp"] == f"{round(a_world.now.timestamp() * 1000)}"


ONRAMP = {"type": "onramp", "network": "celo", "asset": "USDC", "fiat_currency": "KES", "method": "mobile_money"}


@pytest.mark.parametrize("kind", ["function", "wsgi", "asgi"])
def test_freeze_during_a_delivery_on_the_way_is_its_moment(a_world: World, using: Library, kind: str) -> None:
    seen: list[float] = []

    def function(delivery: Delivery) -> int:
        seen.append(time.time())
        return 200 if verifies(a_world.keys.webhook_key, delivery) else 401

    def wsgi(environ: dict[str, Any], start_response: Callable[..., object]) -> list[bytes]:
        headers = {"X-Timestamp": environ["HTTP_X_TIMESTAMP"], "X-Signature": environ["HTTP_X_SIGNATURE"]}
        body = environ["wsgi.input"].read()
        status = function(Delivery(httpx.Headers(headers), body, genuine=True))
        start_response(f"{status} Answer", [])
        return []

    async def asgi(scope: Scope, receive: Receive, send: Send) -> None:
        assert scope["type"] == "http"
        status = function(Delivery(httpx.Headers(scope["headers"]), (await receive())["body"], genuine=True))
        await send({"type": "http.response.start", "status": status, "headers": []})
        await send({"type": "http.response.body"})

    with receiver(a_world) as webhooks, a_world.freeze(using=using):
        if kind == "function":
            webhooks.respond_with(function)
        else:
            webhooks.forward_to(wsgi if kind == "wsgi" else asgi)
        asked = {**ONRAMP, "amount": "5000", "amount_currency": "KES"}
        assert a_world.client.post("/quotes", json=asked).status_code == 201
        webhooks.respond(500, times=1)
        a_world.advance("2h")
        assert time.time() == (START + timedelta(hours=2)).timestamp() == a_world.now.timestamp()

        statuses = [delivery.status for delivery in webhooks.received]
        stamps = [int(delivery.headers["X-Timestamp"]) / 1000 for delivery in webhooks.received]

    assert statuses == [500, 200]
    assert seen == stamps[1:]
    assert [row["kind"] for row in a_world.advice(severity="error")] == []


def test_freeze_allows_a_stale_delivery_to_be_refused(a_world: World, using: Library) -> None:
    with receiver(a_world) as webhooks, a_world.freeze(using=using):
        webhooks.respond_with(lambda delivery: 200 if verifies(a_world.keys.webhook_key, delivery) else 401)
        a_world.fault(webhook={"event": "quote.expired"}, deliver={"stale_timestamp": True}, times=1)
        asked = {**ONRAMP, "amount": "5000", "amount_currency": "KES"}
        assert a_world.client.post("/quotes", json=asked).status_code == 201
        a_world.advance("31m")
        assert webhooks.wait_for("quote.expired").status == 401


@pytest.mark.parametrize("kind", ["wsgi", "asgi"])
def test_an_application_has_the_frozen_time(a_world: World, using: Library, kind: str) -> None:
    seen: list[float] = []

    def wsgi(environ: dict[str, Any], start_response: Callable[..., object]) -> list[bytes]:
        seen.append(time.time())
        start_response("200 OK", [])
        return []

    async def asgi(scope: Scope, receive: Receive, send: Send) -> None:
        assert scope["type"] == "http"
        seen.append(time.time())
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body"})

    with receiver(a_world) as webhooks, a_world.freeze(using=using):
        webhooks.forward_to(wsgi if kind == "wsgi" else asgi)
        a_world.act("emit", type=EVENT)
        webhooks.wait_for(EVENT)

    assert seen == [START.timestamp()]


def test_the_setting_is_afterwards_what_it_was(a_world: World, using: Library) -> None:
    with a_world.freeze(using=using):
        assert a_world.control("GET", "/settings")["webhook_timestamp"] == "simulated"
    assert a_world.control("GET", "/settings")["webhook_timestamp"] == "wall"

    with pytest.raises(ZeroDivisionError), a_world.freeze(using=using):
        raise ZeroDivisionError
    assert a_world.control("GET", "/settings")["webhook_timestamp"] == "wall"
    assert a_world.on_advance == []


def test_any_change_of_the_clock_changes_the_frozen_time(a_world: World, using: Library) -> None:
    with a_world.freeze(using=using):
        snapshot = a_world.snapshot()
        a_world.trigger("quote.expired")
        assert datetime.now(UTC) == a_world.now > START
        a_world.restore(snapshot)
        assert datetime.now(UTC) == START
        a_world.advance("1h")
        a_world.reset()
        assert datetime.now(UTC) == START
        assert a_world.control("GET", "/settings")["webhook_timestamp"] == "simulated"


def test_a_world_may_end_while_it_is_frozen(a_world: World) -> None:
    with a_world.freeze():
        a_world.delete()


def test_nothing_hangs_that_waits_for_real_time(a_world: World, using: Library) -> None:
    with receiver(a_world) as webhooks, a_world.freeze(using=using):
        webhooks.respond(200, times=1, delay=0.01)
        a_world.act("emit", type=EVENT)
        a_world.settle()
        with pytest.raises(AssertionError, match=r"No deposit\.confirmed arrived"):
            webhooks.wait_for("deposit.confirmed", timeout=0.01)
        a_world.fault("GET /profile", delay="10ms", times=1)
        assert a_world.client.get("/profile").status_code == 200
        a_world.fault("GET /profile", delay="20s", times=1)
        with pytest.raises(httpx.ReadTimeout):
            a_world.client.get("/profile", timeout=0.05)


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_async_tests_continue(a_world: World, using: Library, backend: str) -> None:
    async def shop() -> None:
        with a_world.freeze(using=using):
            await anyio.sleep(0.001)
            assert time.time() == START.timestamp()
            async with a_world.async_client as client:
                assert (await client.get("/profile")).status_code == 200
            with anyio.move_on_after(0.001) as scope:
                await anyio.sleep(3600)
            assert scope.cancelled_caught

    anyio.run(shop, backend=backend)


def test_a_loop_of_asyncio_that_runs_already_continues(a_world: World) -> None:
    async def shop() -> None:
        with a_world.freeze():
            await asyncio.wait_for(asyncio.sleep(0.001), 60)
            assert time.monotonic() == time.monotonic()

    asyncio.run(shop())


def test_a_loop_in_another_thread_continues(a_world: World, using: Library) -> None:
    """Such as that of a server which a test has started in its process."""
    ticked, done = threading.Event(), threading.Event()

    async def tick() -> None:
        while not done.is_set():
            await asyncio.sleep(0.001)
            ticked.set()

    thread = threading.Thread(target=asyncio.run, args=(tick(),), daemon=True)
    thread.start()
    for _ in range(2):
        with a_world.freeze(using=using):
            ticked.clear()
            assert ticked.wait(20)
        ticked.clear()
        assert ticked.wait(20)
    done.set()
    thread.join(20)
    assert not thread.is_alive()


def test_loops_continue_after_others_have_frozen_the_time(
    a_world: World, using: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    # What freezegun leaves behind when it was told `real_asyncio`.
    monkeypatch.setattr(asyncio.SelectorEventLoop, "time", asyncio.BaseEventLoop.time)

    async def shop() -> None:
        with a_world.freeze(using=using):
            await asyncio.wait_for(asyncio.sleep(0.001), 60)

    asyncio.run(shop())


def test_a_clock_that_runs_cannot_be_held() -> None:
    with world(in_process=True, clock={"mode": "real"}) as running:
        with pytest.raises(SimulatorError, match=r"needs a manual clock; the clock of .* is real"), running.freeze():
            pass
        assert running.control("GET", "/settings")["webhook_timestamp"] == "wall"


def test_a_wrong_library_is_named(a_world: World) -> None:
    with (
        pytest.raises(ValueError, match="'freezegun' or 'time-machine', not 'freezer'"),
        a_world.freeze(using="freezer"),  # type: ignore[arg-type]  # the same
    ):
        pass


def test_freezing_imports_nothing_of_the_simulator() -> None:
    program = (
        "import sys, freezegun, simulator, simulator.testing\n"
        "before = set(sys.modules)\n"
        "with freezegun.freeze_time('2026-01-05'): pass\n"
        "print(*sorted(name for name in set(sys.modules) - before if name.startswith('simulator')))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert done.stdout.split() == []


def test_a_world_in_process_works_where_time_is_frozen_before_it_begins() -> None:
    program = (
        "import freezegun\n"
        "with freezegun.freeze_time('2026-03-01 12:00'):\n"
        "    from simulator.testing import world, receiver\n"
        "    with world(in_process=True) as w, receiver(w) as webhooks:\n"
        "        w.trigger('recurring_payment.activated')\n"
        "        print(webhooks.wait_for('recurring_payment.activated').genuine)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60)

    assert (done.stdout, done.returncode) == ("True\n", 0), done.stderr


def test_receivers_survive_the_end_of_a_freeze(a_world: World) -> None:
    webhooks = Receiver(a_world)
    with a_world.freeze():
        a_world.act("emit", type=EVENT)
        a_world.settle()
    a_world.act("emit", type=EVENT)
    a_world.settle()
    webhooks.close()

    assert [delivery.genuine for delivery in webhooks.received] == [True, True]
