"""Fields that events have in addition to responses (decision W8)."""

from __future__ import annotations

from typing import Any

from tests.remote import Remote
from tests.support import BENEFICIARY, CELO


def told(world: Remote, **query: str) -> Any:
    return world.control("GET", "/events", params=query).body["data"][-1]["data"]["object"]


def test_w8_lightning_entries_in_events_carry_the_reference_of_their_wallet(world: Remote) -> None:
    wallet = world.api("POST", "/wallets", {"network": "bitcoin", "reference": "till-3", "lightning": True}).body
    path = f"/wallets/{wallet['id']}/lightning"
    address = world.api("GET", path).body["data"][0]
    assert told(world, type="wallet.created") == {**address, "reference": "till-3"}
    paid, late = (world.api("POST", path, {"type": "invoice", "amount_sats": 1000}).body for _ in range(2))
    world.act("invoice_paid", paid["id"])
    assert told(world, type="lightning.invoice_paid") == {**paid, "status": "paid", "reference": "till-3"}
    world.advance(by="30m")
    assert told(world, type="lightning.invoice_expired") == {**late, "status": "expired", "reference": "till-3"}
    for row in world.api("GET", path).body["data"]:
        assert "reference" not in row


def test_w8_an_emitted_lightning_event_carries_it_too(world: Remote) -> None:
    wallet = world.api("POST", "/wallets", {"network": "bitcoin"}).body
    world.act("emit", type="lightning.invoice_paid")
    assert told(world, type="lightning.invoice_paid")["reference"] == "customer-42"
    made = world.api("POST", f"/wallets/{wallet['id']}/lightning", {"type": "invoice", "amount_sats": 1000}).body
    world.act("invoice_paid", made["id"])
    world.act("emit", type="lightning.invoice_paid")
    assert told(world, type="lightning.invoice_paid")["reference"] is None


def send(world: Remote) -> dict[str, Any]:
    destination = {"type": "address", "address": CELO}
    body = {"symbol": "CUSD", "network": "CELO", "amount": "20", "destination": destination}
    made: dict[str, Any] = world.api("POST", "/wallet/send", body).body
    return made


def test_an_emitted_event_never_contradicts_its_resource(world: Remote) -> None:
    made = send(world)
    for outcome in ("completed", "failed", "refunded"):
        object_ = world.act("emit", type=f"transaction.{outcome}").body["resource"]
        assert (object_["id"] != made["id"], object_["status"]) == (True, outcome)
    world.act("broadcast", made["id"])
    assert world.act("emit", type="transaction.processing").body["resource"]["id"] == made["id"]
    world.act("complete", made["id"])
    object_ = world.act("emit", type="transaction.completed").body["resource"]
    assert object_ == world.api("GET", f"/transactions/{made['id']}").body
    assert object_["tx_hash"] is not None


def test_an_emitted_creation_shows_a_new_resource(world: Remote) -> None:
    wallet = world.api("POST", "/wallets", {"network": "celo"}).body
    assert world.act("emit", type="wallet.created").body["resource"] == wallet
    world.api("PATCH", f"/wallets/{wallet['id']}", {"status": "disabled"})
    assert world.act("emit", type="wallet.created").body["resource"]["id"] != wallet["id"]


def test_an_emitted_deletion_shows_a_deleted_beneficiary(world: Remote) -> None:
    gone, kept = (world.api("POST", "/beneficiaries", BENEFICIARY).body["id"] for _ in range(2))
    world.api("DELETE", f"/beneficiaries/{gone}")
    assert world.act("emit", type="beneficiary.deleted").body["resource"]["id"] == gone
    assert world.act("emit", type="beneficiary.created").body["resource"]["id"] == kept


def test_an_emitted_approval_lists_no_more_required_actions(world: Remote) -> None:
    world.act("set_kyc", status="action_required", required_actions=[{"code": "selfie", "message": "Send one."}])
    shown = world.act("emit", type="kyc.approved").body["resource"]
    assert (shown["kyc_status"], shown["required_actions"]) == ("approved", [])


def test_an_emitted_run_is_the_last_run_or_an_example(world: Remote) -> None:
    example = world.act("emit", type="recurring_payment.run_succeeded").body["resource"]
    assert world.control("POST", "/trigger", {"event": "recurring_payment.run_succeeded"}).status == 200
    true = told(world, type="recurring_payment.run_succeeded")
    assert true["id"] != example["id"]
    assert world.act("emit", type="recurring_payment.run_succeeded").body["resource"] == true
