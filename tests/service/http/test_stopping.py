"""Endless scenarios, seen from outside: the server continues and reports what it stopped."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.remote import Remote, new_client

ECHO = {
    "name": "echo",
    "rules": [
        {
            "on": "network.status_changed",
            "where": {"status": was},
            "do": [{"action": "set_network", "network": "celo", "status": becomes}],
        }
        for was, becomes in (("down", "operational"), ("operational", "down"))
    ],
}


@pytest.fixture
def echoing(world: Remote) -> Remote:
    """A world with a scenario that answers itself without delay."""
    assert world.control("POST", "/scenarios", ECHO).status == 201
    assert world.control("PUT", "/scenarios/active", {"names": ["echo"]}).status == 200
    assert world.control("PATCH", "/settings", {"timers_per_instant": 300}).status == 200
    return world


def stops(answer: Any) -> list[str]:
    return [row["name"] for row in answer.body.get("stopped_scenarios", [])]


def test_a_scenario_that_answers_itself_is_stopped_and_named(echoing: Remote) -> None:
    assert stops(echoing.act("set_network", network="celo", status="down")) == ["echo"]
    (shown,) = [row for row in echoing.control("GET", "/scenarios").body["data"] if row["name"] == "echo"]
    assert shown["active"] is False
    assert "timers_per_instant" in shown["stopped"]
    told = echoing.control("GET", "/scenarios/echo").body
    assert len(told["steps_done"]) == 300
    assert told["stopped"][0]["reason"] == shown["stopped"]
    findings = echoing.control("GET", "/advice", params={"kind": "scenario_stopped"}).body["data"]
    assert [(row["subject"], row["severity"]) for row in findings] == [("echo", "error")]
    quiet = echoing.act("set_network", network="celo", status="degraded")
    assert (quiet.status, stops(quiet)) == (200, [])
    assert echoing.control("PUT", "/scenarios/active", {"names": ["echo"]}).body == {"names": ["echo"]}


def test_an_advance_reports_stopped_scenarios(echoing: Remote) -> None:
    later = {"name": "later", "timeline": [{"at": "1m", "action": "set_network", "network": "celo", "status": "down"}]}
    assert echoing.control("POST", "/scenarios", later).status == 201
    assert echoing.control("PUT", "/scenarios/active", {"names": ["echo", "later"]}).status == 200
    assert [row["name"] for row in echoing.advance(by="1h")["stopped_scenarios"]] == ["echo"]
    assert echoing.control("GET", f"/worlds/{echoing.world['id']}").body["scenarios"] == ["later"]


def test_a_stopped_scenario_is_part_of_the_state(echoing: Remote) -> None:
    echoing.act("set_network", network="celo", status="down")
    document = echoing.control("GET", "/state").body
    assert echoing.control("PUT", "/state", document).status == 200
    assert echoing.control("GET", "/state").body == document


def test_the_server_answers_while_a_scenario_runs_into_its_bound(echoing: Remote) -> None:
    assert echoing.control("PATCH", "/settings", {"timers_per_instant": 3_000}).status == 200
    with new_client(timeout=60) as client, ThreadPoolExecutor(1) as pool:
        beside = Remote(echoing.origin, client, echoing.world)
        acting = pool.submit(beside.act, "set_network", network="celo", status="down")
        waits: list[float] = []
        while not acting.done():
            began = time.monotonic()
            assert echoing.call("GET", f"{echoing.origin}/_simulator/health").status == 200
            waits.append(time.monotonic() - began)
        assert stops(acting.result()) == ["echo"]
    assert len(waits) > 5
    assert sorted(waits)[len(waits) // 2] < 0.1


def test_an_endless_scenario_can_be_reset_and_the_world_deleted(echoing: Remote) -> None:
    assert echoing.control("PATCH", "/settings", {"timers_per_instant": 1_000_000}).status == 200
    with new_client(timeout=60) as client, ThreadPoolExecutor(1) as pool:
        beside = Remote(echoing.origin, client, echoing.world)
        acting = pool.submit(beside.act, "set_network", network="celo", status="down")
        assert echoing.control("PUT", "/scenarios/active", {"names": []}).status == 200
        assert acting.result(30).status == 200
        assert echoing.control("PUT", "/scenarios/active", {"names": ["echo"]}).status == 200
        acting = pool.submit(beside.act, "set_network", network="celo", status="operational")
        again = echoing.control("POST", "/reset")
        assert (again.status, again.body["clock"]["timers"]) == (200, 0)
        acting.result(30)
        assert echoing.control("DELETE", f"/worlds/{echoing.world['id']}").status == 204


# --- the end of time ----------------------------------------------------------------------------------------------


def test_a_delivery_cannot_be_held_beyond_the_end_of_time(world: Remote) -> None:
    fault = {"webhook": {}, "deliver": {"delay": "2932531d"}}
    assert world.control("POST", "/faults", fault).refusal == (400, "invalid_parameter", "deliver.delay")


def test_a_delay_that_has_become_too_long_ends_with_the_last_moment(world: Remote) -> None:
    inbox = f"{world.origin}/_simulator/inbox/{world.world['id']}"
    assert world.api("POST", "/webhooks", {"url": inbox, "events": ["*"]}).status == 201
    fault = {"webhook": {}, "deliver": {"delay": "2000000d"}}
    assert world.control("POST", "/faults", fault).status == 201
    world.advance(by="1000000d")
    assert world.act("set_network", network="celo", status="down").status == 200
    assert world.control("GET", "/timers").body["data"][-1]["due_at"] == "9998-12-31T23:59:59.999Z"
    for path in ("/clock", "/worlds", "/scenarios/autopilot", "/deliveries"):
        assert world.control("GET", path).status == 200


def test_steps_beyond_the_end_of_time_leave_the_world_readable(world: Remote) -> None:
    far = {
        "name": "far",
        "timeline": [{"at": "2932531d", "action": "set_network", "network": "celo", "status": "down"}],
    }
    assert world.control("POST", "/scenarios", far).status == 201
    assert world.control("PUT", "/scenarios/active", {"names": ["far"]}).status == 200
    for path in ("/clock", "/timers", "/worlds", f"/worlds/{world.world['id']}", "/scenarios/far"):
        assert world.control("GET", path).status == 200
    (skipped,) = world.control("GET", "/scenarios/far").body["skipped"]
    assert "after the year 9998" in skipped["reason"]


def test_a_timer_at_the_maximum_time_breaks_nothing(autopilot_world: Remote) -> None:
    from tests.service.http.busy import onramp

    late = autopilot_world.another(seed=1, clock={"mode": "manual", "now": "9998-12-31T23:59:00Z"})
    bitcoin = late.api("POST", "/wallets", {"network": "bitcoin", "lightning": True}).body["id"]
    assert late.api("POST", f"/wallets/{bitcoin}/lightning", {"type": "invoice", "amount_sats": 1500}).status == 201
    assert onramp(late)["status"] == "awaiting_payment"
    assert late.control("POST", "/trigger", {"event": "quote.expired"}).code == "invalid_transition"
    late.advance(to="9998-12-31T23:59:59.999Z")
    for path in ("/clock", "/timers", "/worlds", "/resources"):
        assert late.control("GET", path).status == 200
    assert late.control("POST", "/clock/advance", {"until": {"event": "kyc.rejected"}}).code == "not_reached"
