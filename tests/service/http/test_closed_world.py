"""A world is closed (decisions S9 and S14): a transfer to an address of the same world arrives there."""

from __future__ import annotations

from typing import Any

import pytest

from tests.remote import Answer, Remote
from tests.support import BENEFICIARY, CELO, STELLAR


def wallet(world: Remote, network: str, **more: Any) -> dict[str, Any]:
    made: dict[str, Any] = world.api("POST", "/wallets", {"network": network, "reference": "till", **more}).body
    return made


def send(world: Remote, symbol: str, network: str, amount: str, destination: dict[str, Any], **more: Any) -> Answer:
    body = {"symbol": symbol, "network": network, "amount": amount, "destination": destination}
    return world.api("POST", "/wallet/send", body, **more)


def to(address: str, memo: str | None = None) -> dict[str, Any]:
    return {"type": "address", "address": address, **({"memo": memo} if memo else {})}


def settle(world: Remote, transaction_id: str) -> None:
    world.act("broadcast", transaction_id)
    assert world.act("complete", transaction_id).status == 200


def balance(world: Remote, symbol: str, network: str) -> str:
    rows = world.api("GET", "/wallet/assets").body["data"]
    found: str = next(row["balance"] for row in rows if (row["symbol"], row["network"]) == (symbol, network))
    return found


