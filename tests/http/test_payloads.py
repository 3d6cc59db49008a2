"""What events carry besides what answers show (decision W8)."""

from __future__ import annotations

from typing import Any

from tests.http.conftest import Remote


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
    world.api("POST", f"/wallets/{wallet['id']}/lightning", {"type": "invoice", "amount_sats": 1000})
    world.act("emit", type="lightning.invoice_paid")
    assert told(world, type="lightning.invoice_paid")["reference"] is None
