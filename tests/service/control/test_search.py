"""Searching a world by reference, id, amount or phone number."""

from __future__ import annotations

from typing import Any

import pytest

from tests.remote import Remote
from tests.service.control.test_trigger import onramp
from tests.service.http.test_test_values import offramp
from tests.support import CELO


def search(world: Remote, text: str, **more: Any) -> list[dict[str, Any]]:
    answer = world.control("GET", "/search", params={"q": text, **more})
    assert answer.status == 200, answer.body
    found: list[dict[str, Any]] = answer.body["data"]
    return found


@pytest.fixture
def mine(world: Remote) -> dict[str, Any]:
    """An order among others that share only a part of its reference."""
    for number in ("500", "4999", "5000-b"):
        onramp(world)
        assert offramp(world, "1234", reference=f"order-{number}").status == 201
    made: dict[str, Any] = offramp(world, "0001", reference="order-5000").body
    onramp(world)
    return made


def test_order_with_the_exact_reference_is_found_first(world: Remote, mine: dict[str, Any]) -> None:
    first, *others = search(world, "order-5000")
    assert (first["sort"], first["id"], first["title"]) == ("resource", mine["id"], "order-5000")
    assert (first["kind"], first["status"]) == ("offramp", "awaiting_deposit")
    assert first["matched"] == {"field": "reference", "value": "order-5000"}
    assert world.control("GET", first["path"].removeprefix("/_simulator")).body["resource"]["id"] == mine["id"]
    assert others[0]["title"] == "order-5000-b"


@pytest.mark.parametrize("member", ["id", "order_id", "quote_id", "beneficiary_id"])
def test_it_is_found_by_its_numbers_of_the_service(world: Remote, mine: dict[str, Any], member: str) -> None:
    assert mine["id"] in [row["id"] for row in search(world, mine[member].upper())]


@pytest.mark.parametrize("text", ["+254722000001", "254 722 00-0001", "722000001", "0722 000001", "0722000001"])
def test_a_phone_number_is_found_however_it_is_written(world: Remote, mine: dict[str, Any], text: str) -> None:
    first = search(world, text)[0]
    assert (first["kind"], first["id"]) == ("beneficiary", mine["beneficiary_id"])
    assert first["matched"]["value"] == "+254722000001"


@pytest.mark.parametrize("text", ["50", "50.0", "50.000"])
def test_an_amount_is_found_by_its_value(world: Remote, mine: dict[str, Any], text: str) -> None:
    found = search(world, text)
    assert mine["id"] in [row["id"] for row in found]
    assert {row["matched"]["value"] for row in found[:4]} <= {"50", "50.00"}


def test_fields_of_the_creating_request_are_searched(world: Remote) -> None:
    mine = offramp(world, "1234").body
    rows = {row["id"]: row["matched"]["field"] for row in search(world, CELO)}
    assert rows[mine["id"]] == "request.refund_address"


def test_search_finds_requests_events_deliveries_and_scenarios(world: Remote, mine: dict[str, Any]) -> None:
    inbox = f"{world.origin}/_simulator/inbox/of-search"
    assert world.api("POST", "/webhooks", {"url": inbox, "events": ["transaction.expired"]}).status == 201
    world.advance(by="31m")
    sorts = {row["sort"] for row in search(world, "transaction.expired", limit=500)}
    assert {"event", "delivery"} <= sorts
    assert [row["id"] for row in search(world, "test-values")] == ["test-values"]
    call = search(world, f"/quotes/{mine['quote_id']}/confirm")[0]
    assert (call["sort"], call["kind"], call["status"]) == ("request", "confirm_quote", "201")
    assert "delivery" in {row["sort"] for row in search(world, "of-search", limit=500)}


def test_a_changed_row_is_found_in_its_current_state(world: Remote, mine: dict[str, Any]) -> None:
    assert not [row for row in search(world, "payout_failed") if row["sort"] == "resource"]
    world.act("deposit_arrives", mine["id"])
    world.act("fail", mine["id"], failure_code="payout_failed")
    assert [row["id"] for row in search(world, "payout_failed") if row["sort"] == "resource"] == [mine["id"]]


def test_exact_amount_ranks_before_longer_numbers(world: Remote) -> None:
    offramp(world, "5050")
    exact = offramp(world, "1234", reference="of fifty").body
    for _ in range(3):
        offramp(world, "5050")
    found = [row for row in search(world, "50", limit=100) if row["kind"] == "offramp"]
    assert exact["id"] in [row["id"] for row in found[:5]]
    first = search(world, "50")[0]
    assert first["matched"]["value"] in ("50", "50.00")


def test_no_secret_is_found(world: Remote, mine: dict[str, Any]) -> None:
    secret = world.world["credentials"]["sandbox"]["secret_key"]
    assert search(world, secret) == []


def test_search_is_bounded_and_reports_looked_at(world: Remote, mine: dict[str, Any]) -> None:
    answer = world.control("GET", "/search", params={"q": "r", "limit": "2"}).body
    assert len(answer["data"]) == 2
    assert answer["looked_at"] > 20
    assert answer["truncated"] is False


@pytest.mark.parametrize(
    ("text", "code"),
    [("", "missing_parameter"), ("  ", "missing_parameter"), ("x" * 201, "invalid_parameter")],
)
def test_an_impossible_search_is_refused(world: Remote, text: str, code: str) -> None:
    assert world.control("GET", "/search", params={"q": text}).refusal == (400, code, "q")
