"""The trace context of a request is passed on with the webhooks and events that the request causes."""

from __future__ import annotations

from typing import Any

import pytest

from tests.remote import Remote
from tests.service.http.busy import ok
from tests.support import CELO, QUOTE

TRACE, SPAN = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
HEADERS = {"traceparent": f"00-{TRACE}-{SPAN}-01"}


def traced(world: Remote, headers: dict[str, str], name: str) -> tuple[str, list[dict[str, str]]]:
    """A ramp that is confirmed under these headers and completed by the outside world; the headers of its webhooks."""
    ok(world.api("POST", "/webhooks", {"url": f"{world.origin}/_simulator/inbox/{name}", "events": ["*"]}))
    quote = ok(world.api("POST", "/quotes", QUOTE))["id"]
    body = {"wallet_address": CELO, "payer": {"phone_number": "+254712345678"}}
    onramp: str = ok(world.api("POST", f"/quotes/{quote}/confirm", body, headers))["id"]
    ok(world.act("payment_arrives", onramp))
    ok(world.act("complete", onramp))
    world.control("POST", "/settle")
    deliveries = world.control("GET", "/deliveries").body["data"]
    return onramp, [row["request_headers"] for row in deliveries if row["event_type"].startswith("transaction.")]


def parts(headers: list[dict[str, str]]) -> list[list[str]]:
    return [row["traceparent"].split("-") for row in headers]


def test_webhooks_continue_the_trace_with_their_own_spans(world: Remote) -> None:
    made = world.another(scenarios=[])
    onramp, headers = traced(made, HEADERS, "traced")
    found = parts(headers)
    assert len(found) >= 2
    assert {(version, trace, flags) for version, trace, _, flags in found} == {("00", TRACE, "01")}
    assert len({span for _, _, span, _ in found} | {SPAN}) == len(found) + 1
    received = made.control("GET", "/inbox/traced").body["data"]
    assert [row["headers"]["traceparent"] for row in received if "traceparent" in row["headers"]] == [
        row["traceparent"] for row in headers
    ]
    story = made.control("GET", f"/resources/{onramp}").body
    assert {event["traceparent"] for event in story["events"]} == {HEADERS["traceparent"]}
    confirm = next(row for row in made.control("GET", "/requests").body["data"] if row["path"].endswith("/confirm"))
    assert confirm["headers"]["traceparent"] == HEADERS["traceparent"]


def test_the_same_world_sends_the_same_spans(world: Remote) -> None:
    first, second = (traced(world.another(seed=9, scenarios=[]), HEADERS, f"same-{n}")[1] for n in range(2))
    assert parts(first) == parts(second)


@pytest.mark.parametrize("headers", [{}, {"traceparent": "00-nonsense"}, {"traceparent": f"00-{'0' * 32}-{SPAN}-01"}])
def test_without_a_well_formed_one_no_header_is_sent(world: Remote, headers: dict[str, str]) -> None:
    made = world.another(scenarios=[])
    onramp, sent = traced(made, headers, "untraced")
    assert all("traceparent" not in row for row in sent)
    assert all("traceparent" not in event for event in made.control("GET", f"/resources/{onramp}").body["events"])


def test_a_trace_outlives_a_snapshot_and_a_document_cannot_smuggle_in_a_header(world: Remote) -> None:
    made = world.another(scenarios=[])
    onramp, _ = traced(made, HEADERS, "kept")
    document: Any = made.control("GET", "/state").body
    assert made.control("PUT", "/state", document).status == 200
    assert made.control("GET", f"/resources/{onramp}").body["events"][0]["traceparent"] == HEADERS["traceparent"]
    for _, row in document["tables"]["events"]:
        row["trace"] = "x\r\nX-Evil: 1"
    assert made.control("PUT", "/state", document).status == 200
    story = made.control("GET", f"/resources/{onramp}").body["events"]
    assert all("Evil" not in str(event) for event in story)
