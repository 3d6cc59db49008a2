"""Transactions on a network that is down are held until it is up again (decision S22)."""

from __future__ import annotations

from time import process_time
from typing import Any

import pytest

from tests.remote import Remote
from tests.support import BENEFICIARY, CELO


def network(world: Remote, status: str, name: str = "celo") -> None:
    assert world.act("set_network", network=name, status=status).status == 200


def send(world: Remote, symbol: str = "CUSD") -> str:
    body = {
        "symbol": symbol,
        "network": "CELO",
        "amount": "20",
        "destination": {"type": "address", "address": CELO},
    }
    made: str = world.api("POST", "/wallet/send", body).body["id"]
    return made


def status(world: Remote, transaction_id: str) -> str:
    shown: str = world.api("GET", f"/transactions/{transaction_id}").body["status"]
    return shown


def swap(world: Remote, target: dict[str, str]) -> str:
    source = {"symbol": "USDC", "network": "STELLAR"}
    quote = {"from": source, "to": target, "amount": "20", "amount_side": "from"}
    quote_id = world.api("POST", "/wallet/swap/quote", quote).body["id"]
    made: str = world.api("POST", "/wallet/swap", {"quote_id": quote_id}).body["id"]
    return made


def onramp(world: Remote) -> str:
    quote = {"type": "onramp", "network": "celo", "asset": "USDC", "fiat_currency": "KES", "amount": "5000"}
    made = world.api("POST", "/quotes", {**quote, "amount_currency": "KES", "method": "mobile_money"}).body
    body = {"wallet_address": CELO, "payer": {"phone_number": "+254712345678"}}
    ramp: str = world.api("POST", f"/quotes/{made['id']}/confirm", body).body["id"]
    return ramp


def beneficiary(world: Remote) -> str:
    made: str = world.api("POST", "/beneficiaries", BENEFICIARY).body["id"]
    return made


def offramp(world: Remote) -> str:
    quote = {"type": "offramp", "network": "celo", "asset": "USDC", "fiat_currency": "KES", "amount": "30"}
    made = world.api("POST", "/quotes", {**quote, "amount_currency": "USDC", "method": "mobile_money"}).body
    body = {"beneficiary_id": beneficiary(world), "refund_address": CELO}
    ramp: str = world.api("POST", f"/quotes/{made['id']}/confirm", body).body["id"]
    return ramp


def withdraw(world: Remote) -> str:
    asset = {"symbol": "CUSD", "network": "CELO", "fiat_currency": "KES", "amount": "20", "amount_currency": "CUSD"}
    quote = world.api("POST", "/wallet/withdraw/quote", {**asset, "beneficiary_id": beneficiary(world)}).body
    made: str = world.api("POST", "/wallet/withdraw", {"quote_id": quote["id"]}).body["id"]
    return made


MAKE = {"send": send, "onramp": onramp, "offramp": offramp, "withdraw": withdraw}
WEATHER = ("operational", "degraded", "down")
WAYS = {
    "a send waits and keeps its delays": "send 2s down 50m pending operational pending 3s processing 15s completed",
    "a send that is broadcast waits for its confirmation": "send 5s down 50m processing operational 15s completed",
    "a step that waited goes on slowly on a slow network": "send 5s down 50m degraded 74s processing 1s completed",
    "what is left of a delay is stretched": "send 3s degraded 9s pending 1s processing 74s processing 1s completed",
    "what is left goes at normal speed again": "degraded send 15s operational 1s pending 1s processing 15s completed",
    "a network that recovers wholly leaves nothing stretched": "degraded send down 50m operational 20s completed",
    "the payer pays an onramp and the crypto waits": "onramp down 10m processing operational 30s completed",
    "the deadline of a deposit waits for no network": "offramp down 30m expired operational 1m expired",
    "a withdrawal is paid out in fiat": "withdraw down 1m completed",
}
"""The object, the status of its network, the time to wait, and the expected status of the object."""


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_s22_what_is_under_way_follows_its_network(autopilot_world: Remote, way: str) -> None:
    made = ""
    for word in way.split():
        if word in MAKE:
            made = MAKE[word](autopilot_world)
        elif word in WEATHER:
            network(autopilot_world, word)
        elif word[0].isdigit():
            autopilot_world.advance(by=word)
        else:
            assert status(autopilot_world, made) == word


def test_s22_the_slowness_of_another_network_stretches_nothing(autopilot_world: Remote) -> None:
    sent = send(autopilot_world)
    network(autopilot_world, "degraded", "stellar")
    autopilot_world.act("set_network", environment="production", network="celo", status="degraded")
    autopilot_world.advance(by="20s")
    assert status(autopilot_world, sent) == "completed"


