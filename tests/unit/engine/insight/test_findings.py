"""Findings that depend on clocks and bounds, computed from handwritten journals."""

from __future__ import annotations

import ast
import textwrap
from dataclasses import replace
from typing import Any

import pytest

from simulator.engine.insight.advice import MOST_EVIDENCE, findings
from simulator.engine.insight.lessons import kinds, lesson_of, lessons
from simulator.engine.insight.shapes import Finding
from simulator.engine.records.requests import JournalEntry, requests_of
from simulator.engine.rows.money import Money
from simulator.engine.rows.operation import Operation
from simulator.engine.rows.room import Room
from simulator.engine.text.json import dumps, headers_text
from simulator.engine.vocabulary.vocabulary import Vocabulary
from simulator.engine.webhooks import Delivery
from simulator.engine.webhooks.records import DELIVERIES, ENDPOINTS, Webhook
from simulator.engine.worlds.simulator import Blueprint
from simulator.kernel.clock import SECOND_MS
from simulator.kernel.journal import Cause
from simulator.kernel.texts import NO_HEADERS, Text
from simulator.kernel.world import World
from tests.library import Simulator, library_with, vocabulary

FINES = Room(
    "fines",
    operations=(
        Operation("POST", "/fines", "pay_fine", "", "", lambda call: {}, money=True),
        Operation("GET", "/fines/{id}", "get_fine", "", "", lambda call: {}, reads=True),
    ),
)
"""A fine is an order, which a client can read."""
BLUEPRINT = Blueprint("default", 1)
START_MS = BLUEPRINT.now_ms
CALL = JournalEntry(
    id="req_0", at_ms=START_MS, environment="practice", public_key="card-1", method="GET", path="/v1/books/book-1",
    headers=(), body=b"", status=200, response=b"{}", duration_ms=2.0, operation="get_book", wall_ms=1_000.0,
)  # fmt: skip


@pytest.fixture
def simulator() -> Simulator:
    made = Simulator(replace(library_with(FINES), money=Money(reading="get_fine")))
    made.create_world(BLUEPRINT)
    return made


def found(simulator: Simulator, *calls: JournalEntry) -> list[Finding]:
    requests_of(simulator.default).entries.extend(replace(call, id=f"req_{place}") for place, call in enumerate(calls))
    return findings(simulator.default, simulator.operations)


def refused(status: int = 503, code: str = "service_unavailable", **changes: Any) -> JournalEntry:
    response = dumps({"error": {"code": code, "message": "no"}})
    return replace(CALL, status=status, response=response, **changes)


def later(real_ms: float = 0.0, simulated_ms: int = 0) -> JournalEntry:
    return replace(CALL, wall_ms=CALL.wall_ms + real_ms, at_ms=START_MS + simulated_ms)


@pytest.mark.parametrize(
    ("real_ms", "simulated_ms", "kinds"),
    [
        (100.0, 0, ["retry_without_backoff"]),
        (1_002.0, 0, []),
        (3.0, SECOND_MS, []),
        (251.0, 0, ["retry_without_backoff"]),
        (252.0, 0, []),
    ],
)
def test_a_wait_counts_on_the_clock_on_which_it_was_longer(
    simulator: Simulator, real_ms: float, simulated_ms: int, kinds: list[str]
) -> None:
    assert [row["kind"] for row in found(simulator, refused(), later(real_ms, simulated_ms))] == kinds


def test_moments_of_another_machine_are_not_compared(simulator: Simulator) -> None:
    """A journal that was carried here may hold moments of a clock that this one knows nothing of."""
    assert found(simulator, refused(wall_ms=9e9), later(0.0, SECOND_MS)) == []
    assert [row["kind"] for row in found(simulator, refused(wall_ms=0.0), later(5_000.0))] == ["retry_without_backoff"]


def test_a_retry_after_may_be_missed_by_a_hair(simulator: Simulator) -> None:
    limited = refused(429, "rate_limited", answer_headers=(("Retry-After", "2"),))
    assert found(simulator, limited, later(1_960.0)) == []
    requests_of(simulator.default).entries.clear()
    assert [row["kind"] for row in found(simulator, limited, later(1_900.0))] == ["retry_before_retry_after"]


