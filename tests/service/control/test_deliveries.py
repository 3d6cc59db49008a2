"""One delivery attempt with its schedule of past attempts and planned retries."""

from __future__ import annotations

from typing import Any

from tests.remote import Remote


def schedule(world: Remote) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    """Return the newest delivery of a wallet's event, and its schedule as times and statuses."""
    newest = world.control("GET", "/deliveries", params={"event_type": "wallet.created"}).body["data"][-1]
    found = world.control("GET", f"/deliveries/{newest['id']}").body
    return found, [(row["at"][8:16], row["status"]) for row in found["schedule"]]


def test_failed_delivery_shows_all_planned_retries(world: Remote) -> None:
    name = f"late-{world.world['id']}"
    assert world.control("POST", f"/inbox/{name}/subscribe").status == 201
    world.control("PUT", f"/inbox/{name}", {"respond": [500, 500, 200]})
    world.api("POST", "/wallets", {"network": "stellar", "label": "late"})
    world.control("POST", "/settle")
    story, rows = schedule(world)
    assert (story["attempt"], story["endpoint_status"]) == (1, "enabled")
    assert rows[:4] == [
        ("05T08:00", "failed"),
        ("05T08:01", "planned"),
        ("05T08:06", "planned"),
        ("05T08:36", "planned"),
    ]
    assert len(rows) == 11
    assert rows[-1] == ("08T04:36", "planned"), "68 h 36 min after the first"
    world.advance(by="1m")
    assert schedule(world)[1][:3] == [("05T08:00", "failed"), ("05T08:01", "failed"), ("05T08:06", "planned")]
    world.advance(by="5m")
    story, rows = schedule(world)
    assert [status for _, status in rows] == ["failed", "failed", "succeeded"]
    assert [row["attempt"] for row in story["schedule"]] == [1, 2, 3]


def test_only_deliveries_of_the_event_type_are_listed(world: Remote) -> None:
    assert world.control("POST", f"/inbox/all-{world.world['id']}/subscribe").status == 201
    world.api("POST", "/wallets", {"network": "stellar", "label": "late"})
    world.act("set_kyc", status="action_required")
    world.control("POST", "/settle")
    found = world.control("GET", "/deliveries", params={"event_type": "kyc.action_required"}).body["data"]
    assert {row["event_type"] for row in found} == {"kyc.action_required"}
    assert world.control("GET", "/deliveries", params={"event_type": "kyc.action"}).refusal == (
        400,
        "invalid_parameter",
        "event_type",
    )


def test_there_is_no_delivery_of_an_unknown_id(world: Remote) -> None:
    assert world.control("GET", "/deliveries/dlv_none").refusal == (404, "not_found", None)


def test_timers_say_what_they_do(world: Remote) -> None:
    world.control("PUT", "/scenarios/active", {"names": ["autopilot"]})
    quote = {"type": "onramp", "network": "celo", "asset": "USDC", "fiat_currency": "KES", "method": "mobile_money"}
    made = world.api("POST", "/quotes", {**quote, "amount": "5000", "amount_currency": "KES"}).body
    payer = {"wallet_address": "0x52908400098527886E0F7030069857D2E4169EE7"}
    world.api("POST", f"/quotes/{made['id']}/confirm", {**payer, "payer": {"phone_number": "+254712345678"}})
    texts = [row["text"] for row in world.control("GET", "/timers").body["data"]]
    assert any(text.startswith("payment_arrives, a step of the scenario autopilot (") for text in texts), texts
    assert all(" " in text for text in texts)
