"""Integration coverage over HTTP, after sequences of calls with known hits."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.remote import Remote
from tests.service.control.test_advice import PAYER, confirmed, fault, key, paid, quote, webhook
from tests.support import QUOTE

DIMENSIONS = ["operations", "errors", "states", "transitions", "events", "lists", "practices"]


def coverage(world: Remote, /, **query: str) -> dict[str, Any]:
    answer = world.control("GET", "/coverage", params=query)
    assert answer.status == 200, answer.body
    report: dict[str, Any] = answer.body
    return report


def covered(report: dict[str, Any], dimension: str) -> dict[str, dict[str, Any]]:
    """Return the covered items of a dimension, by name."""
    return {row["item"]: row for row in report["dimensions"][dimension]["items"] if row["covered"]}


def item(report: dict[str, Any], dimension: str, name: str) -> dict[str, Any]:
    found: dict[str, Any] = next(row for row in report["dimensions"][dimension]["items"] if row["item"] == name)
    return found


def test_a_fresh_world_has_covered_nothing(world: Remote) -> None:
    report = coverage(world)
    assert (report["world"], report["covered"], report["percent"]) == (world.world["id"], 0, 0.0)
    assert list(report["dimensions"]) == DIMENSIONS
    assert report["total"] == sum(part["total"] for part in report["dimensions"].values())
    for part in report["dimensions"].values():
        assert part["total"] == len(part["items"]) > 0
        assert all(row["first"] is None for row in part["items"])


def test_a_known_walk_counts_exactly(world: Remote) -> None:
    made = quote(world)
    confirm = f"/quotes/{made.body['id']}/confirm"
    transaction = world.api("POST", confirm, json=PAYER, headers=key())
    again = world.api("POST", confirm, json=PAYER, headers=key())
    assert (made.status, transaction.status, again.code) == (201, 201, "quote_already_used")
    world.act("payment_arrives", transaction.body["id"])
    report = coverage(world)

    operations = covered(report, "operations")
    assert {name: (row["called"], row["succeeded"]) for name, row in operations.items()} == {
        "create_token": (1, 1),
        "create_quote": (1, 1),
        "confirm_quote": (2, 1),
    }
    assert operations["create_quote"]["first"] == {"world": world.world["id"], "id": made.headers["x-request-id"]}
    errors = covered(report, "errors")
    assert list(errors) == ["confirm_quote quote_already_used"]
    assert errors["confirm_quote quote_already_used"]["hits"] == 1
    assert errors["confirm_quote quote_already_used"]["first"]["id"] == again.headers["x-request-id"]
    assert set(covered(report, "states")) == {
        "ramp_quote active", "ramp_quote confirmed", "onramp awaiting_payment", "onramp processing",
    }  # fmt: skip
    assert set(covered(report, "transitions")) == {
        "ramp_quote (none) create active",
        "ramp_quote active confirm confirmed",
        "onramp (none) confirm awaiting_payment",
        "onramp awaiting_payment payment_arrives processing",
    }
    assert covered(report, "events") == {}
    assert item(report, "events", "transaction.processing")["emitted"] == 1
    assert {part: report["dimensions"][part]["covered"] for part in DIMENSIONS} == {
        "operations": 3, "errors": 1, "states": 4, "transitions": 4, "events": 0, "lists": 0, "practices": 0,
    }  # fmt: skip
    assert (report["covered"], report["percent"]) == (12, 12 * 1000 // report["total"] / 10)


def test_looking_at_the_coverage_changes_nothing(world: Remote) -> None:
    quote(world)
    assert coverage(world) == coverage(world)


def test_common_error_is_covered_once_for_all_operations(world: Remote) -> None:
    world.call("GET", world.base() + "/profile")
    world.call("GET", world.base() + "/fees")
    world.api("POST", "/quotes", json={})
    world.api("GET", "/fees/fee_none")
    # A call without a token belongs to no world of its own.
    assert set(covered(coverage(world), "errors")) == {"* missing_parameter", "* not_found", "get_fee not_found"}


def test_error_code_from_a_fault_alone_is_listed_separately(world: Remote) -> None:
    fault(world, match={"path": "/profile"}, respond={"status": 422, "code": "payout_failed"}, times=1)
    fault(world, match={"path": "/profile"}, respond={"status": 503, "code": "service_unavailable"}, times=1)
    fault(world, match={"path": "/profile"}, respond={"status": 418, "code": "teapot"}, times=1)
    for _ in range(3):
        world.api("GET", "/profile")
    report = coverage(world)
    assert list(covered(report, "errors")) == ["* service_unavailable"]
    assert report["undeclared"] == [{"item": "get_profile payout_failed", "hits": 1}]
    assert item(report, "operations", "get_profile") == {
        "item": "get_profile", "method": "GET", "path": "/profile", "covered": False, "called": 3, "succeeded": 0,
        "first": item(report, "operations", "get_profile")["first"],
    }  # fmt: skip


def test_event_type_is_covered_once_acknowledged(world: Remote) -> None:
    webhook(world, "covered")
    paid(world)
    report = coverage(world)
    assert set(covered(report, "events")) == {
        "transaction.created", "transaction.awaiting_payment", "transaction.processing", "transaction.completed",
    }  # fmt: skip
    created = item(report, "events", "transaction.created")
    assert (created["emitted"], created["delivered"], created["acknowledged"]) == (1, 1, 1)


def test_a_refused_event_was_delivered_and_not_acknowledged(world: Remote) -> None:
    webhook(world, "refuses", [500])
    confirmed(world)
    world.control("POST", "/settle")
    created = item(coverage(world), "events", "transaction.created")
    assert (created["covered"], created["delivered"], created["acknowledged"]) == (False, 1, 0)


def test_event_lost_by_a_fault_counts_as_undelivered(world: Remote) -> None:
    webhook(world, "lost")
    fault(world, webhook={}, deliver={"drop": True})
    confirmed(world)
    world.control("POST", "/settle")
    created = item(coverage(world), "events", "transaction.created")
    assert (created["emitted"], created["delivered"]) == (1, 0)


def test_a_list_is_covered_by_its_second_page(world: Remote) -> None:
    for _ in range(2):
        world.api("POST", "/wallets", json={"network": "celo"}, headers=key())
    world.api("GET", "/wallets?size=1&page=3")
    world.api("GET", "/wallets")
    assert covered(coverage(world), "lists") == {}, "an empty page is no page"
    world.api("GET", "/wallets?size=1&page=2")
    wallets = covered(coverage(world), "lists")["list_wallets"]
    assert (wallets["pages"], wallets["further_pages"]) == (2, 1)


def test_a_replay_is_seen(world: Remote) -> None:
    for _ in range(3):
        world.api("POST", "/quotes", json=QUOTE, headers={"Idempotency-Key": "again"})
    assert covered(coverage(world), "practices")["idempotent_replay"]["hits"] == 2


def test_a_retry_that_arrived_is_seen(world: Remote) -> None:
    webhook(world, "later", [500, 200])
    confirmed(world)
    world.advance(by="2m")
    assert list(covered(coverage(world), "practices")) == ["event_retry_survived"]


def test_a_duplicate_that_was_acknowledged_is_seen(world: Remote) -> None:
    webhook(world, "twice")
    fault(world, webhook={"event": "transaction.created"}, deliver={"copies": 2})
    confirmed(world)
    world.control("POST", "/settle")
    assert list(covered(coverage(world), "practices")) == ["duplicate_event_acknowledged"]


@pytest.mark.parametrize(
    ("how", "practice"),
    [("corrupt_signature", "forged_webhook_refused"), ("stale_timestamp", "stale_webhook_refused")],
)
def test_a_receiver_that_checks_what_it_gets_is_seen(world: Remote, how: str, practice: str) -> None:
    fault(world, webhook={"event": "transaction.created"}, deliver={how: True}, times=1)
    webhook(world, how, [401, 200])
    confirmed(world)
    world.control("POST", "/settle")
    assert list(covered(coverage(world), "practices")) == [practice]


def test_the_account_and_its_networks_have_state_tables_too(world: Remote) -> None:
    world.act("set_kyc", status="pending")
    world.act("set_profile", status="suspended")
    world.act("set_network", network="bitcoin", status="down")
    report = coverage(world)
    assert list(covered(report, "transitions")) == [
        "network operational set_network down",
        "kyc approved set_kyc pending",
        "profile active set_profile suspended",
    ]
    assert list(covered(report, "states")) == ["network down", "kyc pending", "profile suspended"]


def test_income_of_another_user_is_not_the_integrators(world: Remote) -> None:
    destination = {"type": "platform_user", "email": "amina@example.test"}
    body = {"symbol": "USDC", "network": "CELO", "amount": "20", "destination": destination}
    assert world.api("POST", "/wallet/send", json=body, headers=key()).status == 201
    assert set(covered(coverage(world), "transitions")) == {
        "send (none) send processing",
        "send processing settle completed",
    }


def test_a_reset_clears_the_coverage_of_a_world(world: Remote) -> None:
    quote(world)
    world.control("POST", "/reset")
    assert coverage(world)["covered"] == 0


def test_a_snapshot_keeps_the_coverage(world: Remote) -> None:
    quote(world)
    snapshot = world.control("POST", "/snapshots", {}).body["id"]
    before = coverage(world)
    confirmed(world)
    assert coverage(world) != before
    assert world.control("POST", f"/snapshots/{snapshot}/restore").status == 200
    assert coverage(world) == before


def test_dropped_requests_do_not_lower_the_coverage(world: Remote) -> None:
    small = world.another(seed=1, scenarios=[], settings={"journal_limit": 1})
    quote(small)
    small.api("GET", "/profile")
    assert set(covered(coverage(small), "operations")) == {"create_token", "create_quote", "get_profile"}


def test_server_coverage_includes_deleted_worlds(world: Remote) -> None:
    other = world.another(seed=1, scenarios=[])
    before = item(coverage(world, world="*"), "operations", "create_quote")["succeeded"]
    quote(world)
    quote(other)
    assert item(coverage(world, world="*"), "operations", "create_quote")["succeeded"] == before + 2
    assert other.control("DELETE", f"/worlds/{other.world['id']}").status == 204
    world.control("POST", "/reset")
    report = coverage(world, world="*")
    assert report["world"] == "*"
    assert item(report, "operations", "create_quote")["succeeded"] == before + 2


def test_another_world_can_be_named(world: Remote, server: Remote) -> None:
    quote(world)
    assert coverage(server, world=world.world["id"]) == coverage(world)
    refusal = server.control("GET", "/coverage", params={"world": "nowhere"}).refusal
    assert refusal == (400, "invalid_parameter", "world")


def test_the_page_needs_nothing_from_anywhere_else(world: Remote) -> None:
    quote(world)
    answer = world.control("GET", "/coverage.html")
    page = answer.raw.decode()
    assert (answer.status, answer.headers["content-type"]) == (200, "text/html; charset=utf-8")
    linked = r"(?:src|href)=\"(?!#|data:,|coverage.css)"
    assert re.findall(linked + r"|https?://|@import|url\(|<script", page) == []
    assert f"Integration coverage: {coverage(world)['percent']} %" in page
    assert "prefers-color-scheme: dark" in world.control("GET", "/coverage.css").raw.decode()
    for part in coverage(world)["dimensions"].values():
        assert all(row["item"] in page for row in part["items"])
