"""Faults that cost integrators money: retried calls, and events that are early, late, duplicated or lost."""

from __future__ import annotations

import hmac
import json
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx
import pytest

from tests.remote import Remote

DOWN = {"status": 503, "code": "service_unavailable"}
SEND = {"symbol": "USDC", "network": "CELO", "amount": "20", "destination": {"type": "platform_user",
        "email": "amina@example.test"}}  # fmt: skip


@dataclass
class Receiver:
    """What came, and what is to be done with it before it is answered 200."""

    url: str = ""
    came: list[dict[str, Any]] = field(default_factory=list)
    then: Callable[[dict[str, Any]], object] = lambda event: None

    @property
    def types(self) -> list[str]:
        return [event["type"] for event in self.came if event["type"] != "webhook.test"]


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    found = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            event = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            found.came.append(event)
            if event["type"] != "webhook.test":
                found.then(event)
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as listening:
        found.url = f"http://127.0.0.1:{listening.server_address[1]}/hooks"
        threading.Thread(target=listening.serve_forever, args=(0.01,), daemon=True).start()
        yield found
        listening.shutdown()


def register(world: Remote, receiver: Receiver) -> str:
    made = world.api("POST", "/webhooks", {"url": receiver.url, "events": ["*"]})
    assert made.status == 201, made.body
    identifier: str = made.body["id"]
    return identifier


def put(world: Remote, **fault: Any) -> str:
    made = world.control("POST", "/faults", fault)
    assert made.status == 201, made.body
    identifier: str = made.body["id"]
    return identifier


def hits(world: Remote) -> list[int]:
    return [row["hits"] for row in world.control("GET", "/faults").body["data"]]


def sends(world: Remote) -> int:
    total: int = world.api("GET", "/transactions", params={"type": "send"}).body["pagination"]["total"]
    return total


def test_the_first_calls_under_each_key_fail_and_the_next_succeeds(world: Remote) -> None:
    put(world, match={"path": "/wallet/send"}, first_per_key=2, respond=DOWN)
    for key in ("a", "b"):
        statuses = [world.api("POST", "/wallet/send", SEND, {"Idempotency-Key": key}).status for _ in range(3)]
        assert statuses == [503, 503, 201]
    assert world.api("POST", "/wallet/send", SEND).status == 201, "a call without a key is let through"
    assert (hits(world), sends(world)) == ([4], 3)


def test_the_first_responses_under_a_key_can_be_lost(world: Remote) -> None:
    put(world, match={"path": "/wallet/send"}, first_per_key=1, after_commit=True, drop=True)
    with pytest.raises(httpx.RemoteProtocolError):
        world.api("POST", "/wallet/send", SEND, {"Idempotency-Key": "a"})
    assert world.api("POST", "/wallet/send", SEND, {"Idempotency-Key": "a"}).headers["Idempotent-Replayed"] == "true"
    assert sends(world) == 1


def test_an_answer_can_come_late_when_the_work_is_done(world: Remote) -> None:
    put(world, match={"path": "/wallet/send"}, answer_delay="10m", times=1)
    key = {"Idempotency-Key": "a"}
    with pytest.raises(httpx.ReadTimeout):
        world.api("POST", "/wallet/send", SEND, key, timeout=0.2)
    assert sends(world) == 1
    assert world.api("POST", "/wallet/send", SEND, key).headers["Idempotent-Replayed"] == "true"
    put(world, match={"path": "/wallet/send"}, answer_delay="1ms")
    assert world.api("POST", "/wallet/send", SEND).status == 201
    assert (hits(world), sends(world)) == ([1, 1], 2)