def deposits(world: Remote, wallet_id: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = world.api("GET", f"/wallets/{wallet_id}/deposits").body["data"]
    return found


@pytest.mark.parametrize(
    ("network", "symbol", "amount", "net"),
    [("stellar", "USDC", "25", "24.99"), ("celo", "CUSD", "25", "24.99"), ("bitcoin", "BTC", "0.001", "0.000995")],
)
def test_s9_a_send_to_a_deposit_wallet_of_the_world_is_detected_there(
    world: Remote, network: str, symbol: str, amount: str, net: str
) -> None:
    own = wallet(world, network)
    sent = send(world, symbol, network.upper(), amount, to(own["address"], own.get("memo"))).body
    assert deposits(world, own["id"]) == []
    settle(world, sent["id"])
    (deposit,) = deposits(world, own["id"])
    assert (deposit["status"], deposit["asset"], deposit["amount"]) == ("detected", symbol, net)
    assert deposit["tx_hash"] == world.api("GET", f"/transactions/{sent['id']}").body["tx_hash"]
    assert deposit["reference"] == "till"
    world.act("deposit_confirms", deposit["id"])
    types = world.event_types()
    assert types.index("transaction.completed") < types.index("deposit.detected") < types.index("deposit.confirmed")
    assert [row["type"] for row in world.api("GET", "/transactions").body["data"]] == ["deposit", "send"]


def test_s9_the_autopilot_takes_a_send_to_an_own_wallet_all_the_way(autopilot_world: Remote) -> None:
    own = wallet(autopilot_world, "celo")
    send(autopilot_world, "CUSD", "CELO", "25", to(own["address"].lower()))
    autopilot_world.advance(by="5m")
    assert [row["status"] for row in deposits(autopilot_world, own["id"])] == ["confirmed"]
    assert balance(autopilot_world, "CUSD", "CELO") == "999.99"


def test_s9_an_onramp_to_a_deposit_wallet_arrives_there(autopilot_world: Remote) -> None:
    own = wallet(autopilot_world, "stellar")
    quote = {"type": "onramp", "network": "stellar", "asset": "USDC", "fiat_currency": "KES", "amount": "5000"}
    made = autopilot_world.api("POST", "/quotes", {**quote, "amount_currency": "KES", "method": "mobile_money"}).body
    body = {"wallet_address": own["address"], "memo": own["memo"], "payer": {"phone_number": "+254712345678"}}
    assert autopilot_world.api("POST", f"/quotes/{made['id']}/confirm", body).status == 201
    autopilot_world.advance(by="5m")
    (deposit,) = deposits(autopilot_world, own["id"])
    assert (deposit["status"], deposit["amount"]) == ("confirmed", made["destination_amount"])


def offramp(world: Remote, network: str) -> dict[str, Any]:
    beneficiary_id = world.api("POST", "/beneficiaries", BENEFICIARY).body["id"]
    quote = {"type": "offramp", "network": network, "asset": "USDC", "fiat_currency": "KES", "amount": "30"}
    made = world.api("POST", "/quotes", {**quote, "amount_currency": "USDC", "method": "mobile_money"}).body
    refund = STELLAR if network == "stellar" else CELO
    body = {"beneficiary_id": beneficiary_id, "refund_address": refund}
    answer: dict[str, Any] = world.api("POST", f"/quotes/{made['id']}/confirm", body).body
    return answer


def status(world: Remote, transaction_id: str) -> str:
    shown: str = world.api("GET", f"/transactions/{transaction_id}").body["status"]
    return shown


@pytest.mark.parametrize("network", ["stellar", "celo"])
@pytest.mark.parametrize(("amount", "then"), [("30.01", "processing"), ("40", "processing"), ("30", "failed")])
def test_s9_a_send_to_the_deposit_address_of_an_offramp_is_its_deposit(
    world: Remote, network: str, amount: str, then: str
) -> None:
    ramp = offramp(world, network)
    sent = send(world, "USDC", network.upper(), amount, to(ramp["deposit"]["address"], ramp["deposit"].get("memo")))
    settle(world, sent.body["id"])
    shown = world.api("GET", f"/transactions/{ramp['id']}").body
    assert shown["status"] == then
    assert shown["tx_hash"] == world.api("GET", f"/transactions/{sent.body['id']}").body["tx_hash"]
    if then == "failed":
        assert shown["failure_code"] == "insufficient_deposit"


def test_s9_a_send_of_the_wrong_asset_or_without_the_memo_is_no_deposit(world: Remote) -> None:
    on_celo, on_stellar = offramp(world, "celo"), offramp(world, "stellar")
    settle(world, send(world, "CUSD", "CELO", "30.01", to(on_celo["deposit"]["address"])).body["id"])
    settle(world, send(world, "USDC", "STELLAR", "30.01", to(on_stellar["deposit"]["address"])).body["id"])
    assert [status(world, ramp["id"]) for ramp in (on_celo, on_stellar)] == ["awaiting_deposit"] * 2
    findings = world.control("GET", "/advice").body["data"]
    assert "deposit_not_matched" in {finding["kind"] for finding in findings}


def test_s9_the_autopilot_does_not_deposit_again_what_was_sent(autopilot_world: Remote) -> None:
    ramp = offramp(autopilot_world, "celo")
    sent = send(autopilot_world, "USDC", "CELO", "30.01", to(ramp["deposit"]["address"])).body
    settle(autopilot_world, sent["id"])
    autopilot_world.advance(by="5m")
    assert status(autopilot_world, ramp["id"]) == "completed"
    shown = autopilot_world.api("GET", f"/transactions/{ramp['id']}").body
    assert shown["tx_hash"] == autopilot_world.api("GET", f"/transactions/{sent['id']}").body["tx_hash"]


def test_s9_a_deposit_that_is_sent_too_late_is_reported(world: Remote) -> None:
    ramp = offramp(world, "celo")
    sent = send(world, "USDC", "CELO", "30.01", to(ramp["deposit"]["address"])).body
    world.advance(by="30m")
    settle(world, sent["id"])
    assert status(world, ramp["id"]) == "expired"
    assert "payment_not_taken" in {row["kind"] for row in world.control("GET", "/advice").body["data"]}


def test_s9_the_other_environment_is_another_world(world: Remote) -> None:
    own = wallet(world, "celo")
    sent = send(world, "CUSD", "CELO", "25", to(own["address"]), environment="production").body
    settle(world, sent["id"])
    assert deposits(world, own["id"]) == []


def invoice(world: Remote, wallet_id: str, **more: Any) -> dict[str, Any]:
    body = {"type": "invoice", "amount_sats": 50_000, **more}
    made: dict[str, Any] = world.api("POST", f"/wallets/{wallet_id}/lightning", body).body
    return made


def pay(world: Remote, text: str, kind: str = "invoice") -> Answer:
    return send(world, "BTC", "BITCOIN", "0.0005", {"type": "lightning", kind: text})


def test_s9_an_invoice_of_the_world_that_is_paid_is_credited(world: Remote) -> None:
    own = wallet(world, "bitcoin")
    asked = invoice(world, own["id"])
    settle(world, pay(world, asked["payment_request"]).body["id"])
    (deposit,) = deposits(world, own["id"])
    assert (deposit["status"], deposit["channel"], deposit["amount"]) == ("confirmed", "lightning", "0.0005")
    assert world.api("GET", f"/wallets/{own['id']}/lightning").body["data"][0]["status"] == "paid"
    assert balance(world, "BTC", "BITCOIN") == "0.499995"
    assert {"lightning.invoice_paid", "deposit.confirmed"} <= set(world.event_types())


def entry_of(world: Remote, wallet_id: str) -> dict[str, Any]:
    """The newest Lightning entry of a wallet."""
    found: dict[str, Any] = world.api("GET", f"/wallets/{wallet_id}/lightning").body["data"][0]
    return found


def in_flight(world: Remote, **more: Any) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """A bitcoin wallet, its invoice for one minute, and a payment that is broadcast and not complete."""
    own = wallet(world, "bitcoin")
    asked = invoice(world, own["id"], **{"expires_in": 60} | more)
    sent = pay(world, asked["payment_request"]).body
    world.act("broadcast", sent["id"])
    return own, asked, sent


@pytest.mark.parametrize("late", ["60s", "61s", "50m"])
def test_s13_invoice_with_late_completion_is_paid(world: Remote, late: str) -> None:
    own, asked, sent = in_flight(world)
    world.advance(by=late)
    assert entry_of(world, own["id"])["status"] == "pending"
    assert world.act("complete", sent["id"]).status == 200
    assert entry_of(world, own["id"])["status"] == "paid"
    types = world.event_types()
    assert types[-3:] == ["transaction.completed", "lightning.invoice_paid", "deposit.confirmed"]
    assert "lightning.invoice_expired" not in types
    assert balance(world, "BTC", "BITCOIN") == "0.499995"
    world.advance(by="5m")
    assert entry_of(world, own["id"])["status"] == "paid"
    assert world.act("invoice_paid", asked["id"]).code == "invalid_transition"


@pytest.mark.parametrize("late", ["60s", "50m"])
def test_s13_invoice_with_late_failure_expires_at_once(world: Remote, late: str) -> None:
    own, asked, sent = in_flight(world)
    world.advance(by=late)
    world.act("fail", sent["id"])
    assert entry_of(world, own["id"])["status"] == "expired"
    assert world.event_types()[-2:] == ["transaction.failed", "lightning.invoice_expired"]
    assert deposits(world, own["id"]) == []
    assert pay(world, asked["payment_request"]).code == "invoice_expired"
    world.advance(by="5m")
    assert world.event_types().count("lightning.invoice_expired") == 1


def test_s13_invoice_with_early_failure_stays_pending(world: Remote) -> None:
    own, asked, sent = in_flight(world)
    world.advance(by="59s")
    world.act("fail", sent["id"])
    assert entry_of(world, own["id"])["status"] == "pending"
    again = pay(world, asked["payment_request"])
    assert again.status == 201
    world.advance(by="1s")
    assert entry_of(world, own["id"])["status"] == "pending"
    settle(world, again.body["id"])
    assert entry_of(world, own["id"])["status"] == "paid"


def test_s13_invoice_whose_payment_failed_expires_on_time(world: Remote) -> None:
    own, _, sent = in_flight(world)
    world.act("fail", sent["id"])
    world.advance(by="59s")
    assert entry_of(world, own["id"])["status"] == "pending"
    world.advance(by="1s")
    assert entry_of(world, own["id"])["status"] == "expired"


def test_s13_invoice_delete_in_flight_is_refused(world: Remote) -> None:
    own, asked, sent = in_flight(world)
    path = f"/wallets/{own['id']}/lightning/{asked['id']}"
    assert world.api("DELETE", path).refusal == (409, "invalid_state", None)
    world.act("fail", sent["id"])
    assert world.api("DELETE", path).status == 204
    assert pay(world, asked["payment_request"]).refusal == (409, "invalid_state", "destination.invoice")


def test_s13_invoice_in_flight_survives_a_snapshot(world: Remote) -> None:
    own, asked, sent = in_flight(world)
    world.advance(by="61s")
    snapshot = world.control("POST", "/snapshots", {}).body["id"]
    world.act("fail", sent["id"])
    assert entry_of(world, own["id"])["status"] == "expired"
    assert world.control("POST", f"/snapshots/{snapshot}/restore").status == 200
    assert entry_of(world, own["id"])["status"] == "pending"
    assert world.act("invoice_paid", asked["id"]).code == "invalid_transition"
    assert world.act("complete", sent["id"]).status == 200
    assert entry_of(world, own["id"])["status"] == "paid"


def test_s13_autopilot_leaves_an_invoice_in_flight_alone(autopilot_world: Remote) -> None:
    """The scenario's step `invoice_paid` is skipped, so the credit is the payment's alone."""
    own = wallet(autopilot_world, "bitcoin")
    asked = invoice(autopilot_world, own["id"], expires_in=1)
    pay(autopilot_world, asked["payment_request"])
    autopilot_world.advance(by="10m")
    assert entry_of(autopilot_world, own["id"])["status"] == "paid"
    assert [row["amount"] for row in deposits(autopilot_world, own["id"])] == ["0.0005"]


def test_s13_address_deleted_in_flight_is_credited(world: Remote) -> None:
    own = wallet(world, "bitcoin", lightning=True)
    address = own["lightning_addresses"][0]
    sent = pay(world, address["address"], "lightning_address").body
    assert world.api("DELETE", f"/wallets/{own['id']}/lightning/{address['id']}").status == 204
    settle(world, sent["id"])
    assert [row["status"] for row in deposits(world, own["id"])] == ["confirmed"]


@pytest.mark.parametrize("kind", ["invoice", "lightning_address"])
def test_s13_send_to_a_disabled_wallet_is_refused(world: Remote, kind: str) -> None:
    own = wallet(world, "bitcoin", lightning=True)
    text = invoice(world, own["id"])["payment_request"]
    if kind == "lightning_address":
        text = own["lightning_addresses"][0]["address"]
    world.api("PATCH", f"/wallets/{own['id']}", {"status": "disabled"})
    assert pay(world, text, kind).refusal == (409, "wallet_disabled", f"destination.{kind}")
    world.api("PATCH", f"/wallets/{own['id']}", {"status": "active"})
    assert pay(world, text, kind).status == 201


def test_s13_send_to_a_deleted_entry_is_invalid_state(world: Remote) -> None:
    """The entry itself goes before its wallet: enabling the wallet again would not help."""
    own = wallet(world, "bitcoin", lightning=True)
    address = own["lightning_addresses"][0]
    world.api("DELETE", f"/wallets/{own['id']}/lightning/{address['id']}")
    world.api("PATCH", f"/wallets/{own['id']}", {"status": "disabled"})
    refused = pay(world, address["address"], "lightning_address")
    assert refused.refusal == (409, "invalid_state", "destination.lightning_address")


def test_s14_an_invoice_that_is_paid_while_its_wallet_is_disabled_is_paid_once(world: Remote) -> None:
    own = wallet(world, "bitcoin")
    asked = invoice(world, own["id"])
    sent = pay(world, asked["payment_request"]).body
    world.api("PATCH", f"/wallets/{own['id']}", {"status": "disabled"})
    settle(world, sent["id"])
    assert world.api("GET", f"/wallets/{own['id']}/lightning").body["data"][0]["status"] == "paid"
    assert "lightning.invoice_paid" in world.event_types()
    assert world.act("invoice_paid", asked["id"]).code == "invalid_transition"
    assert len(deposits(world, own["id"])) == 1


def test_s9_a_lightning_address_of_the_world_that_is_paid_is_credited(world: Remote) -> None:
    own = wallet(world, "bitcoin", lightning=True)
    address = own["lightning_addresses"][0]["address"]
    for _ in range(2):
        settle(world, pay(world, address, "lightning_address").body["id"])
    assert [row["amount"] for row in deposits(world, own["id"])] == ["0.000495", "0.000495"]


def test_s14_an_invoice_is_paid_once(world: Remote) -> None:
    own = wallet(world, "bitcoin")
    asked = invoice(world, own["id"])
    first = pay(world, asked["payment_request"])
    assert first.status == 201
    assert pay(world, asked["payment_request"]).refusal == (409, "invalid_state", "destination.invoice")
    assert pay(world, asked["payment_request"].upper()).code == "invalid_state"
    assert world.act("invoice_paid", asked["id"]).code == "invalid_transition"
    settle(world, first.body["id"])
    assert pay(world, asked["payment_request"]).refusal == (409, "invalid_state", "destination.invoice")


def test_s14_an_invoice_that_somebody_else_paid_cannot_be_paid_again(world: Remote) -> None:
    asked = invoice(world, wallet(world, "bitcoin")["id"])
    world.act("invoice_paid", asked["id"])
    assert pay(world, asked["payment_request"]).refusal == (409, "invalid_state", "destination.invoice")


def test_s14_an_invoice_whose_payment_failed_can_be_paid(world: Remote) -> None:
    asked = invoice(world, wallet(world, "bitcoin")["id"])
    world.act("fail", pay(world, asked["payment_request"]).body["id"])
    assert pay(world, asked["payment_request"]).status == 201


def test_h2_an_amount_unlike_the_invoices_is_malformed(world: Remote) -> None:
    asked = invoice(world, wallet(world, "bitcoin")["id"])
    destination = {"type": "lightning", "invoice": asked["payment_request"]}
    for network in ("BITCOIN", "bitcoin"):
        refused = send(world, "BTC", network, "0.0004", destination)
        assert refused.refusal == (400, "invalid_parameter", "amount")


def test_s14_an_expired_invoice_is_expired(world: Remote) -> None:
    asked = invoice(world, wallet(world, "bitcoin")["id"], expires_in=60)
    world.advance(by="60s")
    assert pay(world, asked["payment_request"]).code == "invoice_expired"


def test_s14_an_invoice_of_another_world_is_paid_once_too(world: Remote) -> None:
    other = world.another(seed=7, scenarios=[])
    text = invoice(other, wallet(other, "bitcoin")["id"])["payment_request"]
    settle(world, pay(world, text).body["id"])
    assert pay(world, text).refusal == (409, "invalid_state", "destination.invoice")
