"""Sending an event again, to all endpoints or to one, with or without a fault."""

from __future__ import annotations

import hashlib
import hmac
from typing import Any

import pytest

from tests.remote import Remote

WALLET = {"network": "stellar", "label": "late"}


@pytest.fixture
def event(world: Remote) -> dict[str, Any]:
    """An event that was delivered to an inbox, and the endpoints by name."""
    made = {}
    for name, events in (("all", ["*"]), ("few", ["wallet.created"]), ("none", ["quote.expired"])):
        path = f"/inbox/{name}-{world.world['id']}/subscribe"
        made[name] = world.control("POST", path, {"events": events}).body["id"]
    assert world.api("POST", "/wallets", WALLET).status == 201
    world.control("POST", "/settle")
    found: dict[str, Any] = world.control("GET", "/events", params={"type": "wallet.created"}).body["data"][0]
    return {**found, "endpoints": made}


def resend(world: Remote, event: dict[str, Any], body: Any = None) -> list[dict[str, Any]]:
    """Return the attempts that resending makes, oldest first."""
    before = len(attempts(world, event))
    answer = world.control("POST", f"/events/{event['id']}/resend", body)
    assert answer.status == 200, answer.body
    return attempts(world, event)[before:]


def attempts(world: Remote, event: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = world.control("GET", "/deliveries", params={"event_id": event["id"]}).body["data"]
    return found


def is_genuine(world: Remote, attempt: dict[str, Any]) -> bool:
    sent = attempt["request_headers"]
    key = world.world["credentials"]["sandbox"]["webhook_key"]
    signed = f"{sent['X-Timestamp']}.{attempt['request_body']}".encode()
    return hmac.compare_digest(hmac.new(key.encode(), signed, hashlib.sha256).hexdigest(), sent["X-Signature"])


def test_resend_without_a_body_reaches_all_endpoints_unchanged(world: Remote, event: dict[str, Any]) -> None:
    made = resend(world, event)
    assert {row["endpoint_id"] for row in made} == {event["endpoints"]["all"], event["endpoints"]["few"]}
    assert all(is_genuine(world, row) and row["faults"] == [] for row in made)


def test_one_endpoint_gets_it_alone(world: Remote, event: dict[str, Any]) -> None:
    chosen = event["endpoints"]["few"]
    assert [row["endpoint_id"] for row in resend(world, event, {"endpoint_id": chosen})] == [chosen]


@pytest.mark.parametrize(
    ("deliver", "faults", "genuine"),
    [
        ({"corrupt_signature": True}, ["corrupt_signature"], False),
        ({"alter_body": True}, ["alter_body"], False),
        ({"stale_timestamp": True}, ["stale_timestamp"], True),
        ({"extra_field": True}, ["surprise"], True),
        ({"acknowledgement_lost": True}, ["acknowledgement_lost"], True),
    ],
)
def test_it_applies_once_with_a_fault(
    world: Remote, event: dict[str, Any], deliver: dict[str, Any], faults: list[str], genuine: bool
) -> None:
    one = {"endpoint_id": event["endpoints"]["all"]}
    (attempt,) = resend(world, event, {**one, "deliver": deliver})
    assert (attempt["faults"], is_genuine(world, attempt)) == (faults, genuine)
    assert (attempt["status"] == "failed") == (faults == ["acknowledgement_lost"])
    assert resend(world, event, one)[0]["faults"] == []
    assert world.control("GET", "/faults").body["data"] == []


def test_copies_and_delays_are_of_this_event_alone(world: Remote, event: dict[str, Any]) -> None:
    one = {"endpoint_id": event["endpoints"]["all"]}
    assert len(resend(world, event, {**one, "deliver": {"copies": 3}})) == 3
    assert resend(world, event, {**one, "deliver": {"delay": "10m"}}) == []
    assert world.advance(by="10m")["deliveries"] == 1


def test_a_drop_reports_whether_the_call_was_committed(world: Remote, event: dict[str, Any]) -> None:
    (lost,) = resend(world, event, {"endpoint_id": event["endpoints"]["few"], "deliver": {"drop": True}})
    assert (lost["error"], lost["faults"]) == ("dropped by the fault given for the resend", ["drop"])


def test_faults_in_force_leave_it_alone(world: Remote, event: dict[str, Any]) -> None:
    world.control("POST", "/faults", {"webhook": {}, "deliver": {"alter_body": True}, "times": 1})
    (attempt,) = resend(world, event, {"endpoint_id": event["endpoints"]["all"], "deliver": {"stale_timestamp": True}})
    assert attempt["faults"] == ["stale_timestamp"]
    assert world.control("GET", "/faults").body["data"][0]["hits"] == 0


@pytest.mark.parametrize(
    ("body", "refusal"),
    [
        ({"deliver": {}}, (400, "invalid_parameter", "deliver")),
        ({"deliver": {"reorder": True}}, (400, "invalid_parameter", "deliver.reorder")),
        ({"deliver": {"hold": 2}}, (400, "invalid_parameter", "deliver.hold")),
        ({"deliver": {"copys": 2}}, (400, "invalid_parameter", "deliver.copys")),
        ({"deliver": {"missing_field": "data"}}, (400, "invalid_parameter", "deliver.missing_field")),
        ({"deliver": {"delay": "2920000d"}}, (400, "invalid_parameter", "deliver.delay")),
        ({"endpoint_id": "wh_none"}, (404, "not_found", "endpoint_id")),
    ],
)
def test_what_cannot_be_is_refused(world: Remote, event: dict[str, Any], body: Any, refusal: Any) -> None:
    before = len(attempts(world, event))
    assert world.control("POST", f"/events/{event['id']}/resend", body).refusal == refusal
    assert len(attempts(world, event)) == before


def test_resend_to_an_unsubscribed_endpoint_says_why(world: Remote, event: dict[str, Any]) -> None:
    path, ids = f"/events/{event['id']}/resend", event["endpoints"]
    answer = world.control("POST", path, {"endpoint_id": ids["none"]})
    assert (answer.status, answer.code) == (409, "invalid_state")
    assert answer.body["error"]["message"].endswith("it is not subscribed to wallet.created.")
    world.api("PATCH", f"/webhooks/{ids['few']}", {"status": "disabled"})
    assert world.control("POST", path, {"endpoint_id": ids["few"]}).body["error"]["message"].endswith("it is disabled.")


def test_delayed_delivery_survives_a_document_with_its_fault(world: Remote, event: dict[str, Any]) -> None:
    one = {"endpoint_id": event["endpoints"]["few"]}
    resend(world, event, {**one, "deliver": {"delay": "10m", "corrupt_signature": True}})
    assert world.control("PUT", "/state", world.control("GET", "/state").body).status == 200
    world.advance(by="10m")
    assert attempts(world, event)[-1]["faults"] == ["corrupt_signature"]