def test_growing_waits_are_backoff_and_constant_ones_are_not(simulator: Simulator) -> None:
    def tries(*starts_ms: int) -> list[JournalEntry]:
        return [refused(at_ms=START_MS + start_ms) for start_ms in starts_ms]

    assert found(simulator, *tries(0, 1_000, 3_000, 7_000)) == []
    requests_of(simulator.default).entries.clear()
    constant = found(simulator, *tries(0, 1_000, 2_000, 3_000, 4_000))
    assert [(row["kind"], row["count"]) for row in constant] == [("retry_without_backoff", 2)]


def test_reads_a_second_apart_on_either_clock_are_not_polling(simulator: Simulator) -> None:
    assert found(simulator, *(later(1_003.0 * place) for place in range(9))) == []
    requests_of(simulator.default).entries.clear()
    assert found(simulator, *(later(3.0 * place, SECOND_MS * place) for place in range(9))) == []
    requests_of(simulator.default).entries.clear()
    assert [row["count"] for row in found(simulator, *(later(900.0 * place) for place in range(9)))] == [5]


def test_answers_that_differ_make_no_poll(simulator: Simulator) -> None:
    calls = [replace(later(3.0 * place), response=b"[%d]" % (place // 4)) for place in range(12)]
    assert found(simulator, *calls) == []


def test_evidence_is_bounded_and_the_count_continues(simulator: Simulator) -> None:
    asked = replace(CALL, path="/v1/webhooks?limit=1", operation="list_webhooks", response=b"")
    total = MOST_EVIDENCE + 20
    (finding,) = found(simulator, *(replace(asked, at_ms=START_MS + place * SECOND_MS) for place in range(total)))
    assert (finding["kind"], finding["count"]) == ("limit_alias", total)
    assert finding["requests"] == [f"req_{place}" for place in range(20, total)]


def test_a_finding_keeps_its_id_while_it_grows(simulator: Simulator) -> None:
    asked = replace(CALL, path="/v1/webhooks?limit=1", operation="list_webhooks", response=b"")
    (first,) = found(simulator, asked)
    (second,) = found(simulator, asked)
    assert (first["id"], first["count"], second["count"]) == (second["id"], 1, 2)


def test_calls_without_an_operation_are_ignored(simulator: Simulator) -> None:
    assert found(simulator, *(refused(404, "not_found", path="/v1/nowhere", operation="") for _ in range(3))) == []


def test_findings_follow_the_time_of_their_last_evidence(simulator: Simulator) -> None:
    asked = replace(CALL, path="/v1/webhooks?limit=1", operation="list_webhooks", response=b"")
    other = replace(
        asked, path="/v1/webhooks/wh_1/deliveries?limit=1", operation="list_webhook_deliveries", at_ms=START_MS + 1
    )
    rows = found(simulator, asked, other, replace(asked, at_ms=START_MS + 2))
    assert [row["subject"] for row in rows] == ["GET /webhooks/{id}/deliveries", "GET /webhooks"]


# Deliveries


def delivered(world: World, duration_ms: int, **changes: Any) -> None:
    """One delivery to a registered endpoint, as the courier would have reported it."""
    members: dict[str, Any] = {
        "id": "dlv_1", "sequence": (1,), "created_at_ms": START_MS, "updated_at_ms": START_MS, "event_id": "evt_1",
        "event_type": "webhook.test", "environment": "practice", "endpoint_id": "wh_1", "url": "http://localhost/",
        "attempt": 1, "status": "succeeded", "response_status": 200, "error": None, "next_attempt_at_ms": None,
        "request_headers": headers_text((("X-Timestamp", "1"),)), "response_headers": NO_HEADERS,
        "response_body": Text(b""),
    }  # fmt: skip
    endpoint = Webhook(
        id="wh_1", environment="practice", sequence=1, created_at_ms=START_MS, updated_at_ms=START_MS,
        url="http://localhost/", events=("*",),
    )  # fmt: skip
    with world.change(Cause("start", "test")):
        world.store[ENDPOINTS.of("practice")].put("wh_1", endpoint)
        world.store[DELIVERIES.of(owner="wh_1")].put("dlv_1", Delivery(**members | changes, duration_ms=duration_ms))


def test_a_dropped_delivery_is_not_reported_as_unacknowledged(simulator: Simulator) -> None:
    delivered(simulator.default, 0, status="failed", response_status=None, error="lost", request_headers=NO_HEADERS)
    assert found(simulator) == []


def test_a_slow_acknowledgement_is_noted(simulator: Simulator) -> None:
    delivered(simulator.default, 5_000)
    assert found(simulator) == []
    delivered(simulator.default, 6_500)
    (finding,) = found(simulator)
    assert (finding["kind"], finding["subject"], finding["evidence"]) == ("webhook_slow", "wh_1", ["dlv_1", "evt_1"])
    assert "6s500ms" in finding["message"]


def test_no_answer_in_time_is_a_failure_and_not_slow(simulator: Simulator) -> None:
    delivered(simulator.default, 10_000, status="failed", response_status=None, error="no answer within 10 s")
    (finding,) = found(simulator)
    assert finding["kind"] == "webhook_not_acknowledged"
    assert "no answer within 10 s" in finding["message"]


MONEY = replace(
    CALL, method="POST", path="/v1/fines", operation="pay_fine", body=b'{"reference":"order-1"}',
    headers=(("idempotency-key", "a"),),
)  # fmt: skip


def under(key: str, **changes: Any) -> JournalEntry:
    return replace(MONEY, headers=(("idempotency-key", key),), **changes)


@pytest.mark.parametrize(
    ("first", "second", "kinds"),
    [
        (under("a", status=0), under("b", status=201, wall_ms=2_500.0), ["retried_with_new_key"]),
        (under("a", status=503), under("b", status=201, wall_ms=2_500.0), ["retried_with_new_key"]),
        (under("a", status=503), under("a", status=201, wall_ms=2_500.0), []),
        (under("a", status=201), under("b", status=201, wall_ms=2_500.0), []),
        (under("a", status=503), under("b", status=201, wall_ms=90_000.0, at_ms=START_MS + 90_000), []),
    ],
)
def test_a_retry_with_a_new_key_is_reported(
    simulator: Simulator, first: JournalEntry, second: JournalEntry, kinds: list[str]
) -> None:
    assert [row["kind"] for row in found(simulator, first, second) if row["severity"] == "error"] == kinds


def test_a_key_reused_for_another_request_is_reported(simulator: Simulator) -> None:
    conflict = dumps({"error": {"code": "idempotency_conflict"}})
    other = under("a", body=b'{"reference":"order-2"}', status=409, response=conflict)
    rows = found(simulator, under("a", status=201), other)
    assert [row["kind"] for row in rows] == ["key_reused"]
    assert rows[0]["requests"] == ["req_0", "req_1"]


def test_a_retry_during_its_first_call_is_not_a_finding(simulator: Simulator) -> None:
    conflict = dumps({"error": {"code": "idempotency_conflict"}})
    assert found(simulator, under("a", status=201), under("a", status=409, response=conflict)) == []


def test_many_reads_without_webhooks_are_one_finding(simulator: Simulator) -> None:
    reads = [
        replace(CALL, path="/v1/fines/fine_1", operation="get_fine", at_ms=START_MS + number * 60_000)
        for number in range(30)
    ]
    assert found(simulator, *reads[:29]) == []
    rows = findings(simulator.default, simulator.operations)
    requests_of(simulator.default).entries.clear()
    assert [row["kind"] for row in found(simulator, *reads)] == ["polling_without_webhooks"]
    assert rows == []
    requests_of(simulator.default).entries.clear()
    hook = replace(CALL, method="POST", path="/v1/webhooks", operation="create_webhook", status=201)
    with_key = replace(hook, headers=(("idempotency-key", "h"),))
    assert found(simulator, with_key, *reads) == []


def check_lessons(vocabulary: Vocabulary) -> None:
    """Every kind of conduct has a reason."""
    assert [kind for kind in kinds(vocabulary) if not lesson_of(kind)["why"]] == []


def test_every_kind_of_conduct_teaches() -> None:
    check_lessons(vocabulary())
    for kind, lesson in lessons().items():
        for change in lesson["changes"]:
            assert change["before"] != change["after"], kind
            if change["language"] == "python":
                for code in (change["before"], change["after"]):
                    fragment = code if not code.startswith("json=") else f"call({code})"
                    ast.parse("def function():\n" + textwrap.indent(fragment, "    "))
