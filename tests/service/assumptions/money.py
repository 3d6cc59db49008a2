"""Amounts, rates, fees, balances and limits: decisions in the chapter Money, and in chapters about moving money."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from simulator.testing import World
from tests.service.assumptions.cases import (
    BALANCE,
    buy,
    case,
    funded,
    get,
    offramp,
    onramp,
    payee,
    post,
    quote,
    refusal,
    send,
    sending,
    shown,
    swap_quote,
    user,
    withdraw_quote,
    withdrawal,
)
from tests.support import QUOTE


@case("H7", usual=400, numbers_are_taken=201)
def amount_without_quotes(world: World) -> Any:
    assert world.client.post("/quotes", json={**QUOTE, "amount": True}).status_code == 400
    return world.client.post("/quotes", json={**QUOTE, "amount": 5000}).status_code


@case("H8", usual=("5000.00", "50.00", "5000.00"), no_trailing_zeros=("5000", "50", "5000"))
def round_amounts(world: World) -> Any:
    offer, ramp = quote(world), onramp(world, reference="1.50")
    told = world.event("transaction.created")["data"]["object"]
    assert (told["rate"], told["reference"]) == (offer["rate"], "1.50")
    assert offer["destination_amount"] == ramp["destination_amount"]
    return offer["source_amount"], offer["fee"]["processing_fee"], told["source_amount"]


@case("H9", usual=False, received_is_rounded_half_up=True)
def more_than_what_comes_out(world: World) -> Any:
    def is_more(amount: int) -> bool:
        offer = quote(world, amount=str(amount))
        exact = (Decimal(offer["source_amount"]) - Decimal(offer["fee"]["total"])) / Decimal(offer["rate"])
        assert abs(exact - Decimal(offer["destination_amount"])) < Decimal("1e-6")
        return Decimal(offer["destination_amount"]) > exact

    return any(is_more(amount) for amount in range(5000, 5010))


@case("M1", usual=True, no_spread=False)
def spread_between_onramp_and_offramp(world: World) -> Any:
    pair = {"network": "celo", "asset": "USDC", "fiat_currency": "KES"}
    dear, cheap = (get(world, "/rates", type=way, **pair)["rate"] for way in ("onramp", "offramp"))
    assert quote(world)["rate"] == dear
    return Decimal(dear) > Decimal(cheap)


@case("M2", usual="0.00", free_network_fee_is_absent=None)
def network_fee_of_a_withdrawal(world: World) -> Any:
    assert quote(world)["fee"]["network_fee"] != "0.00"
    return withdraw_quote(world)["fee"].get("network_fee")


@case("M7", usual=("20.00", "less"), fee_comes_on_top=("more", "20.00"))
def paid_and_received_of_a_send_of_20(world: World) -> Any:
    before = world.balance("USDC", "CELO")
    sent = send(world, "20")
    paid, received = before - world.balance("USDC", "CELO"), Decimal(sent["net_amount"])
    assert paid - received == Decimal(sent["fee"]["total"]) > 0
    return (
        "20.00" if paid == 20 else "more" if paid > 20 else "less",
        "20.00" if received == 20 else "more" if received > 20 else "less",
    )


@case("M8", usual=True, present_rate_is_credited=False)
def swap_credits_what_was_quoted(world: World) -> Any:
    offer = swap_quote(world)
    world.act("move_rates", percent=-0.2)
    before = world.balance("CUSD", "CELO")
    swapped = post(world, "/wallet/swap", {"quote_id": offer["id"]})
    world.act("complete", swapped)
    credited = world.balance("CUSD", "CELO") - before
    assert credited == Decimal(swapped["to"]["amount"])
    return credited == Decimal(offer["to"]["amount"])


@case("M11", usual=[80, 100], failed_withdrawal_is_released=[100, 100])
def available_after_failure_and_refund(world: World) -> Any:
    paid = withdrawal(world)
    world.act("fail", paid)
    failed = world.balance("USDC", "CELO")
    world.act("refund", paid)
    return [failed, world.balance("USDC", "CELO")]


@case("M12", usual=200, estimates_look_at_the_balance=422)
def estimate_beyond_the_balance(world: World) -> Any:
    funded(world, "1")
    return world.client.post("/wallet/send/estimate", json=sending()).status_code


@case("M12", usual=422, swap_quotes_look_at_no_balance=201)
def swap_quote_beyond_the_balance(world: World) -> Any:
    funded(world, "1")
    body = {"from": BALANCE, "to": {"symbol": "CUSD", "network": "CELO"}, "amount": "20", "amount_side": "from"}
    return world.client.post("/wallet/swap/quote", json=body).status_code


@case("M13", usual=422, transfers_have_no_limits=201)
def tiny_transfer(world: World) -> Any:
    nothing = world.client.post("/wallet/send", json=sending("0", destination=user(world)))
    assert refusal(nothing) == (422, "amount_too_low")
    return world.client.post("/wallet/send", json=sending("0.01", destination=user(world))).status_code


@case("M14", usual="0.00", limits_are_not_given_back="5000.00")
def used_after_an_onramp_has_expired(world: World) -> Any:
    onramp(world)
    world.advance("31m")
    return get(world, "/profile/limits")["limits"]["daily"]["used"]


@case("S5", usual=True, fee_is_kept=False)
def whole_deposit_goes_back(world: World) -> Any:
    ramp = offramp(world)
    world.act("deposit_arrives", ramp)
    world.act("fail", ramp)
    world.act("refund", ramp)
    kept = sum(one["amount"] for one in world.ledger().accounts if one["account"] == "fees")
    assert kept == (0 if kept == 0 else Decimal(ramp["fee"]["total"]))
    return kept == 0


@case("S5", usual="100", fee_is_kept="less")
def balance_after_a_refunded_withdrawal(world: World) -> Any:
    paid = withdrawal(world)
    world.act("complete", paid)
    world.act("refund", paid)
    balance = world.balance("USDC", "CELO")
    assert balance == 100 or balance == 100 - Decimal(paid["fee"]["total"])
    return "100" if balance == 100 else "less"


@case("S18", usual=True, figures_stay_after_failure=False)
def nothing_is_received_of_an_expired_order(world: World) -> Any:
    ramp = onramp(world)
    world.advance("31m")
    return get(world, f"/orders/{ramp['order_id']}")["receive_amount"] is None


@case("R8", usual="100.00", balance_is_what_is_available="80.00")
def balance_while_20_are_held(world: World) -> Any:
    funded(world)
    send(world, "20")
    row = next(
        row for row in get(world, "/wallet/assets")["data"] if (row["symbol"], row["network"]) == ("USDC", "CELO")
    )
    assert (row["available"], row["held"]) == ("80.00", "20.00")
    return row["balance"]


@case("asset-list", usual=True, only_what_is_held=False)
def empty_assets_are_listed(world: World) -> Any:
    funded(world, "0")
    return ("USDC", "CELO") in [(row["symbol"], row["network"]) for row in get(world, "/wallet/assets")["data"]]


@case("buy-reference", usual="order_id", transaction_id="id")
def what_the_payer_writes(world: World) -> Any:
    bought = buy(world)
    return next(name for name in ("id", "order_id") if bought[name] == bought["payment_instructions"]["reference"])


@case("gone-beneficiary", usual=404, is_paid_all_the_same=201)
def payee_deleted_before_the_withdrawal(world: World) -> Any:
    someone = payee(world)
    offer = withdraw_quote(world, beneficiary_id=someone["id"])
    world.client.delete(f"/beneficiaries/{someone['id']}").raise_for_status()
    answer = world.client.post("/wallet/withdraw", json={"quote_id": offer["id"]})
    assert answer.is_error or shown(world, answer.json())["beneficiary_id"] == someone["id"]
    return answer.status_code
