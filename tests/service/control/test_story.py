"""Inspecting a resource: history, causes and related resources."""

from __future__ import annotations

from typing import Any

import pytest

from tests.remote import Remote
from tests.service.control.test_trigger import offramp, onramp, quote, recurring, trigger
from tests.support import BENEFICIARY, CELO


def story(world: Remote, identifier: str) -> dict[str, Any]:
    answer = world.control("GET", f"/resources/{identifier}")
    assert answer.status == 200, answer.body
    told: dict[str, Any] = answer.body
    return told


def test_every_transition_has_a_cause(autopilot_world: Remote) -> None:
    mine = onramp(autopilot_world)
    autopilot_world.advance(by="15s")
    autopilot_world.act("fail", mine["id"])
    told = story(autopilot_world, mine["id"])
    assert [{name: step[name] for name in ("state", "at", "trigger")} for step in told["history"]] == [
        {"state": "awaiting_payment", "at": "2026-01-05T08:00:00.000Z", "trigger": "confirm"},
        {"state": "processing", "at": "2026-01-05T08:00:15.000Z", "trigger": "payment_arrives"},
        {"state": "failed", "at": "2026-01-05T08:00:15.000Z", "trigger": "fail"},
    ]
    request, rule, action = (step["cause"] for step in told["history"])
    journal = autopilot_world.control("GET", "/requests", params={"path": "*/confirm"}).body["data"][0]
    assert (request["kind"], request["reference"]) == ("request", journal["id"])
    assert request["request"]["path"] == f"/v1/quotes/{mine['quote_id']}/confirm"
    assert (rule["kind"], rule["name"], rule["file"]) == ("rule", "autopilot", "scenarios/autopilot.yaml")
    assert rule["line"] > 1
    assert (action["kind"], action["control"]["path"]) == ("action", "/actions/fail")
    controls = autopilot_world.control("GET", "/controls").body["data"]
    assert action["reference"] in [row["id"] for row in controls]


def test_a_law_is_a_cause_too(world: Remote) -> None:
    mine = quote(world)
    world.advance(by="30m")
    told = story(world, mine["id"])
    assert told["history"][-1]["cause"]["kind"] == "law"
    assert told["history"][-1]["cause"]["text"] == "the timer: the quote expires unused"
    assert told["events"][-1]["type"] == "quote.expired"
    assert told["events"][-1]["cause"] == told["history"][-1]["cause"]


def test_resource_timers_include_steps_with_file_and_line(autopilot_world: Remote) -> None:
    timers = story(autopilot_world, onramp(autopilot_world)["id"])["timers"]
    step, law = timers
    assert (step["kind"], step["scenario"], step["action"], step["part"]) == (
        "scenario.step",
        "autopilot",
        "payment_arrives",
        "rules[0].do[0]",
    )
    assert (step["due_at"], step["file"]) == ("2026-01-05T08:00:15.000Z", "scenarios/autopilot.yaml")
    assert (law["due_at"], law["kind"]) == ("2026-01-05T08:30:00.000Z", "ramp.deadline")
    assert law["text"] == "the deadline for the payment or deposit passes"


def test_a_refusal_has_a_reason(world: Remote) -> None:
    mine = onramp(world)
    told = story(world, mine["id"])
    assert told["allowed"] == ["payment_arrives", "payment_declined"]
    refused = {row["action"]: row["reason"] for row in told["refused"]}
    assert refused["complete"] == "not legal in the state 'awaiting_payment', only in processing"
    world.act("payment_declined", mine["id"])
    refused = {row["action"]: row["reason"] for row in story(world, mine["id"])["refused"]}
    assert "no funds were received" in refused["refund"]


def related(told: dict[str, Any]) -> set[tuple[str, str]]:
    return {(row["relation"], row["id"]) for row in told["related"]}


def test_related_resources_are_listed_on_both_sides(world: Remote) -> None:
    mine = offramp(world)
    told = story(world, mine["id"])
    assert related(told) == {
        ("order", mine["order_id"]),
        ("quote", mine["quote_id"]),
        ("beneficiary", mine["beneficiary_id"]),
    }
    for identifier in (mine["quote_id"], mine["beneficiary_id"]):
        assert ("transaction", mine["id"]) in related(story(world, identifier))
    assert story(world, mine["order_id"])["resource"] == told["resource"]


def test_deposit_is_related_to_its_wallet_and_transaction(world: Remote) -> None:
    wallet = world.api("POST", "/wallets", {"network": "celo"}).body
    deposit = world.act("deposit_arrives", wallet["id"], asset="USDC", amount="3").body["resource"]
    world.act("deposit_confirms", deposit["id"])
    told = story(world, deposit["id"])
    assert ("wallet", wallet["id"]) in related(told)
    assert ("deposit", deposit["id"]) in related(story(world, wallet["id"]))
    credited = next(identifier for relation, identifier in related(told) if relation == "transaction")
    entries = story(world, credited)["ledger_entries"]
    assert [posting["amount"] for posting in entries[0]["postings"]] == ["-3", "3"]