def test_a_snapshot_keeps_how_often_each_key_has_failed(world: Remote) -> None:
    put(world, match={"path": "/wallet/send"}, first_per_key=1, respond=DOWN)
    assert world.api("POST", "/wallet/send", SEND, {"Idempotency-Key": "a"}).status == 503
    state = world.control("GET", "/state").body
    assert world.api("POST", "/wallet/send", SEND, {"Idempotency-Key": "b"}).status == 503
    assert world.control("PUT", "/state", state).status == 200
    assert world.api("POST", "/wallet/send", SEND, {"Idempotency-Key": "a"}).status == 201
    assert world.api("POST", "/wallet/send", SEND, {"Idempotency-Key": "b"}).status == 503


def test_a_deleted_key_allows_the_call_to_be_processed_again(world: Remote) -> None:
    put(world, match={"path": "/wallet/send"}, key_forgotten=True, times=1)
    key = {"Idempotency-Key": "a"}
    first = world.api("POST", "/wallet/send", SEND, key)
    assert hits(world) == [0], "there was nothing to forget"
    second, third = (world.api("POST", "/wallet/send", SEND, key) for _ in range(2))
    assert (first.status, second.status, third.status) == (201, 201, 201)
    assert first.body["id"] != second.body["id"] == third.body["id"]
    assert "Idempotent-Replayed" not in second.headers
    assert (hits(world), sends(world)) == ([1], 2)


def test_events_of_a_call_are_delivered_before_its_answer(world: Remote, receiver: Receiver) -> None:
    register(world, receiver)
    seen: list[tuple[str, str]] = []
    put(world, webhook={"event": "transaction.completed"}, deliver={"before_answer": True})

    def look(event: dict[str, Any]) -> None:
        if event["type"] == "transaction.completed":
            asked = world.api("GET", f"/transactions/{event['data']['object']['id']}")
            seen.append((event["data"]["object"]["id"], asked.body["status"]))

    receiver.then = look
    sent = world.api("POST", "/wallet/send", SEND)
    assert seen == [(sent.body["id"], "completed")], "known before the answer came, and served meanwhile"
    assert sent.body["status"] == "processing"
    world.control("POST", "/settle")
    assert sorted(receiver.types) == ["transaction.completed", "transaction.processing"]
    assert hits(world) == [1]


def test_early_events_of_one_call_are_delivered_in_order(world: Remote, receiver: Receiver) -> None:
    """Each event is delivered when the one before it has its response, and all before the response to the call."""
    register(world, receiver)
    put(world, webhook={}, deliver={"before_answer": True})
    came: list[str] = []
    second = threading.Event()

    def handle(event: dict[str, Any]) -> None:
        came.append(event["type"])
        if len(came) == 1:
            assert not second.wait(0.2), "the second event did not wait"
        else:
            second.set()
        came.append("handled")

    receiver.then = handle
    world.api("POST", "/wallet/send", SEND)
    assert came == ["transaction.processing", "handled", "transaction.completed", "handled"]


def test_an_event_that_no_call_causes_has_no_answer_to_come_before(world: Remote, receiver: Receiver) -> None:
    register(world, receiver)
    put(world, webhook={}, deliver={"before_answer": True})
    world.control("POST", "/trigger", {"event": "kyc.approved"})
    world.control("POST", "/settle")
    assert (receiver.types, hits(world)) == (["kyc.approved"], [0])


def test_a_call_whose_event_goes_first_is_answered_when_its_world_ends(world: Remote, receiver: Receiver) -> None:
    register(world, receiver)
    asked, ended = threading.Event(), threading.Event()
    put(world, webhook={"event": "transaction.completed"}, deliver={"before_answer": True})

    def wait(_: dict[str, Any]) -> None:
        asked.set()
        ended.wait(20)

    receiver.then = wait
    with ThreadPoolExecutor(1) as beside:
        sent = beside.submit(world.api, "POST", "/wallet/send", SEND)
        assert asked.wait(20)
        assert world.control("DELETE", f"/worlds/{world.world['id']}").status == 204
        assert sent.result(20).status == 201
    ended.set()


