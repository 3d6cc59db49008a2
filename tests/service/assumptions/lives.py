"""Transitions of quotes, transactions, recurring payments, networks and the profile."""

from __future__ import annotations

from typing import Any

from simulator.testing import World
from tests.service.assumptions.cases import (
    BALANCE,
    PHONE,
    after,
    buy,
    case,
    funded,
    get,
    offramp,
    onramp,
    post,
    quote,
    refusal,
    send,
    sending,
    shown,
    swap_quote,
    told,
    user,
    withdrawal,
)
from tests.support import CELO, QUOTE


@case("L3", usual=True, transactions_have_no_order_id=False)
def order_id_of_a_transaction(world: World) -> Any:
    sent = send(world)
    assert "order_id" in get(world, "/orders")["data"][0]
    listed = get(world, "/transactions")["data"][0]
    assert ("order_id" in listed) == ("order_id" in sent) == ("order_id" in shown(world, sent))
    return "order_id" in sent


@case("S1", usual=422, usable_at_expires_at=201)
def confirmed_at_expires_at(world: World) -> Any:
    offer = quote(world)
    world.advance(to=offer["expires_at"])
    body = {"wallet_address": CELO, "payer": {"phone_number": PHONE}}
    answer = world.client.post(f"/quotes/{offer['id']}/confirm", json=body)
    late = quote(world)
    world.advance("30m1s")
    assert world.client.post(f"/quotes/{late['id']}/confirm", json=body).status_code == 422
    return answer.status_code


@case("S2", usual=["ramp", "swap"], only_ramp_quotes_are_told=["ramp"])
def quotes_that_tell_of_their_expiry(world: World) -> Any:
    kinds = {quote(world)["id"]: "ramp", swap_quote(world)["id"]: "swap"}
    world.advance("31m")
    return [kinds[event["data"]["object"]["id"]] for event in world.events("quote.expired")]


@case("S2", usual=(404, "quote_not_found"), wallet_quotes_are_not_found=(404, "not_found"))
def unknown_swap_quote(world: World) -> Any:
    assert refusal(world.client.get("/quotes/qt_unknown")) == (404, "quote_not_found")
    return refusal(world.client.post("/wallet/swap", json={"quote_id": "sq_unknown"}))


@case("S3", usual="failed", payer_may_try_again="completed")
def declined_and_then_paid(world: World) -> Any:
    ramp = onramp(world)
    status = after(world, "payment_declined", ramp)["status"]
    if status == "awaiting_payment":
        world.act("payment_arrives", ramp)
        world.act("complete", ramp)
    return shown(world, ramp)["status"]


@case("S4", usual=False, null_without_failure=True)
def failure_code_of_a_fresh_transaction(world: World) -> Any:
    ramp = onramp(world)
    return "failure_code" in ramp and ramp["failure_code"] is None


@case(
    "S6",
    usual=["transaction.failed"],
    short_is_processed_first=["transaction.processing", "transaction.failed"],
)
def events_of_a_short_deposit(world: World) -> Any:
    ramp = offramp(world)
    before = len(told(world, ramp))
    failed = after(world, "deposit_arrives", ramp, amount="19")
    assert (failed["status"], failed["failure_code"]) == ("failed", "insufficient_deposit")
    return told(world, ramp)[before:]


@case("S7", usual="processing", completed_when_paid="completed")
def buy_that_is_paid(world: World) -> Any:
    return after(world, "payment_arrives", buy(world))["status"]


@case("S8", usual=("pending", True), completed_at_once=("completed", False))
def swap_as_it_is_answered(world: World) -> Any:
    before = world.balance("CUSD", "CELO")
    swapped = post(world, "/wallet/swap", {"quote_id": swap_quote(world)["id"]})
    return swapped["status"], world.balance("CUSD", "CELO") == before


@case("S9", usual="pending", broadcast_at_once="processing")
def send_as_it_is_answered(world: World) -> Any:
    sent = send(world)
    assert (sent["tx_hash"] is None) == (sent["status"] == "pending")
    return sent["status"]


@case("S9", usual="processing", transfers_answer_completed="completed")
def transfer_as_it_is_answered(world: World) -> Any:
    sent = send(world, destination=user(world))
    assert shown(world, sent)["status"] == "completed"
    return sent["status"]


