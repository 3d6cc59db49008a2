"""The sentence that explains the state of a resource."""

from __future__ import annotations

from tests.remote import Remote
from tests.service.control.test_story import story
from tests.service.control.test_trigger import onramp, quote
from tests.service.http.test_test_values import offramp


def test_refund_is_explained_by_the_failure_and_its_rule(autopilot_world: Remote) -> None:
    mine = offramp(autopilot_world, "0001", reference="order-5000").body
    autopilot_world.advance(by="10m")
    told = story(autopilot_world, mine["id"])
    place = told["history"][2]["cause"]["reference"]
    assert told["why"] == (
        "Refunded because the beneficiary's bank or provider rejected the payout (payout_failed): "
        f"a rule of the scenario test-values ({place}), where the beneficiary's phone number ends in 0001."
    )
    assert told["history"][2]["cause"]["condition"] == "the beneficiary's phone number ends in 0001"


def test_an_automatic_state_says_what_comes_next(autopilot_world: Remote) -> None:
    mine = onramp(autopilot_world)
    told = story(autopilot_world, mine["id"])["why"]
    assert told.startswith("Awaiting payment: the payer was asked for the fiat; nothing has arrived yet")
    assert f"the call POST /v1/quotes/{mine['quote_id']}/confirm" in told
    assert told.endswith("Next, at 2026-01-05 08:00:15: payment arrives, by the scenario autopilot.")
    autopilot_world.advance(by="10m")
    assert story(autopilot_world, mine["id"])["why"].startswith(
        "Completed: the crypto has been delivered. Caused by a rule of the scenario autopilot (scenarios/"
    )


def test_manual_and_timed_changes_are_described(world: Remote) -> None:
    mine = onramp(world)
    world.act("payment_declined", mine["id"])
    told = story(world, mine["id"])["why"]
    assert told.startswith(
        "Failed because the payer's provider declined the payment (payment_failed): the control call"
    )
    lapsed = quote(world)
    world.advance(by="30m")
    assert "Caused by the timer: " in story(world, lapsed["id"])["why"]


def test_rule_of_a_changed_scenario_has_no_condition(world: Remote) -> None:
    declined = {
        "on": "transaction.awaiting_payment",
        "where": {"type": "onramp", "asset": "USDC"},
        "do": [{"action": "payment_declined"}],
    }
    first = {"name": "mine", "rules": [declined]}
    assert world.control("POST", "/scenarios", first).status == 201
    assert world.control("PUT", "/scenarios/active", {"names": ["mine"]}).status == 200
    mine = onramp(world)
    world.advance(by="1s")
    assert "where the asset is USDC" in story(world, mine["id"])["why"]
    assert world.control("POST", "/scenarios", {"name": "mine", "rules": []}).status == 201
    told = story(world, mine["id"])
    assert "a rule of the scenario mine" in told["why"]
    assert "condition" not in told["history"][-1]["cause"]
