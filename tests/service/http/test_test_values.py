"""Test values: ordinary request data that selects an outcome, as in a partner's pipeline."""

from __future__ import annotations

from typing import Any

import pytest

from tests.remote import Answer, Remote
from tests.support import CELO, QUOTE


def confirm(world: Remote, payer: str, **more: Any) -> Answer:
    quote = world.api("POST", "/quotes", json=QUOTE).body["id"]
    body = {"wallet_address": CELO, "payer": {"phone_number": payer}, **more}
    return world.api("POST", f"/quotes/{quote}/confirm", json=body)


def buy(world: Remote, payer: str, **more: Any) -> Answer:
    body = {
        "symbol": "USDC", "network": "CELO", "fiat_currency": "KES", "amount": "5000", "amount_currency": "fiat",
        "method": "mobile_money",
    }  # fmt: skip
    quote = world.api("POST", "/wallet/buy/quote", json=body).body["id"]
    return world.api("POST", "/wallet/buy", json={"quote_id": quote, "payer": {"phone_number": payer}, **more})


def beneficiary(world: Remote, ending: str, kind: str = "phone_number") -> Answer:
    body: dict[str, Any] = {"type": kind, "name": "Wanjiru Otieno", "country": "KE", "fiat_currency": "KES"}
    if kind == "phone_number":
        body[kind] = {"phone_number": f"+25472200{ending}", "provider": "mpesa"}
    else:
        body[kind] = {"bank_code": "01", "account_number": f"123456{ending}", "account_name": "Wanjiru Otieno"}
    return world.api("POST", "/beneficiaries", json=body)


def offramp(world: Remote, ending: str, kind: str = "phone_number", **more: Any) -> Answer:
    method = "mobile_money" if kind == "phone_number" else "bank_transfer"
    body = QUOTE | {"type": "offramp", "amount": "50", "amount_currency": "USDC", "method": method}
    quote = world.api("POST", "/quotes", json=body).body["id"]
    target = beneficiary(world, ending, kind).body["id"]
    return world.api(
        "POST", f"/quotes/{quote}/confirm", json={"beneficiary_id": target, "refund_address": CELO, **more}
    )


def withdraw(world: Remote, ending: str, **more: Any) -> Answer:
    target = beneficiary(world, ending).body["id"]
    body = {
        "symbol": "USDC", "network": "CELO", "fiat_currency": "KES", "amount": "50", "amount_currency": "USDC",
        "beneficiary_id": target,
    }  # fmt: skip
    quote = world.api("POST", "/wallet/withdraw/quote", json=body).body["id"]
    return world.api("POST", "/wallet/withdraw", json={"quote_id": quote, **more})


def outcome(world: Remote, answer: Answer) -> list[tuple[str, str | None]]:
    """The statuses that a transaction goes through within a day, with its failure code."""
    assert answer.status == 201, answer.body
    world.advance(by="1d")
    events = world.control("GET", "/events", params={"object_id": answer.body["id"]}).body["data"]
    return [(event["type"].partition(".")[2], event["data"]["object"].get("failure_code")) for event in events]


def test_a_number_without_a_suffix_succeeds(autopilot_world: Remote) -> None:
    assert outcome(autopilot_world, confirm(autopilot_world, "+254712345678"))[-1] == ("completed", None)


def test_payer_0001_is_declined(autopilot_world: Remote) -> None:
    assert outcome(autopilot_world, confirm(autopilot_world, "+254712340001"))[-1] == ("failed", "payment_failed")
    autopilot_world.tokens.clear()
    assert outcome(autopilot_world, buy(autopilot_world, "+254712340001")) == [("failed", "payment_failed")]


def test_payer_0002_never_pays(autopilot_world: Remote) -> None:
    assert outcome(autopilot_world, confirm(autopilot_world, "+254712340002"))[-1] == ("expired", None)
    autopilot_world.tokens.clear()
    bought = buy(autopilot_world, "+254712340002")
    assert outcome(autopilot_world, bought) == []
    autopilot_world.tokens.clear()
    assert autopilot_world.api("GET", f"/transactions/{bought.body['id']}").body["status"] == "pending"


def test_payer_0003_has_too_low_a_balance_for_a_buy(autopilot_world: Remote) -> None:
    assert buy(autopilot_world, "+254712340003").refusal[:2] == (422, "insufficient_balance")
    assert outcome(autopilot_world, confirm(autopilot_world, "+254712340003"))[-1] == ("completed", None)