def test_two_deliveries_of_one_event_are_under_way_at_once(world: Remote, receiver: Receiver) -> None:
    register(world, receiver)
    meeting = threading.Barrier(2)
    put(world, webhook={"event": "kyc.approved"}, deliver={"two_at_once": True})
    receiver.then = lambda event: meeting.wait(5)
    world.control("POST", "/trigger", {"event": "kyc.approved"})
    world.control("POST", "/settle")
    rows = world.control("GET", "/deliveries").body["data"]
    assert [(row["attempt"], row["status"]) for row in rows] == [(1, "succeeded"), (2, "succeeded")]
    assert receiver.came[-1]["id"] == receiver.came[-2]["id"]


def test_a_lost_acknowledgement_brings_the_event_again(world: Remote, receiver: Receiver) -> None:
    endpoint = register(world, receiver)
    put(world, webhook={"event": "kyc.approved"}, deliver={"acknowledgement_lost": True}, times=1)
    world.control("POST", "/trigger", {"event": "kyc.approved"})
    assert world.advance(by="2m")["deliveries"] == 2
    first, second = world.control("GET", "/deliveries", params={"endpoint_id": endpoint}).body["data"]
    assert (first["status"], first["response_status"], second["status"]) == ("failed", 200, "succeeded")
    assert "lost the acknowledgement" in first["error"]
    assert "webhook_not_acknowledged" not in [row["kind"] for row in world.control("GET", "/advice").body["data"]]


def test_a_late_event_comes_after_the_final_one(world: Remote, receiver: Receiver) -> None:
    register(world, receiver)
    put(world, webhook={"event": "transaction.processing"}, deliver={"hold": "terminal"})
    world.api("POST", "/wallet/send", SEND)
    world.control("POST", "/settle")
    assert receiver.types == ["transaction.completed", "transaction.processing"]


def test_held_events_survive_a_snapshot_and_a_document_and_go_with_the_fault(world: Remote, receiver: Receiver) -> None:
    register(world, receiver)
    fault = put(world, webhook={"event": "kyc.approved"}, deliver={"hold": 3, "extra_field": "more"})
    world.control("POST", "/trigger", {"event": "kyc.approved"})
    assert world.advance(by="1h")["deliveries"] == 0
    kept = world.control("POST", "/snapshots", {}).body["id"]
    assert world.control("POST", f"/snapshots/{kept}/restore", {}).status == 200
    assert world.control("PUT", "/state", world.control("GET", "/state").body).status == 200
    assert world.control("DELETE", f"/faults/{fault}").status == 204
    world.control("POST", "/settle")
    assert receiver.types == ["kyc.approved"]
    assert receiver.came[-1]["more"] == "something_new"


@pytest.mark.parametrize(
    ("fault", "param"),
    [
        ({"match": {}, "first_per_key": 0, "respond": DOWN}, "first_per_key"),
        ({"match": {}, "first_per_key": 2}, "respond"),
        ({"match": {"path": "/profile"}, "first_per_key": 2, "drop": True}, "first_per_key"),
        ({"match": {"method": "GET"}, "key_forgotten": True}, "key_forgotten"),
        ({"webhook": {}, "deliver": {"hold": 0}}, "deliver.hold"),
        ({"webhook": {}, "deliver": {"hold": "final"}}, "deliver.hold"),
        ({"webhook": {"event": "kyc.approved"}, "deliver": {"hold": "terminal"}}, "deliver.hold"),
        ({"webhook": {"event": "transaction.completed"}, "deliver": {"hold": "terminal"}}, "deliver.hold"),
        ({"webhook": {}, "deliver": {"hold": 2, "reorder": True}}, "deliver.hold"),
        ({"webhook": {}, "deliver": {"before_answer": True, "delay": "1m"}}, "deliver.delay"),
        ({"webhook": {}, "deliver": {"two_at_once": True, "copies": 2}}, "deliver.copies"),
        ({"webhook": {}, "deliver": {"copies": 1}}, "deliver"),
        ({"webhook": {}, "deliver": {"delay": "0s"}}, "deliver"),
        ({"webhook": {}, "deliver": {"two_at_onec": True}}, "deliver.two_at_onec"),
    ],
)
def test_an_impossible_fault_names_the_wrong_field(world: Remote, fault: dict[str, Any], param: str) -> None:
    assert world.control("POST", "/faults", fault).refusal == (400, "invalid_parameter", param)


