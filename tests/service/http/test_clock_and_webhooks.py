"""The clock together with webhooks: exact times, real receivers, a receiver that calls the API."""

from __future__ import annotations

import hashlib
import hmac
import http.server
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest

from tests.remote import TLS, Remote, new_client
from tests.support import CELO, QUOTE

DELAYS_MINUTES = [0, 1, 6, 36, 156, 516, 1236, 1956, 2676, 3396, 4116]


class Receiver:
    """A webhook receiver in a thread: keeps what it gets, answers what `answer` says (200 to the registration)."""

    def __init__(self, answer: Callable[[dict[str, Any]], int] = lambda event: 200) -> None:
        self.got: list[tuple[dict[str, str], bytes]] = []
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                receiver.got.append(({name.lower(): value for name, value in self.headers.items()}, body))
                event = json.loads(body)
                self.send_response(200 if event["type"] == "webhook.test" else answer(event))
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/hook"
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    @contextmanager
    def listening(self) -> Iterator[Receiver]:
        self._thread.start()
        try:
            yield self
        finally:
            self._server.shutdown()
            self._server.server_close()

    @property
    def types(self) -> list[str]:
        return [json.loads(body)["type"] for _, body in self.got]


def onramp(world: Remote) -> Any:
    quote = world.api("POST", "/quotes", json=QUOTE).body["id"]
    body = {"wallet_address": CELO, "payer": {"phone_number": "+254712345678"}}
    return world.api("POST", f"/quotes/{quote}/confirm", json=body).body


def register(world: Remote, url: str, *events: str) -> Any:
    answer = world.api("POST", "/webhooks", json={"url": url, "events": list(events or ("*",))})
    assert answer.status == 201, answer.body
    return answer.body


def test_every_signature_verifies_over_the_raw_body(world: Remote) -> None:
    with Receiver().listening() as receiver:
        register(world, receiver.url)
        onramp(world)
        world.control("POST", "/settle")
        assert receiver.types == ["webhook.test", "transaction.created", "transaction.awaiting_payment"]
        key = world.world["credentials"]["sandbox"]["webhook_key"].encode()
        for headers, body in receiver.got:
            signed = headers["x-timestamp"].encode() + b"." + body
            assert hmac.compare_digest(hmac.new(key, signed, hashlib.sha256).hexdigest(), headers["x-signature"])


def test_an_unpaid_onramp_expires_at_exactly_its_deadline(world: Remote) -> None:
    ramp = onramp(world)
    receipt = world.advance(by="3d")
    expired = world.control("GET", "/events", params={"type": "transaction.expired"}).body["data"]
    assert [event["created_at"] for event in expired] == ["2026-01-05T08:30:00.000Z"]
    assert receipt == {
        "from": "2026-01-05T08:00:00.000Z",
        "now": "2026-01-08T08:00:00.000Z",
        "fired": 1,
        "events": [expired[0]["id"]],
        "deliveries": 0,
        "reached": True,
    }
    assert expired[0]["data"]["object"]["id"] == ramp["id"]


def test_a_dead_receiver_gets_eleven_attempts_at_exactly_the_scheduled_instants(world: Remote) -> None:
    with Receiver(lambda event: 500).listening() as receiver:
        endpoint = register(world, receiver.url, "transaction.created")
        onramp(world)
        receipt = world.advance(by="3d")
        assert receipt["deliveries"] == 11
        deliveries = world.control("GET", "/deliveries").body["data"]
        start = 8 * 60
        minutes = [
            (int(row["attempted_at"][8:10]) - 5) * 1440
            + int(row["attempted_at"][11:13]) * 60
            + int(row["attempted_at"][14:16])
            - start
            for row in deliveries
        ]
        assert minutes == DELAYS_MINUTES
        assert {row["attempted_at"][16:] for row in deliveries} == {":00.000Z"}
        assert [row["attempt"] for row in deliveries] == list(range(1, 12))
        assert deliveries[-1]["next_attempt_at"] is None
        assert len({body for _, body in receiver.got[1:]}) == 1
        world.tokens.clear()
        assert world.api("GET", f"/webhooks/{endpoint['id']}").body["status"] == "disabled"
        emails = world.control("GET", "/emails").body["data"]
        assert [set(email) for email in emails] == [{"id", "at", "to", "subject", "body"}]