def test_a_run_leads_to_its_recurring_payment(world: Remote) -> None:
    mine = recurring(world)
    answer = trigger(world, "recurring_payment.run_succeeded", mine["id"]).body
    transaction_id = answer["event"]["data"]["object"]["run"]["transaction_id"]
    assert ("recurring_payment", mine["id"]) in related(story(world, transaction_id))
    assert ("transaction", transaction_id) in related(story(world, mine["id"]))


def test_origin_shows_the_creating_request_and_the_bound_scenario(world: Remote) -> None:
    body = {"wallet_address": CELO, "payer": {"phone_number": "+254722000000"}, "secret_key": "sk_test_oops"}
    headers = {"X-Simulator-Scenario": "payment-declined"}
    mine = world.api("POST", f"/quotes/{quote(world)['id']}/confirm", body, headers).body
    origin = story(world, mine["id"])["origin"]
    assert origin["scenario"] == "payment-declined"
    assert origin["body"] == {**body, "secret_key": "***"}
    assert origin["cause"]["kind"] == "request"
    triggered = trigger(world, "transaction.created").body["target"]
    assert story(world, triggered)["origin"]["cause"]["control"]["path"] == "/trigger"
    assert story(world, quote(world)["id"])["origin"]["scenario"] is None


def test_deliveries_contain_only_its_own_events(world: Remote, origin: str) -> None:
    url = f"{origin}/_simulator/inbox/story"
    world.control("PUT", "/inbox/story", {"respond": [200, 200, 500, 200]})
    endpoint = world.api("POST", "/webhooks", {"url": url, "events": ["*"]}).body
    first, second = (world.api("POST", "/beneficiaries", BENEFICIARY).body for _ in range(2))
    world.advance(by="2m")
    for saved, attempts in ((first, [1]), (second, [1, 2])):
        told = story(world, saved["id"])
        assert {row["event_id"] for row in told["deliveries"]} == {event["id"] for event in told["events"]}
        assert [row["attempt"] for row in told["deliveries"]] == attempts
    assert story(world, endpoint["id"])["kind"] == "webhook"


def test_every_kind_of_resource_can_be_inspected(autopilot_world: Remote) -> None:
    wallet = autopilot_world.api("POST", "/wallets", {"network": "bitcoin", "lightning": True}).body
    autopilot_world.api("POST", f"/wallets/{wallet['id']}/lightning", {"type": "invoice", "amount_sats": 500})
    saved = autopilot_world.api("POST", "/beneficiaries", BENEFICIARY).body
    assert autopilot_world.api("DELETE", f"/beneficiaries/{saved['id']}").status == 204
    recurring(autopilot_world)
    for event in ("recurring_payment.run_succeeded", "recurring_payment.deleted", "deposit.confirmed", "quote.expired"):
        assert trigger(autopilot_world, event).status == 200
    rows = autopilot_world.control("GET", "/resources").body["data"]
    fee = autopilot_world.api("GET", "/fees", params={"size": "1"}).body["data"][0]
    ids = [row["id"] for row in rows] + [fee["id"], "network_sandbox_bitcoin"]
    kinds = set()
    for identifier in ids:
        told = story(autopilot_world, identifier)
        assert (told["resource"].get("id"), bool(told["state"])) in ((identifier, True), (None, True))
        kinds.add(told["kind"])
    assert {"wallet", "lightning_address", "invoice", "recurring_payment", "fee_product", "network"} <= kinds
    assert story(autopilot_world, saved["id"])["deleted"] is True
    amina = autopilot_world.world["platform_users"][0]["user_id"]
    received = autopilot_world.control("GET", "/resources", params={"user_id": amina}).body["data"][0]
    assert story(autopilot_world, received["id"])["user_id"] == amina


def test_history_continues_after_a_restore(world: Remote) -> None:
    mine = onramp(world)
    before = story(world, mine["id"])
    kept = world.control("POST", "/snapshots").body["id"]
    world.act("payment_arrives", mine["id"])
    assert len(story(world, mine["id"])["events"]) == 3
    world.control("POST", f"/snapshots/{kept}/restore")
    assert story(world, mine["id"]) == before
    world.act("payment_declined", mine["id"])
    assert [event["type"] for event in story(world, mine["id"])["events"]][-1] == "transaction.failed"


def test_an_unknown_id_is_404(world: Remote) -> None:
    assert world.control("GET", "/resources/txn_nothing").refusal[:2] == (404, "not_found")


@pytest.mark.parametrize("path", ["/resources/ORD-00000099", "/resources/unknown"])
def test_unknown_numbers_are_404_too(world: Remote, path: str) -> None:
    assert world.control("GET", path).status == 404