def kyc_told(world: Remote, receiver: Receiver) -> dict[str, Any]:
    """The object of the newest event `kyc.approved`, as it came."""
    world.control("POST", "/trigger", {"event": "kyc.approved"})
    world.control("POST", "/settle")
    told: dict[str, Any] = receiver.came[-1]
    return told


@pytest.mark.parametrize(
    ("surprise", "status", "more", "less"),
    [
        ({"unknown_enum": True}, "something_new", set(), set()),
        ({"unknown_enum": "type"}, None, set(), set()),
        ({"extra_field": True}, None, {"added_later"}, set()),
        ({"extra_field": "loyalty_points"}, None, {"loyalty_points"}, set()),
        ({"missing_field": "reference"}, None, set(), {"reference"}),
        ({"unknown_enum": "status", "missing_field": True}, "something_new", set(), {"reference"}),
    ],
)
def test_a_response_has_an_unexpected_value(
    world: Remote, surprise: dict[str, Any], status: str | None, more: set[str], less: set[str]
) -> None:
    put(world, match={"method": "POST", "path": "/wallet/send"}, times=1, **surprise)
    key = {"Idempotency-Key": "a"}
    odd, true = (world.api("POST", "/wallet/send", SEND, key) for _ in range(2))
    assert (odd.status, true.status, true.headers["Idempotent-Replayed"]) == (201, 201, "true")
    assert odd.body["id"] == true.body["id"]
    assert odd.body["status"] == (status or true.body["status"])
    assert odd.body["type"] == ("something_new" if surprise.get("unknown_enum") == "type" else "send")
    assert {*odd.body} - {*true.body} == more
    assert {*true.body} - {*odd.body} == less
    journal = world.control("GET", "/requests", params={"path": "/v1/wallet/send"}).body["data"]
    assert len(journal) == 2
    assert (hits(world), sends(world)) == ([1], 1)


def test_every_row_of_a_list_has_the_unknown_value(world: Remote) -> None:
    put(world, match={"path": "/currencies"}, unknown_enum=True, times=1)
    put(world, match={"path": "/currencies"}, unknown_enum="data.0.status", times=1)
    every, first, true = (world.api("GET", "/currencies").body["data"] for _ in range(3))
    assert {row["status"] for row in every} == {"something_new"}
    assert [row["status"] for row in first] == ["something_new", *(row["status"] for row in true[1:])]


def test_a_response_that_cannot_be_mutated_is_not_a_hit(world: Remote) -> None:
    put(world, match={"path": "/wallet/*"}, unknown_enum="status", times=1)
    refused = world.api("POST", "/wallet/send", {**SEND, "amount": "99999999"})
    assert (refused.status, refused.code, hits(world)) == (422, "amount_too_high", [0])
    assert world.api("GET", "/wallet/assets").status == 200
    assert hits(world) == [0], "its rows have no status"
    assert world.api("POST", "/wallet/send", SEND).body["status"] == "something_new"
    assert hits(world) == [1]


@pytest.mark.parametrize(
    ("surprise", "param", "words"),
    [
        (
            {"unknown_enum": "id"},
            "unknown_enum",
            "id cannot be used, because it must be a field that has a fixed list of values, such as status, ",
        ),
        (
            {"missing_field": "id"},
            "missing_field",
            "id cannot be used, because it must be a field that may be absent or null, such as failure_code, ",
        ),
        ({"missing_field": ""}, "missing_field", ""),
        ({"extra_field": "status"}, "extra_field", "the field status already exists"),
        ({"extra_field": "nowhere.more"}, "extra_field", "there is no object nowhere"),
        ({"unknown_enum": True, "respond": DOWN}, "respond", "these change the real response, which is not sent"),
        ({"extra_field": "data."}, "extra_field", "a name or a dotted path"),
        ({"unknown_enum": False}, "respond", "unknown_enum"),
        ({"unknown_type": True}, "unknown_type", ""),
    ],
)
def test_a_surprise_that_cannot_be_is_refused(world: Remote, surprise: dict[str, Any], param: str, words: str) -> None:
    fault = {"match": {"method": "POST", "path": "/wallet/send"}, **surprise}
    answer = world.control("POST", "/faults", fault)
    assert answer.refusal == (400, "invalid_parameter", param)
    assert words in answer.body["error"]["message"]