def test_a_receiver_that_recovers_is_served_by_the_retry(world: Remote) -> None:
    statuses = iter([500, 200])
    with Receiver(lambda event: next(statuses)).listening() as receiver:
        register(world, receiver.url, "transaction.created")
        onramp(world)
        world.advance(by="2m")
        rows = world.control("GET", "/deliveries").body["data"]
        assert [(row["status"], row["response_status"]) for row in rows] == [("failed", 500), ("succeeded", 200)]
        assert rows[0]["next_attempt_at"] == rows[1]["attempted_at"] == "2026-01-05T08:01:00.000Z"


def test_a_receiver_that_calls_back_during_an_advance_is_served(world: Remote) -> None:
    seen: list[int] = []
    token = world.token()

    def call_back(event: dict[str, Any]) -> int:
        transaction = event["data"]["object"]["id"]
        headers = {"Authorization": f"Bearer {token}"}
        answer = httpx.get(f"{world.base()}/transactions/{transaction}", headers=headers, trust_env=False, verify=TLS)
        busy = httpx.post(
            f"{world.origin}/_simulator/clock/advance",
            json={"by": "1s"},
            headers={"X-Simulator-World": world.world["id"]},
            trust_env=False,
            verify=TLS,
        )
        seen.extend([answer.status_code, busy.status_code])
        return 200

    with Receiver(call_back).listening() as receiver:
        register(world, receiver.url, "transaction.expired")
        onramp(world)
        receipt = world.advance(by="1h")
        assert receipt["deliveries"] == 1
        assert seen == [200, 409]


def test_waiting_for_an_event_ends_as_soon_as_it_is_there(world: Remote) -> None:
    found: list[Any] = []

    def wait() -> None:
        query = {"type": "transaction.processing", "timeout": "20"}
        with new_client() as client:
            headers = {"X-Simulator-World": world.world["id"]}
            found.append(client.get(f"{world.origin}/_simulator/events/wait", params=query, headers=headers).json())

    ramp = onramp(world)
    waiter = threading.Thread(target=wait)
    waiter.start()
    world.act("payment_arrives", ramp["id"])
    waiter.join(20)
    assert found[0]["data"]["object"]["id"] == ramp["id"]
    timed_out = world.control("GET", "/events/wait", params={"type": "kyc.approved", "timeout": "0"})
    assert timed_out.status == 408


@pytest.mark.parametrize(
    ("how", "param"),
    [
        ({"by": "P1M"}, "by"),
        ({"by": "-1s"}, "by"),
        ({"by": ""}, "by"),
        ({"by": True}, "by"),
        ({"by": -5}, "by"),
        ({"by": "9000000d"}, "by"),
        ({"to": "2025-01-01T00:00:00Z"}, "to"),
        ({"to": "tomorrow"}, "to"),
        ({"to": "+09999-01-01T00:00:00Z"}, "to"),
        ({"to_next_timer": False}, "to_next_timer"),
        ({"by": "1s", "to": "2027-01-01T00:00:00Z"}, "to"),
        ({"until": {"event": "no.such"}}, "until.event"),
        ({"until": 5}, "until"),
        ({"until": {"event": "kyc.approved"}, "horizon": "P1Y"}, "horizon"),
        ({"until": {"event": "kyc.approved"}, "partial": "yes"}, "partial"),
        ({"by": "1s", "horizon": "1d"}, "horizon"),
        ({"by": "1s", "wait": True}, "wait"),
        ({"by": "1s", "patial": True}, "patial"),
    ],
)
def test_a_wrong_advance_is_refused_and_moves_nothing(world: Remote, how: dict[str, Any], param: str) -> None:
    answer = world.control("POST", "/clock/advance", how)
    assert answer.refusal == (400, "invalid_parameter", param)
    assert world.control("GET", "/clock").body["now"] == "2026-01-05T08:00:00.000Z"