def test_s22_a_held_step_is_a_timer_without_due_time_wherever_timers_are_shown(autopilot_world: Remote) -> None:
    sent = send(autopilot_world)
    before = autopilot_world.control("GET", "/clock").body["timers"]
    network(autopilot_world, "down")
    timers = autopilot_world.control("GET", "/timers").body["data"]
    waiting = {"due_at": None, "kind": "scenario.step", "target": sent, "waiting_for": ["celo"]}
    assert [{name: timer[name] for name in waiting} for timer in timers[-2:]] == [waiting, waiting]
    assert [timer["text"].partition(",")[0] for timer in timers[-2:]] == ["broadcast", "complete"]
    clock = autopilot_world.control("GET", "/clock").body
    assert clock["timers"] == before == len(timers)
    assert clock["next_timer_at"] is None
    told = autopilot_world.control("GET", f"/resources/{sent}").body["timers"]
    assert [(timer["action"], timer["due_at"], timer["waiting_for"]) for timer in told] == [
        ("broadcast", None, ["celo"]),
        ("complete", None, ["celo"]),
    ]
    assert len(autopilot_world.control("GET", "/timers", params={"limit": "1"}).body["data"]) == 1


def test_s22_a_step_held_beyond_the_end_of_time_is_skipped(world: Remote) -> None:
    rule = {
        "on": "transaction.awaiting_deposit",
        "do": [{"after": "2900000d", "action": "deposit_arrives", "tx_hash": "0x" + "a" * 64}],
    }
    assert world.control("POST", "/scenarios", {"name": "late", "rules": [rule]}).status == 201
    world.control("PUT", "/scenarios/active", {"names": ["late"]})
    offramp(world)
    network(world, "down")
    world.advance(by="20000d")
    network(world, "operational")
    assert world.control("GET", "/timers").body["data"] == []
    assert [row["action"] for row in world.control("GET", "/scenarios/late").body["skipped"]] == ["deposit_arrives"]


def test_s22_manual_actions_work_while_the_network_is_down(autopilot_world: Remote) -> None:
    sent = send(autopilot_world)
    network(autopilot_world, "down")
    assert autopilot_world.act("broadcast", sent).status == 200
    assert autopilot_world.act("complete", sent).status == 200
    network(autopilot_world, "operational")
    autopilot_world.advance(by="1m")
    assert status(autopilot_world, sent) == "completed"


def test_s22_a_swap_waits_for_both_its_networks(autopilot_world: Remote) -> None:
    across, inside = (
        swap(autopilot_world, {"symbol": "CUSD", "network": "CELO"}),
        swap(autopilot_world, {"symbol": "XLM", "network": "STELLAR"}),
    )
    network(autopilot_world, "down")
    autopilot_world.advance(by="1m")
    assert (status(autopilot_world, across), status(autopilot_world, inside)) == ("pending", "completed")
    network(autopilot_world, "down", "stellar")
    network(autopilot_world, "operational")
    autopilot_world.advance(by="1m")
    assert status(autopilot_world, across) == "pending"
    network(autopilot_world, "operational", "stellar")
    autopilot_world.advance(by="5s")
    assert status(autopilot_world, across) == "completed"


def test_s22_an_offramps_deposit_waits_and_its_payout_does_not(autopilot_world: Remote) -> None:
    waiting, paid = offramp(autopilot_world), offramp(autopilot_world)
    autopilot_world.act("deposit_arrives", paid)
    network(autopilot_world, "down")
    autopilot_world.advance(by="10m")
    assert (status(autopilot_world, waiting), status(autopilot_world, paid)) == ("awaiting_deposit", "completed")
    network(autopilot_world, "operational")
    autopilot_world.advance(by="20s")
    assert status(autopilot_world, waiting) == "processing"


def test_s22_a_deposit_is_confirmed_when_its_network_is_up_again(autopilot_world: Remote) -> None:
    wallet = autopilot_world.api("POST", "/wallets", {"network": "celo"}).body
    network(autopilot_world, "down")
    deposit = autopilot_world.act("deposit_arrives", wallet["id"], asset="USDC", amount="20").body["resource"]["id"]
    autopilot_world.advance(by="10m")
    assert autopilot_world.control("GET", f"/resources/{deposit}").body["resource"]["status"] == "detected"
    network(autopilot_world, "operational")
    autopilot_world.advance(by="10s")
    assert autopilot_world.control("GET", f"/resources/{deposit}").body["resource"]["status"] == "confirmed"


def test_s22_one_environment_does_not_hold_the_other(autopilot_world: Remote) -> None:
    sent = send(autopilot_world)
    autopilot_world.act("set_network", environment="production", network="celo", status="down")
    autopilot_world.advance(by="20s")
    assert status(autopilot_world, sent) == "completed"