@pytest.mark.parametrize(
    ("event", "deliver", "param"),
    [
        ("kyc.approved", {"unknown_enum": "kyc_status"}, "deliver.unknown_enum"),
        ("kyc.approved", {"unknown_type": "kyc.rejected"}, "deliver.unknown_type"),
        ("kyc.approved", {"missing_field": "data.object"}, "deliver.missing_field"),
        ("quote.expired", {"missing_field": True}, "deliver.missing_field"),
    ],
)
def test_a_surprise_that_no_event_can_have_is_refused(
    world: Remote, event: str, deliver: dict[str, Any], param: str
) -> None:
    answer = world.control("POST", "/faults", {"webhook": {"event": event}, "deliver": deliver})
    assert answer.refusal == (400, "invalid_parameter", param)


def test_an_unexpected_webhook_body_has_a_valid_signature(world: Remote, receiver: Receiver) -> None:
    register(world, receiver)
    odd = {"unknown_type": True, "unknown_enum": True, "extra_field": True, "missing_field": "data.object.reviewed_at"}
    put(world, webhook={"event": "kyc.approved"}, deliver=odd, times=1)
    told, again = (kyc_told(world, receiver) for _ in range(2))
    assert (told["type"], told["data"]["object"]["kyc_status"]) == ("kyc.something_new", "something_new")
    assert (told["added_later"], told["data"]["object"]["added_later"]) == ("something_new", "something_new")
    assert "reviewed_at" not in told["data"]["object"]
    assert (again["type"], again["data"]["object"]["kyc_status"]) == ("kyc.approved", "approved")
    events = world.control("GET", "/events", params={"type": "kyc.approved"}).body["data"]
    assert [row["data"]["object"]["kyc_status"] for row in events if row["id"] == told["id"]] == ["approved"]
    first = world.control("GET", "/deliveries").body["data"][0]
    assert (json.loads(first["request_body"]), first["event_type"]) == (told, "kyc.approved")
    key = world.world["credentials"]["sandbox"]["webhook_key"]
    signed = f"{first['request_headers']['X-Timestamp']}.{first['request_body']}".encode()
    assert hmac.new(key.encode(), signed, "sha256").hexdigest() == first["request_headers"]["X-Signature"]


def test_an_event_that_cannot_be_mutated_is_not_a_hit(world: Remote, receiver: Receiver) -> None:
    register(world, receiver)
    put(world, webhook={}, deliver={"missing_field": "data.object.tx_hash"})
    told = kyc_told(world, receiver)
    assert (told["type"], hits(world)) == ("kyc.approved", [0])


def test_a_receiver_may_call_again_under_the_same_key_before_the_answer(world: Remote, receiver: Receiver) -> None:
    register(world, receiver)
    put(world, webhook={"event": "transaction.completed"}, deliver={"before_answer": True}, times=1)
    key, again = {"Idempotency-Key": "a"}, []

    def meanwhile(event: dict[str, Any]) -> None:
        if event["type"] == "transaction.completed":
            again.append(world.api("POST", "/wallet/send", SEND, key))

    receiver.then = meanwhile
    sent = world.api("POST", "/wallet/send", SEND, key)
    assert [answer.body["id"] for answer in again] == [sent.body["id"]]
    assert again[0].headers["Idempotent-Replayed"] == "true"
    assert sends(world) == 1