@pytest.mark.parametrize(
    ("by", "now"),
    [
        ("500ms", "08:00:00.500"),
        ("2h30m", "10:30:00.000"),
        ("PT90S", "08:01:30.000"),
        ("P1DT1S", "08:00:01.000"),
        (1.5, "08:00:01.500"),
        (0, "08:00:00.000"),
    ],
)
def test_the_ways_of_writing_a_span(world: Remote, by: Any, now: str) -> None:
    assert world.advance(by=by)["now"][11:23] == now


def test_moving_to_the_next_timer_and_until_a_status(world: Remote) -> None:
    assert world.advance(to_next_timer=True)["now"] == "2026-01-05T08:00:00.000Z"
    ramp = onramp(world)
    timers = world.control("GET", "/timers").body["data"]
    assert [(row["due_at"], row["target"]) for row in timers] == [("2026-01-05T08:30:00.000Z", ramp["id"])]
    receipt = world.advance(until={"resource": ramp["id"], "status": "expired"})
    assert (receipt["now"], receipt["reached"]) == ("2026-01-05T08:30:00.000Z", True)
    typo = world.control("POST", "/clock/advance", {"until": {"resource": ramp["id"], "status": "compleated"}})
    assert typo.refusal == (400, "invalid_parameter", "until.status")


def test_the_clock_can_be_set_ahead_and_never_back(world: Remote) -> None:
    onramp(world)
    moved = world.control("PUT", "/clock", {"now": "2026-01-05T09:00:00Z"})
    assert (moved.body["now"], moved.body["timers"]) == ("2026-01-05T09:00:00.000Z", 0)
    assert world.event_types()[-1] == "transaction.expired"
    back = world.control("PUT", "/clock", {"now": "2026-01-05T08:00:00Z"})
    assert back.refusal == (400, "invalid_parameter", "now")
    assert world.control("PUT", "/clock", {"mode": "warp"}).refusal == (400, "invalid_parameter", "mode")
    assert world.control("PUT", "/clock", {"rate": 0}).refusal == (400, "invalid_parameter", "rate")


def test_a_scaled_clock_fires_its_timers_by_itself(world: Remote) -> None:
    onramp(world)
    world.control("PUT", "/clock", {"mode": "scaled", "rate": 100_000})
    event = world.control("GET", "/events/wait", params={"type": "transaction.expired", "timeout": "20"})
    assert event.body["created_at"] == "2026-01-05T08:30:00.000Z"
    assert world.control("PUT", "/clock", {"mode": "manual"}).body["mode"] == "manual"


def test_under_the_autopilot_an_onramp_completes_by_itself(autopilot_world: Remote) -> None:
    ramp = onramp(autopilot_world)
    receipt = autopilot_world.advance(until={"resource": ramp["id"], "status": "completed"})
    assert receipt["reached"] is True
    assert autopilot_world.event_types(object_id=ramp["id"]) == [
        "transaction.created",
        "transaction.awaiting_payment",
        "transaction.processing",
        "transaction.completed",
    ]


def test_a_slow_delivery_takes_wall_time_and_no_simulated_time(world: Remote) -> None:
    with Receiver().listening() as receiver:
        register(world, receiver.url, "transaction.created")
        fault = {"webhook": {}, "deliver": {"slow": "300ms"}}
        assert world.control("POST", "/faults", fault).status == 201
        began = time.monotonic()
        onramp(world)
        assert world.control("POST", "/settle").body == {"deliveries": 1}
        assert time.monotonic() - began > 0.2
        delivery = world.control("GET", "/deliveries").body["data"][0]
        assert (delivery["status"], delivery["attempted_at"]) == ("succeeded", "2026-01-05T08:00:00.000Z")
    wrong = world.control("POST", "/faults", {"webhook": {}, "deliver": {"slow": "soon"}})
    assert wrong.refusal == (400, "invalid_parameter", "deliver.slow")


def test_the_webhook_keys_are_shown_and_replaced(world: Remote) -> None:
    """Decision W1: one per environment, shown by the control interface; the action replaces that of one."""
    before = world.world["credentials"]
    made = world.act("rotate_webhook_key", environment="production").body["resource"]["webhook_key"]
    after = world.control("GET", f"/worlds/{world.world['id']}").body["credentials"]
    assert after["production"] == before["production"] | {"webhook_key": made}
    assert made != before["production"]["webhook_key"]
    assert after["sandbox"] == before["sandbox"]
