"""Requests byte for byte: headers, timestamps and signatures (chapter "Delivery and signature", W1, W2, W7)."""

from __future__ import annotations

import hashlib
import hmac

import pytest

from simulator.engine.faults.in_force import DeliveryPlan
from simulator.engine.webhooks import Attempt, webhook_key
from simulator.engine.webhooks.delivery.faults import falsified
from simulator.engine.webhooks.keys import prepare
from simulator.engine.webhooks.records import IN_FLIGHT, QUEUES, SignedRequest
from simulator.kernel.clock import MINUTE_MS
from simulator.kernel.journal import Cause
from simulator.kernel.world import World
from tests.calls import act
from tests.toy.seal import SIGNATURE
from tests.unit.engine.webhooks.support import (
    BROKEN,
    ROOMS,
    add_fault,
    happen,
    register,
    report,
    take,
    webhook_world,
)

WALL_MS = 1_800_000_000_000


def prepared(world: World) -> tuple[Attempt, SignedRequest, dict[str, str]]:
    (attempt,) = take(world)
    message = prepare(world, attempt, WALL_MS)
    return attempt, message, dict(message.headers)


def expected(key: str, stamp: str, raw: bytes) -> str:
    return hmac.new(key.encode(), raw + f"@{stamp}".encode(), hashlib.sha256).hexdigest()


def test_a_request_has_the_event_bytes_and_a_signature() -> None:
    """Decision W2: the timestamp is the wall clock."""
    world = webhook_world()
    register(world)
    event = happen(world)
    _, message, headers = prepared(world)
    assert message.body == event.raw
    assert headers["Library-Date"] == str(WALL_MS)
    assert headers["Library-Seal"] == expected(webhook_key(world, "practice"), str(WALL_MS), event.raw)
    assert headers["Content-Type"] == "application/json"
    assert "simulator" in headers["User-Agent"]


def test_the_stamp_follows_the_simulated_clock_when_asked() -> None:
    """Decision W2."""
    world = webhook_world(webhook_timestamp="simulated")
    register(world)
    happen(world)
    _, _, headers = prepared(world)
    assert headers["Library-Date"] == str(world.now_ms)


def test_each_environment_signs_with_its_present_key() -> None:
    """Decisions H16 and W1."""
    world = webhook_world()
    register(world, environment="open")
    event = happen(world, environment="open")
    attempt, _, headers = prepared(world)
    assert headers["Library-Seal"] == expected(webhook_key(world, "open"), str(WALL_MS), event.raw)
    act(world, ROOMS, "rotate_webhook_key", environment="open")
    rotated = dict(prepare(world, attempt, WALL_MS).headers)
    assert rotated["Library-Seal"] == expected(webhook_key(world, "open"), str(WALL_MS), event.raw)


def test_faults_break_signature_timestamp_or_body() -> None:
    world = webhook_world()
    register(world)
    add_fault(world, webhook={"event": "news.good"}, deliver={"corrupt_signature": True})
    add_fault(world, webhook={"event": "news.bad"}, deliver={"stale_timestamp": True})
    add_fault(world, webhook={}, deliver={"alter_body": True})
    key = webhook_key(world, "practice")
    seen = {}
    for event_type in ("news.good", "news.bad", "news.no"):
        event = happen(world, event_type)
        attempt, message, headers = prepared(world)
        right = expected(key, headers["Library-Date"], message.body) == headers["Library-Seal"]
        seen[event_type] = (right, int(headers["Library-Date"]) - WALL_MS, message.body == event.raw)
        assert len(headers["Library-Seal"]) == 64
        with world.change(Cause("law", "webhook")):
            world.store[IN_FLIGHT].delete(attempt.id)
            world.store[QUEUES].delete(attempt.endpoint_id)
    assert seen == {
        "news.good": (False, 0, True),
        "news.bad": (True, -600_000, True),
        "news.no": (False, 0, False),
    }


def test_a_corrupted_signature_leaves_the_headers_after_it_as_they_are() -> None:
    trace = ("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
    request = SignedRequest("https://hooks.example.test/", ((SIGNATURE.signature_header, "0f"), trace), b"{}")
    spoilt = falsified(DeliveryPlan(corrupt_signature=True), request, SIGNATURE.signature_header)
    assert spoilt.headers == ((SIGNATURE.signature_header, "f0"), trace)


def test_an_attempt_without_its_event_cannot_be_prepared() -> None:
    world = webhook_world()
    register(world)
    happen(world)
    (attempt,) = take(world)
    with pytest.raises(LookupError):
        prepare(webhook_world(), attempt, WALL_MS)


def test_attempts_have_the_same_body_and_different_timestamps() -> None:
    """Decision W7."""
    world = webhook_world()
    register(world)
    register(world)
    event = happen(world)
    first, other = take(world)
    report(world, first, BROKEN)
    world.fire_due(world.now_ms + MINUTE_MS)
    (retry,) = take(world)
    sent = [prepare(world, attempt, WALL_MS + n) for n, attempt in enumerate((first, other, retry))]
    assert {message.body for message in sent} == {event.raw}
    for n, message in enumerate(sent):
        headers, stamp = dict(message.headers), str(WALL_MS + n)
        assert headers["Library-Date"] == stamp
        assert headers["Library-Seal"] == expected(webhook_key(world, "practice"), stamp, event.raw)