def test_payer_0009_fails_at_once_and_leaves_the_quote_usable(autopilot_world: Remote) -> None:
    quote = autopilot_world.api("POST", "/quotes", json=QUOTE).body["id"]
    body = {"wallet_address": CELO, "payer": {"phone_number": "+254712340009"}}
    refused = autopilot_world.api("POST", f"/quotes/{quote}/confirm", json=body, headers={"Idempotency-Key": "k"})
    assert (refused.status, refused.code) == (422, "payment_failed")
    again = autopilot_world.api("POST", f"/quotes/{quote}/confirm", json=body, headers={"Idempotency-Key": "k"})
    assert (again.raw, again.headers["idempotent-replayed"]) == (refused.raw, "true")
    body["payer"] = {"phone_number": "+254712345678"}
    assert autopilot_world.api("POST", f"/quotes/{quote}/confirm", json=body).status == 201


@pytest.mark.parametrize("kind", ["phone_number", "bank_account"])
def test_beneficiary_0001_is_refused_the_payout_and_refunded(autopilot_world: Remote, kind: str) -> None:
    assert outcome(autopilot_world, offramp(autopilot_world, "0001", kind))[-3:] == [
        ("processing", None),
        ("failed", "payout_failed"),
        ("refunded", "payout_failed"),
    ]


def test_a_withdrawal_follows_its_beneficiarys_ending(autopilot_world: Remote) -> None:
    assert outcome(autopilot_world, withdraw(autopilot_world, "0001"))[-1] == ("refunded", "payout_failed")
    autopilot_world.tokens.clear()
    assert outcome(autopilot_world, withdraw(autopilot_world, "0003"))[-1] == ("refunded", "network_unavailable")
    autopilot_world.tokens.clear()
    assert outcome(autopilot_world, withdraw(autopilot_world, "0000"))[-1] == ("completed", None)


def test_beneficiary_0002_stays_processing_for_an_hour(autopilot_world: Remote) -> None:
    ramp = offramp(autopilot_world, "0002").body
    autopilot_world.advance(until={"resource": ramp["id"], "status": "processing"})
    autopilot_world.advance(by="59m59s")
    autopilot_world.tokens.clear()
    assert autopilot_world.api("GET", f"/transactions/{ramp['id']}").body["status"] == "processing"
    autopilot_world.advance(by="1s")
    autopilot_world.tokens.clear()
    assert autopilot_world.api("GET", f"/transactions/{ramp['id']}").body["status"] == "completed"


def by_bank(world: Remote, ending: str, kind: str, **more: Any) -> Answer:
    """An onramp or a buy that is paid by bank transfer from an account with this ending."""
    payer = {"account_name": "Wanjiru Otieno", "account_number": f"123456{ending}", "bank_code": "01"}
    if kind == "onramp":
        quote = world.api("POST", "/quotes", json=QUOTE | {"method": "bank_transfer"}).body["id"]
        body = {"wallet_address": CELO, "payer": payer, **more}
        return world.api("POST", f"/quotes/{quote}/confirm", json=body)
    body = {"symbol": "USDC", "network": "CELO", "fiat_currency": "KES", "amount": "5000", "amount_currency": "fiat"}
    quote = world.api("POST", "/wallet/buy/quote", json={**body, "method": "bank_transfer"}).body["id"]
    return world.api("POST", "/wallet/buy", json={"quote_id": quote, "payer": payer, **more})


@pytest.mark.parametrize(
    ("kind", "ending", "last"),
    [
        ("onramp", "7890", [("completed", None)]),
        ("buy", "7890", [("completed", None)]),
        ("onramp", "0001", [("failed", "payment_failed")]),
        ("buy", "0001", [("failed", "payment_failed")]),
        ("onramp", "0002", [("expired", None)]),
        ("buy", "0002", []),
        ("onramp", "0003", [("completed", None)]),
    ],
)
def test_r5_a_payer_by_bank_transfer_chooses_by_the_account_number(
    autopilot_world: Remote, kind: str, ending: str, last: list[Any]
) -> None:
    assert outcome(autopilot_world, by_bank(autopilot_world, ending, kind))[-1:] == last


@pytest.mark.parametrize(
    ("kind", "ending", "code"),
    [("onramp", "0009", "payment_failed"), ("buy", "0009", "payment_failed"), ("buy", "0003", "insufficient_balance")],
)
def test_r5_a_payer_by_bank_transfer_can_be_refused_at_once(
    autopilot_world: Remote, kind: str, ending: str, code: str
) -> None:
    assert by_bank(autopilot_world, ending, kind).refusal[:2] == (422, code)


def test_account_9999_is_unknown_to_its_bank(autopilot_world: Remote) -> None:
    refused = beneficiary(autopilot_world, "9999", "bank_account")
    assert refused.refusal[:2] == (422, "invalid_bank_account")
    assert beneficiary(autopilot_world, "9998", "bank_account").status == 201