@case("S10", usual="failed", refunded_when_it_fails="refunded")
def withdrawal_that_fails(world: World) -> Any:
    paid = withdrawal(world)
    world.act("fail", paid)
    now = shown(world, paid)
    assert now["failure_code"]
    assert (world.balance("USDC", "CELO") == 100) == (now["status"] == "refunded")
    return now["status"]


@case("S12", usual=["deposit.detected", "deposit.confirmed"], detection_is_not_told=["deposit.confirmed"])
def events_of_a_deposit(world: World) -> Any:
    wallet = post(world, "/wallets", {"network": "celo"})
    deposit = world.act("deposit_arrives", wallet, asset="USDC", amount="5")["resource"]
    world.act("deposit_confirms", deposit)
    return told(world, deposit)


@case("S17", usual=[], acceptance_is_told=["transaction.created"])
def events_of_a_pending_send(world: World) -> Any:
    return told(world, send(world))


@case("S17", usual=[], deposits_are_told=["transaction.completed"])
def events_of_the_transaction_of_a_deposit(world: World) -> Any:
    wallet = post(world, "/wallets", {"network": "celo"})
    deposit = world.act("deposit_arrives", wallet, asset="USDC", amount="5")["resource"]
    world.act("deposit_confirms", deposit)
    return told(world, get(world, "/transactions", type="deposit")["data"][0])


def recurring(world: World, *, reviewed: bool = True, occurrences: int = 2, time: str = "12:00") -> Any:
    """A daily send that is scheduled, and reviewed."""
    body = {
        "name": "Rent", "type": "send", "source": BALANCE, "amount": "20", "amount_currency": "USDC",
        "recipient": {"destination": sending()["destination"]}, "reference": "rent",
    }  # fmt: skip
    payment = post(world, "/recurring-payments", body)
    schedule = {
        "frequency": "daily", "start_date": "2026-01-05", "time": time, "timezone": "UTC",
        "end": {"type": "after_occurrences", "occurrences": occurrences},
    }  # fmt: skip
    path = f"/recurring-payments/{payment['id']}"
    world.client.put(f"{path}/schedule", json=schedule).raise_for_status()
    if reviewed:
        get(world, f"{path}/review")
    return payment


def activate(world: World, payment: Any) -> Any:
    return world.client.post(f"/recurring-payments/{payment['id']}/activate")


def runs(world: World, payment: Any) -> list[str]:
    kinds = ("recurring_payment.run_failed", "recurring_payment.run_succeeded")
    return [name.rpartition("_")[2] for name in told(world, payment) if name in kinds]


@case("S19", usual=["failed", "succeeded"], failed_runs_do_not_count=["failed", "succeeded", "succeeded"])
def two_occurrences_the_first_without_balance(world: World) -> Any:
    funded(world, "0")
    payment = recurring(world)
    activate(world, payment)
    world.advance("1d")
    funded(world)
    world.advance("10d")
    assert get(world, f"/recurring-payments/{payment['id']}")["status"] == "completed"
    return runs(world, payment)


@case("S19", usual="rent-1", suffix_after_an_underscore="rent_1")
def reference_of_a_run(world: World) -> Any:
    activate(world, recurring(world))
    world.advance("1d")
    return get(world, "/transactions")["data"][0]["reference"]


@case("S20", usual=409, no_review_is_needed=200)
def activated_without_review(world: World) -> Any:
    return activate(world, recurring(world, reviewed=False)).status_code


@case("S21", usual=1, only_a_day_before=0)
def notices_of_a_run_in_four_hours(world: World) -> Any:
    activate(world, recurring(world, occurrences=1))
    return len(world.events("recurring_payment.run_upcoming"))


@case("S22", usual=201, degraded_refuses=503)
def quote_on_a_degraded_network(world: World) -> Any:
    world.act("set_network", network="celo", status="degraded")
    return world.client.post("/quotes", json=QUOTE).status_code


@case("S23", usual=(404, "not_found"), answers_400=(400, "invalid_parameter"), answers_422=(422, "not_found"))
def unknown_beneficiary(world: World) -> Any:
    body = {**BALANCE, "fiat_currency": "KES", "amount": "20", "amount_currency": "USDC", "beneficiary_id": "ben_x"}
    return refusal(world.client.post("/wallet/withdraw/quote", json=body))


@case("S24", usual=False, number_takes_effect_at_once=True)
def new_phone_number_is_shown(world: World) -> Any:
    changed = world.client.patch("/profile", json={"phone_number": "+254712345679"}).raise_for_status().json()
    return changed["phone_number"] == "+254712345679"
