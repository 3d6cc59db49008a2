"""Advancing the clock: horizon, cancellation, and receivers that advance it themselves."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Event
from typing import Any

import pytest

from simulator.engine.webhooks.courier.courier import wall_clock_ms
from simulator.kernel.clock import parse_timestamp
from tests.remote import Answer, Remote, new_client
from tests.service.http.busy import recurring
from tests.service.http.test_clock_and_webhooks import Receiver, onramp, register

NEVER = {"until": {"event": "kyc.rejected"}}


@contextmanager
def beside(world: Remote) -> Iterator[Remote]:
    """The same world over another connection."""
    with new_client() as client:
        yield Remote(world.origin, client, world.world)


def endless(world: Remote) -> Remote:
    """A world in which a timer is due every day, forever."""
    assert world.act("set_balance", symbol="USDC", network="STELLAR", amount="1000000000").status == 200
    recurring(world, {"type": "never"})
    return world


# --- until --------------------------------------------------------------------------------------------------------


def test_until_that_never_comes_is_409_with_a_receipt(world: Remote) -> None:
    onramp(world)
    answer = world.control("POST", "/clock/advance", NEVER)
    assert (answer.status, answer.code) == (409, "not_reached")
    receipt = answer.body["error"]["receipt"]
    assert (receipt["now"], receipt["fired"], receipt["reached"]) == ("2026-01-05T08:30:00.000Z", 1, False)
    assert "nothing more is scheduled while waiting for the event kyc.rejected" in receipt["stopped"]
    assert world.control("GET", "/clock").body["now"] == receipt["now"], "what was done stays done"


def test_what_never_comes_may_be_taken_for_an_answer(world: Remote) -> None:
    onramp(world)
    receipt = world.advance(**NEVER, partial=True)
    assert (receipt["now"], receipt["fired"], receipt["reached"]) == ("2026-01-05T08:30:00.000Z", 1, False)


def test_until_event_counts_earlier_events_only_with_an_object_id(world: Remote) -> None:
    mine = onramp(world)["id"]
    created = {"event": "transaction.created"}
    receipt = world.advance(until={**created, "object_id": mine})
    assert (receipt["reached"], receipt["fired"]) == (True, 0)
    assert world.control("POST", "/clock/advance", {"until": created}).code == "not_reached"


def test_waiting_looks_ten_years_ahead_and_no_further(world: Remote) -> None:
    receipt = endless(world).advance(**NEVER, partial=True)
    assert receipt["now"][:4] in ("2035", "2036")
    assert "3652d passed (the horizon)" in receipt["stopped"]


def test_waiting_searches_up_to_the_given_limit(world: Remote) -> None:
    receipt = endless(world).advance(**NEVER, partial=True, horizon="3d")
    assert receipt["now"][:10] in ("2026-01-07", "2026-01-08")
    assert receipt["reached"] is False


# --- calling off --------------------------------------------------------------------------------------------------


def test_cancelled_advance_returns_a_receipt_to_both_callers(world: Remote) -> None:
    endless(world)
    with beside(world) as other, ThreadPoolExecutor(1) as pool:
        advancing = pool.submit(world.control, "POST", "/clock/advance", {**NEVER, "horizon": "400000d"})
        while (called_off := other.control("DELETE", "/clock/advance")).status == 409:
            assert called_off.code == "invalid_state"
        refused = advancing.result(10)
    assert (called_off.status, called_off.body["cancelled"], called_off.body["reached"]) == (200, True, False)
    assert (refused.status, refused.code) == (409, "advance_cancelled")
    receipt = refused.body["error"]["receipt"]
    assert receipt == {name: value for name, value in called_off.body.items() if name != "cancelled"}
    assert world.control("GET", "/clock").body["now"] == receipt["now"]


def test_cancelling_without_an_advance_is_invalid_state(world: Remote) -> None:
    assert world.control("DELETE", "/clock/advance").refusal == (409, "invalid_state", None)


def test_an_advance_ends_when_its_caller_has_gone(world: Remote) -> None:
    endless(world)
    host, _, port = world.origin.removeprefix("http://").partition(":")
    body = b'{"until": {"event": "kyc.rejected"}, "horizon": "2000000d"}'
    head = f"POST /_simulator/clock/advance HTTP/1.1\r\nHost: {host}\r\nX-Simulator-World: {world.world['id']}\r\n"
    with socket.create_connection((host, int(port))) as connection:
        connection.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        while world.control("POST", "/clock/advance", {"by": 0}).status == 200:
            pass
    ends = time.monotonic() + 10
    while world.control("POST", "/clock/advance", {"by": 0}).status == 409:
        assert time.monotonic() < ends, "the advance goes on without its caller"


def test_a_wait_for_a_receiver_is_cancelled_too(world: Remote) -> None:
    entered, leave = Event(), Event()

    def hang(_: Any) -> int:
        entered.set()
        leave.wait(9)
        return 200

    with Receiver(hang).listening() as receiver, beside(world) as other, ThreadPoolExecutor(1) as pool:
        register(world, receiver.url, "transaction.expired")
        onramp(world)
        advancing = pool.submit(world.control, "POST", "/clock/advance", {"by": "1h"})
        assert entered.wait(10)
        assert other.control("DELETE", "/clock/advance").body["now"] == "2026-01-05T08:30:00.000Z"
        assert advancing.result(5).code == "advance_cancelled"
        leave.set()


def test_long_advance_does_not_delay_other_worlds(world: Remote, autopilot_world: Remote) -> None:
    endless(world)
    waits: list[float] = []
    with beside(world) as other, ThreadPoolExecutor(1) as pool:
        advancing = pool.submit(other.control, "POST", "/clock/advance", {**NEVER, "horizon": "2000000d"})
        asks: tuple[Callable[[], Answer], ...] = (
            lambda: autopilot_world.api("GET", "/fees"),
            lambda: world.control("GET", "/clock"),
        )
        for _ in range(30):
            for ask in asks:
                began = time.monotonic()
                assert ask().status == 200
                waits.append(time.monotonic() - began)
        assert world.control("DELETE", "/clock/advance").status == 200
        assert advancing.result(10).code == "advance_cancelled"
    assert sorted(waits)[len(waits) // 2] < 0.1, "the bound is 50 ms; the machine of a test may be slower"


# --- receivers ----------------------------------------------------------------------------------------------------

BY_RECEIVER = [
    ("POST", "/clock/advance", {"by": "1s"}),
    ("POST", "/clock/advance", {"to_next_timer": True}),
    ("PUT", "/clock", {"now": "2026-01-06T00:00:00Z"}),
    ("POST", "/settle", None),
    ("POST", "/snapshots", {}),
    ("GET", "/state", None),
]


@pytest.mark.parametrize(("method", "path", "body"), BY_RECEIVER)
def test_receiver_waiting_for_its_own_delivery_gets_clock_busy(
    world: Remote, method: str, path: str, body: Any
) -> None:
    seen: list[tuple[int, str, str]] = []

    def call_back(_: Any) -> int:
        with beside(world) as other:
            answer = other.control(method, path, body)
            seen.append((answer.status, answer.code, answer.body["error"]["message"]))
        return 200

    with Receiver(call_back).listening() as receiver:
        register(world, receiver.url, "transaction.created")
        began = time.monotonic()
        onramp(world)
        assert world.control("POST", "/settle?wait=true").status == 200
        assert time.monotonic() - began < 5
        assert [(status, code) for status, code, _ in seen] == [(409, "clock_busy")]
        assert receiver.url in seen[0][2]
        (delivery,) = world.control("GET", "/deliveries").body["data"]
        assert (delivery["status"], delivery["response_status"]) == ("succeeded", 200)


def test_a_receiver_that_answers_soon_is_waited_for(world: Remote) -> None:
    with Receiver(lambda _: 200).listening() as receiver:
        register(world, receiver.url, "transaction.created")
        onramp(world)
        answer = world.control("POST", "/clock/advance", {"by": "1s"})
        assert (answer.status, answer.body["deliveries"]) == (200, 1)


def test_slow_receiver_is_awaited_with_wait_true(world: Remote) -> None:
    leave = Event()

    def slow(_: Any) -> int:
        leave.wait(9)
        return 200

    with Receiver(slow).listening() as receiver, beside(world) as other, ThreadPoolExecutor(1) as pool:
        register(world, receiver.url, "transaction.created")
        onramp(world)
        assert other.control("POST", "/clock/advance", {"by": "1s"}).code == "clock_busy"
        advancing = pool.submit(world.control, "POST", "/clock/advance?wait=true", {"by": "1s"})
        leave.set()
        assert advancing.result(10).body["deliveries"] == 1


def test_non_boolean_wait_is_refused_before_any_change(world: Remote) -> None:
    onramp(world)
    event = world.control("GET", "/events").body["data"][0]["id"]
    before = world.event_types()
    for path in ("/settle", f"/events/{event}/resend", "/snapshots"):
        assert world.control("POST", f"{path}?wait=long", {}).refusal == (400, "invalid_parameter", "wait")
    walk = world.control("POST", "/trigger?wait=1", {"event": "quote.expired"})
    assert walk.refusal == (400, "invalid_parameter", "wait")
    assert world.event_types() == before


@pytest.mark.parametrize("hold", [True, False])
def test_next_timer_does_not_depend_on_receiver_speed(world: Remote, hold: bool) -> None:
    leave = Event()

    def refuse(_: Any) -> int:
        if hold:
            leave.wait(9)
        return 500

    with Receiver(refuse).listening() as receiver, ThreadPoolExecutor(1) as pool:
        register(world, receiver.url, "transaction.created")
        onramp(world)
        advancing = pool.submit(world.advance, to_next_timer=True)
        with beside(world) as other:
            while hold and other.control("POST", "/snapshots", {}).code != "clock_busy":
                pass
        leave.set()
        assert advancing.result(10)["now"] == "2026-01-05T08:01:00.000Z", "the retry comes before the deadline"


# --- what is always possible --------------------------------------------------------------------------------------


def test_reset_and_empty_scenarios_fire_no_due_timers(world: Remote) -> None:
    onramp(world)
    world.control("PUT", "/clock", {"mode": "scaled", "rate": 1_000_000})
    assert world.control("PUT", "/scenarios/active", {"names": []}).status == 200
    again = world.control("POST", "/reset")
    assert (again.status, again.body["clock"]["timers"]) == (200, 0)
    assert world.event_types() == []


def reset(world: Remote) -> int:
    again = world.control("POST", "/reset").body
    return parse_timestamp(again["clock"]["now"])


@pytest.mark.parametrize("mode", ["manual", "scaled"])
def test_a_world_is_reset_to_its_start(world: Remote, mode: str) -> None:
    clock = {"mode": mode, "now": "2026-03-01T00:00:00Z", "rate": 0.001}
    other = world.another(clock=clock)
    other.advance(by="20m")
    assert reset(other) - parse_timestamp("2026-03-01T00:00:00Z") < 1_000


def test_a_real_clock_stays_real_when_it_is_reset(world: Remote) -> None:
    other = world.another(clock={"mode": "real"})
    other.advance(by="20m")
    assert abs(reset(other) - wall_clock_ms()) < 60_000


def test_a_real_clock_that_was_given_a_start_goes_back_to_it(world: Remote) -> None:
    other = world.another(clock={"mode": "real", "now": "2030-01-01T00:00:00Z"})
    other.advance(by="20m")
    assert reset(other) - parse_timestamp("2030-01-01T00:00:00Z") < 60_000


def test_a_clock_at_its_end_says_so(world: Remote) -> None:
    other = world.another(clock={"mode": "scaled", "now": "9998-12-31T23:59:00Z", "rate": 1_000_000})
    while (clock := other.control("GET", "/clock").body)["now"] != "9998-12-31T23:59:59.999Z":
        assert "ended" not in clock
    assert "end of the year 9998" in clock["ended"]
    assert other.control("POST", "/clock/advance", {"by": "1s"}).refusal == (400, "invalid_parameter", "by")