def test_a_reference_names_a_scenario(autopilot_world: Remote) -> None:
    """Decision simulator: a `reference` of simulator:NAME puts the object under that scenario."""
    stuck = confirm(autopilot_world, "+254712345678", reference="simulator:payer-never-pays")
    assert outcome(autopilot_world, stuck)[-1] == ("expired", None)
    autopilot_world.tokens.clear()
    unknown = confirm(autopilot_world, "+254712345678", reference="simulator:no-such-weather")
    assert unknown.refusal == (400, "invalid_parameter", "reference")


@pytest.mark.parametrize(
    ("network", "arrives"), [("stellar", "USDC 25.00"), ("celo", "USDC 25.00"), ("bitcoin", "BTC 0.001")]
)
def test_a_wallet_named_so_receives_a_deposit_without_a_control_call(
    autopilot_world: Remote, network: str, arrives: str
) -> None:
    named = {"network": network, "reference": "simulator:deposit-arrives"}
    wallet, other = (autopilot_world.api("POST", "/wallets", body).body for body in (named, {"network": network}))
    autopilot_world.advance(by="30s")
    (deposit,) = autopilot_world.api("GET", f"/wallets/{wallet['id']}/deposits").body["data"]
    assert (f"{deposit['asset']} {deposit['amount']}", deposit["status"]) == (arrives, "confirmed")
    assert autopilot_world.api("GET", f"/wallets/{other['id']}/deposits").body["data"] == []


def invoice(world: Remote, **more: Any) -> Answer:
    wallet = world.api("POST", "/wallets", {"network": "bitcoin", **more.pop("wallet", {})}).body["id"]
    return world.api("POST", f"/wallets/{wallet}/lightning", {"type": "invoice", "amount_sats": 1000, **more})


def test_the_autopilot_pays_an_invoice_after_20_seconds(autopilot_world: Remote) -> None:
    made = invoice(autopilot_world, description="Coffee").body
    autopilot_world.advance(by="19s")
    assert autopilot_world.control("GET", f"/resources/{made['id']}").body["resource"]["status"] == "pending"
    autopilot_world.advance(by="1s")
    assert autopilot_world.control("GET", f"/resources/{made['id']}").body["resource"]["status"] == "paid"


@pytest.mark.parametrize(
    "more", [{"description": "simulator:lightning-invoice-expires"}, {"wallet": {"label": "simulator:false-alarm"}}]
)
def test_a_description_or_label_names_a_scenario_for_invoices(autopilot_world: Remote, more: dict[str, Any]) -> None:
    assert outcome(autopilot_world, invoice(autopilot_world, **more)) == [("invoice_expired", None)]


def test_a_description_or_label_that_names_no_scenario_is_refused(autopilot_world: Remote) -> None:
    unknown = "simulator:no-such-weather"
    assert invoice(autopilot_world, description=unknown).refusal == (400, "invalid_parameter", "description")
    labelled = autopilot_world.api("POST", "/wallets", {"network": "bitcoin", "label": unknown})
    assert labelled.refusal == (400, "invalid_parameter", "label")


def test_the_platform_users_have_no_test_value_for_a_phone_number(autopilot_world: Remote) -> None:
    assert [user["phone_number"] for user in autopilot_world.world["platform_users"]] == [
        "+254712000111",
        "+2348031000222",
    ]
    for number in ("+254712000111", "+2348031000222"):
        body = {
            "symbol": "CUSD",
            "network": "CELO",
            "amount": "10",
            "destination": {"type": "platform_user", "phone_number": number},
        }
        assert outcome(autopilot_world, autopilot_world.api("POST", "/wallet/send", body))[-1] == ("completed", None)
        autopilot_world.tokens.clear()


def test_a_header_names_a_scenario_for_one_object(autopilot_world: Remote) -> None:
    """Decision simulator: the header does the same, for that object alone; an unknown name is 400."""
    quote = autopilot_world.api("POST", "/quotes", json=QUOTE).body["id"]
    body = {"wallet_address": CELO, "payer": {"phone_number": "+254712345678"}}
    chosen = {"X-Simulator-Scenario": "payment-declined"}
    declined = autopilot_world.api("POST", f"/quotes/{quote}/confirm", json=body, headers=chosen)
    assert outcome(autopilot_world, declined)[-1] == ("failed", "payment_failed")
    autopilot_world.tokens.clear()
    assert outcome(autopilot_world, confirm(autopilot_world, "+254712345678"))[-1] == ("completed", None)
    autopilot_world.tokens.clear()
    unknown = autopilot_world.api("POST", "/quotes", json=QUOTE, headers={"X-Simulator-Scenario": "nonsense"})
    assert unknown.refusal[:2] == (400, "invalid_parameter")


def test_without_the_test_values_an_ending_means_nothing(world: Remote) -> None:
    assert confirm(world, "+254712340009", reference="simulator:no-such-weather").status == 201


def test_a_world_without_scenarios_moves_only_by_law(world: Remote) -> None:
    assert outcome(world, confirm(world, "+254712345678"))[-1] == ("expired", None)
