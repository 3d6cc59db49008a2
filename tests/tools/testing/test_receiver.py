"""The webhook receiver: deliveries, their signatures, and responses."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator
from typing import Any

import httpx
import hypothesis
import pytest
from hypothesis import strategies as st

from simulator.service import SIGNATURE
from simulator.testing import Receiver, SimulatorError, World, receiver, world

DONE = "transaction.completed"


@pytest.fixture
def webhooks(kit: World) -> Iterator[Receiver]:
    with receiver(kit) as made:
        yield made


def statuses(kit: World) -> list[int | None]:
    """Return the response status of each attempt so far, in order."""
    return [row["response_status"] for row in kit.deliveries()]


def test_keeps_what_comes_with_headers_bytes_and_verdict(kit: World, webhooks: Receiver) -> None:
    kit.trigger(DONE)

    delivery = webhooks.wait_for(DONE)
    kit.settle()

    assert delivery.event == kit.event(DONE)
    assert json.loads(delivery.body) == delivery.event
    assert delivery.headers["x-signature"] == delivery.headers["X-Signature"]
    assert delivery.genuine
    assert delivery.status == 200
    (sent,) = [row for row in kit.deliveries() if row["event_type"] == DONE]
    assert sent["request_body"] == delivery.body.decode()
    assert delivery == delivery.event


def test_it_does_not_show_its_own_registration(webhooks: Receiver) -> None:
    assert webhooks.received == []


def test_gives_no_reason_for_advice(kit: World) -> None:
    for _ in range(2):
        with receiver(kit):
            pass

    assert kit.advice() == []


def test_requests_in_progress_are_answered_before_it_stops(kit: World) -> None:
    with receiver(kit) as webhooks:
        webhooks.respond(200, delay="50ms")
        kit.act("emit", type="beneficiary.created")

    assert statuses(kit) == [200]
    assert kit.advice() == []


def test_it_shows_the_identity(kit: World, webhooks: Receiver) -> None:
    assert repr(webhooks) == f"<Receiver of {kit.id} at {webhooks.url}>"


def test_waits_for_one_object(kit: World, webhooks: Receiver) -> None:
    kit.trigger(DONE)
    kit.trigger(DONE)
    first, second = (event["data"]["object"]["id"] for event in kit.events(DONE))

    assert webhooks.wait_for(DONE, second)["data"]["object"]["id"] == second
    assert [event["data"]["object"]["id"] for event in webhooks.events(DONE)] == [first, second]
    assert [event["type"] for event in webhooks.events(object_id=first)][-1] == DONE


def test_answers_so_often_and_then_as_before(kit: World, webhooks: Receiver) -> None:
    webhooks.respond(500, times=2)
    webhooks.respond(503, times=1)

    kit.act("emit", type="beneficiary.created")
    kit.advance("1h")

    assert statuses(kit) == [500, 500, 503, 200]
    assert len(webhooks.events("beneficiary.created")) == 4


def test_answers_one_status_from_now_on(kit: World, webhooks: Receiver) -> None:
    webhooks.respond(500, times=9)
    webhooks.respond(204)

    kit.act("emit", type="beneficiary.created")
    kit.settle()

    assert statuses(kit) == [204]


def test_answers_by_a_function(kit: World, webhooks: Receiver) -> None:
    webhooks.respond_with(lambda delivery: (409, {"X-Why": delivery["type"]}, "not now"))

    kit.act("emit", type="beneficiary.created")
    kit.settle()

    (row,) = kit.deliveries()
    assert (row["response_status"], row["response_body"]) == (409, "not now")
    assert row["response_headers"] is not None
    assert row["response_headers"]["X-Why"] == "beneficiary.created"


def test_a_handler_that_waits_for_itself_is_refused_and_responds(kit: World, webhooks: Receiver) -> None:
    refused: list[str | None] = []

    def handle(_delivery: object) -> int:
        try:
            kit.settle()
        except SimulatorError as error:
            refused.append(error.code)
        return 202

    webhooks.respond_with(handle)
    kit.act("emit", type=DONE)
    kit.settle()

    assert refused == ["clock_busy"]
    assert statuses(kit) == [202]


def test_knows_the_key_after_it_was_rotated(kit: World, webhooks: Receiver) -> None:
    kit.act("emit", type="beneficiary.created")
    kit.settle()
    kit.act("rotate_webhook_key")
    kit.act("emit", type="beneficiary.created")
    kit.settle()

    assert [delivery.genuine for delivery in webhooks.received] == [True, True]


@pytest.mark.parametrize("wrong", [{"corrupt_signature": True}, {"stale_timestamp": True}])
def test_it_reports_forged_messages(kit: World, webhooks: Receiver, wrong: dict[str, Any]) -> None:
    with kit.fault(webhook={}, deliver=wrong):
        kit.act("emit", type="beneficiary.created")
        kit.settle()

    assert [delivery.genuine for delivery in webhooks.received] == [False]


def test_it_reports_the_events_that_arrived_instead(kit: World, webhooks: Receiver) -> None:
    kit.trigger("transaction.awaiting_payment")
    kit.settle()

    with pytest.raises(AssertionError) as failure:
        webhooks.wait_for(DONE, timeout=0.01)

    text = str(failure.value)
    assert text.startswith(
        f"No {DONE} arrived within 0.01 seconds.\nDeliveries received, in order:\n  transaction.created of "
    )
    assert "The world has not emitted it." in text
    assert "Move it with world.advance(...)" in text


def test_it_reports_the_outcome_of_an_attempt(kit: World, webhooks: Receiver) -> None:
    with kit.fault(webhook={}, deliver={"delay": "10m"}):
        kit.act("emit", type="beneficiary.created")

    with pytest.raises(AssertionError, match=r"The world has emitted it \(evt_.*\n.*a fault holds the delivery back"):
        webhooks.wait_for("beneficiary.created", timeout=0.01)


def test_says_when_it_is_tried_again(kit: World, webhooks: Receiver) -> None:
    webhooks.respond(500)
    with receiver(kit, events=["transaction.created"]) as other:
        kit.act("emit", type="beneficiary.created")
        kit.settle()
        with pytest.raises(AssertionError, match=r"It was not sent to this receiver: .* not subscribed"):
            other.wait_for("beneficiary.created", timeout=0.01)
    webhooks.received.clear()

    with pytest.raises(
        AssertionError, match=r"8:00:00\.000Z: 500; the next is due at 2026-01-05T08:01:00\.000Z\.\n.*move"
    ):
        webhooks.wait_for("beneficiary.created", timeout=0.01)


def test_it_reports_a_missing_event(webhooks: Receiver) -> None:
    with pytest.raises(AssertionError, match=r"did you mean `transaction\.completed`"):
        webhooks.wait_for("onramp.completed", timeout=0.01)


def test_a_resource_is_named_by_itself_too(kit: World, webhooks: Receiver) -> None:
    kit.trigger(DONE)
    transaction = kit.event(DONE)["data"]["object"]

    assert webhooks.wait_for(DONE, transaction)["data"]["object"] == transaction
    assert webhooks.events(DONE, transaction) == [webhooks.received[-1].event]


def test_judges_by_the_clock_that_the_world_stamps_by(kit: World, webhooks: Receiver) -> None:
    kit.control("PATCH", "/settings", {"webhook_timestamp": "simulated"})
    kit.act("emit", type="beneficiary.created")
    kit.advance("3d")
    kit.act("emit", type="beneficiary.created")
    kit.settle()
    with kit.fault(webhook={}, deliver={"stale_timestamp": True}):
        kit.act("emit", type="beneficiary.created")
        kit.settle()
    kit.control("PATCH", "/settings", {"webhook_timestamp": "wall"})
    kit.act("emit", type="beneficiary.created")
    kit.settle()

    assert [delivery.genuine for delivery in webhooks.received] == [True, True, False, True]


def test_may_leave_its_registration_to_the_test(kit: World) -> None:
    with receiver(kit, events=None) as webhooks:
        assert kit.client.get("/webhooks").json()["data"] == []
        webhooks.respond(500, times=1)
        body = {"url": webhooks.url, "events": ["beneficiary.created"]}
        assert kit.client.post("/webhooks", json=body).status_code == 422
        assert kit.client.post("/webhooks", json=body).status_code == 201
        assert [str(delivery) for delivery in webhooks.received] == [
            f"webhook.test of {delivery['data']['object']['id']}, answered {delivery.status}"
            for delivery in webhooks.received
        ]
    assert len(kit.client.get("/webhooks").json()["data"]) == 1


@pytest.mark.parametrize("wrong", [{"status": 99}, {"status": "500"}, {"status": 200, "times": 0}])
def test_an_impossible_query_is_refused(webhooks: Receiver, wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="respond: "):
        webhooks.respond(**wrong)


def test_belongs_to_the_environment_that_is_named(kit: World) -> None:
    with receiver(kit, events=["beneficiary.created"], environment="production") as production:
        kit.act("emit", type="beneficiary.created", environment="production")
        kit.act("emit", type="beneficiary.created")

        assert production.wait_for("beneficiary.created").genuine
        kit.settle()
        assert len(production.received) == 1


def test_is_gone_from_the_world_afterwards(kit: World) -> None:
    with receiver(kit):
        pass

    assert kit.client.get("/webhooks").json()["data"] == []


def test_says_why_it_cannot_register(kit: World) -> None:
    with kit.fault({"path": "/webhooks"}, respond={"status": 503, "code": "service_unavailable"}):
        with pytest.raises(SimulatorError, match=r"could not register itself: .* If a fault is in force") as why:
            Receiver(kit)
        assert why.value.code == "service_unavailable"

    kit.control("PATCH", "/settings", {"webhook_urls": "public"})
    with pytest.raises(SimulatorError, match=r"only https is allowed.* Can the simulator reach it\?"):
        Receiver(kit)


@hypothesis.settings(max_examples=30)
@hypothesis.given(st.lists(st.binary(max_size=300)))
def test_keeps_every_byte_however_it_comes(over_http: Receiver, http: httpx.Client, chunks: list[bytes]) -> None:
    over_http.received.clear()

    assert http.post(over_http.url, content=iter(chunks)).status_code == 200
    assert [delivery.body for delivery in over_http.received] == [b"".join(chunks)]
    assert not over_http.received[0].genuine


@pytest.fixture(scope="module")
def over_http() -> Iterator[Receiver]:
    with world(seed=7) as made, receiver(made, events=None) as webhooks:
        yield webhooks


def test_bytes_that_are_not_http_get_a_response(over_http: Receiver) -> None:
    address = httpx.URL(over_http.url)
    with socket.create_connection((address.host, address.port or 80)) as connection:
        connection.sendall(b"hello?\r\n\r\n")
        assert connection.recv(100).startswith(b"HTTP/1.1 400 Bad Request\r\n")


def test_takes_what_a_test_posts_itself() -> None:
    with world(seed=7) as over_http, receiver(over_http) as webhooks:
        body = b'{"type": "mine", "data": {"object": {"id": "x"}}}'
        stamp = time.time_ns() // 1_000_000
        signature = SIGNATURE.sign(over_http.keys.webhook_key, str(stamp), body)

        answer = httpx.post(webhooks.url, content=body, headers={"X-Timestamp": f"{stamp}", "X-Signature": signature})

        assert answer.status_code == 200
        assert webhooks.wait_for("mine", "x").genuine
        assert httpx.get(webhooks.url).status_code == 405