def test_s22_a_rule_that_continues_after_a_held_step_waits_with_it(world: Remote) -> None:
    world.control("PUT", "/scenarios/active", {"names": ["deposit-arrives"]})
    ramp = offramp(world)
    network(world, "down")
    world.advance(by="10m")
    network(world, "operational")
    world.advance(by="20s")
    assert status(world, ramp) == "processing"
    world.advance(by="1m")
    assert status(world, ramp) == "completed"


def test_s22_held_steps_are_listed_and_follow_their_scenario(autopilot_world: Remote) -> None:
    sent = send(autopilot_world)
    network(autopilot_world, "down")

    def held() -> list[dict[str, Any]]:
        pending = autopilot_world.control("GET", "/scenarios/autopilot").body["pending"]
        return [step for step in pending if step["object"] == sent]

    assert [(step["action"], step["due_at"], step["waiting_for"]) for step in held()] == [
        ("broadcast", None, ["celo"]),
        ("complete", None, ["celo"]),
    ]
    snapshot = autopilot_world.control("POST", "/snapshots").body["id"]
    state = autopilot_world.control("GET", f"/snapshots/{snapshot}").body
    network(autopilot_world, "operational")
    assert all(step["due_at"] for step in held())
    assert autopilot_world.control("PUT", "/state", state).status == 200
    assert len(held()) == 2
    network(autopilot_world, "operational")
    autopilot_world.advance(by="20s")
    autopilot_world.tokens.clear()
    assert status(autopilot_world, sent) == "completed"
    another = send(autopilot_world)
    network(autopilot_world, "down")
    autopilot_world.control("PUT", "/scenarios/active", {"names": []})
    network(autopilot_world, "operational")
    autopilot_world.advance(by="1h")
    autopilot_world.tokens.clear()
    assert status(autopilot_world, another) == "pending"


def listed(world: Remote, **query: str) -> dict[str, str]:
    rows = world.api("GET", "/currencies", params=query).body["data"]
    return {f"{row['symbol']} {row['network']}": row["status"] for row in rows}


def test_s22_the_listing_calls_the_assets_of_a_network_that_is_down_inactive(world: Remote) -> None:
    assert set(listed(world).values()) == {"active"}
    network(world, "down")
    assert listed(world)["USDC CELO"] == "inactive"
    assert listed(world)["USDC STELLAR"] == "active"
    assert set(listed(world, status="inactive")) == {"CELO CELO", "USDT CELO", "USDC CELO", "CUSD CELO"}
    assert "USDC CELO" not in listed(world, status="active")
    network(world, "degraded")
    assert set(listed(world).values()) == {"active"}


def test_s22_rates_estimates_and_transfers_need_no_network(world: Remote) -> None:
    network(world, "down")
    pair = {"type": "onramp", "network": "celo", "asset": "CUSD", "fiat_currency": "KES"}
    assert world.api("GET", "/rates", params=pair).status == 200
    body = {"symbol": "CUSD", "network": "CELO", "amount": "20"}
    on_chain = {**body, "destination": {"type": "address", "address": CELO}}
    assert world.api("POST", "/wallet/send", on_chain).refusal == (503, "network_unavailable", None)
    assert world.api("POST", "/wallet/send/estimate", on_chain).status == 200
    inside = {**body, "destination": {"type": "platform_user", "email": "amina@example.test"}}
    assert world.api("POST", "/wallet/send", inside).status == 201


def test_s22_setting_the_present_state_emits_nothing(world: Remote) -> None:
    network(world, "operational")
    world.act("set_kyc", status="approved")
    assert world.event_types() == []


def test_s22_a_recurring_payment_needs_its_network_in_the_listing(world: Remote) -> None:
    body = {
        "name": "Rent",
        "type": "send",
        "source": {"symbol": "CUSD", "network": "CELO"},
        "amount": "10",
        "amount_currency": "CUSD",
        "recipient": {"destination": {"type": "address", "address": CELO}},
    }
    network(world, "down")
    assert world.api("POST", "/recurring-payments", body).refusal[:2] == (503, "network_unavailable")
    network(world, "operational")
    assert world.api("POST", "/recurring-payments", body).status == 201


def test_s22_planning_stays_fast_while_a_network_is_down(world: Remote) -> None:
    doubling = {"action": "emit", "type": "kyc.approved"}
    scenario = {"name": "doubling", "rules": [{"on": "kyc.approved", "do": [doubling, doubling]}]}
    assert world.control("POST", "/scenarios", scenario).status == 201
    assert world.control("PATCH", "/settings", {"timers_per_instant": 3_000}).status == 200

    def seconds() -> float:
        assert world.control("PUT", "/scenarios/active", {"names": ["doubling"]}).status == 200
        began = process_time()
        assert world.act("emit", type="kyc.approved").status == 200
        return process_time() - began

    up = seconds()
    network(world, "down")
    world.advance(by="1s")
    assert seconds() < 4 * up
