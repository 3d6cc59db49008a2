"""Creating faults: a fault that can never apply is refused or causes a warning. The first matching fault applies."""

from __future__ import annotations

from typing import Any

import pytest

from tests.remote import Remote

DOWN = {"status": 503, "code": "service_unavailable"}


@pytest.mark.parametrize(
    ("path", "meant"),
    [
        ("/v1/quotes", "/quotes"),
        ("/production/v1/quotes", "/quotes"),
        ("quotes", "/quotes"),
        ("/quotess", "/quotes"),
        ("/v1/quotes/*/confirm", "/quotes/*/confirm"),
    ],
)
def test_a_fault_on_a_path_that_no_call_has_is_refused(world: Remote, path: str, meant: str) -> None:
    answer = world.control("POST", "/faults", {"match": {"path": path}, "respond": DOWN})
    assert answer.refusal == (400, "invalid_parameter", "match.path")
    assert f"did you mean {meant}?" in answer.body["error"]["message"]
    assert world.control("GET", "/faults").body["data"] == []


@pytest.mark.parametrize(
    ("wrong", "param", "told"),
    [
        ({"webhok": {}}, "webhok", "did you mean `webhook`? Possible fields: match, respond,"),
        ({"mach": {}}, "mach", "did you mean `match`? Possible fields: match, respond,"),
        ({"match": {}, "drp": True}, "drp", "Possible fields: match, respond,"),
        ({"webhook": {}, "deliver": {"holdd": 1}}, "deliver.holdd", "Possible fields: deliver.delay, deliver.hold,"),
    ],
)
def test_an_unknown_field_suggests_other_fields_main_ones_first(
    world: Remote, wrong: dict[str, Any], param: str, told: str
) -> None:
    answer = world.control("POST", "/faults", wrong)
    assert answer.refusal == (400, "invalid_parameter", param)
    assert told in answer.body["error"]["message"]


def test_a_member_that_is_null_counts_as_not_given(world: Remote) -> None:
    fault = {"match": {"method": None, "path": "/profile"}, "respond": None, "delay": None, "drop": True, "times": None}
    made = world.control("POST", "/faults", fault)
    assert made.status == 201
    assert {*made.body} & {"respond", "delay", "times"} == set()
    assert made.body["match"] == {"path": "/profile"}


def test_a_method_that_is_not_possible_there_is_refused(world: Remote) -> None:
    answer = world.control("POST", "/faults", {"match": {"method": "DELETE", "path": "/profile"}, "respond": DOWN})
    assert answer.refusal == (400, "invalid_parameter", "match.method")
    assert "use GET, HEAD" in answer.body["error"]["message"]
    assert world.control("POST", "/faults", {"match": {"method": "BREW"}, "respond": DOWN}).param == "match.method"
    for method in ("get", "HEAD"):
        fault = {"match": {"method": method, "path": "/profile"}, "respond": DOWN}
        assert world.control("POST", "/faults", fault).status == 201


@pytest.mark.parametrize(
    ("fault", "param"),
    [
        ({"match": {}, "delay": "11m"}, "delay"),
        ({"match": {}, "delay": "soon"}, "delay"),
        ({"match": {}, "answer_delay": "11m"}, "answer_delay"),
        ({"match": {}, "answer_delay": "0s"}, "respond"),
        ({"match": {}, "respond": {"status": 503}}, "respond.code"),
        ({"match": {}, "respond": {"status": "503", "code": "x"}}, "respond.status"),
        ({"match": {}, "respond": {**DOWN, "retry_after": -1}}, "respond.retry_after"),
        ({"match": {}, "respond": DOWN, "times": 0}, "times"),
        ({"match": {}, "respond": DOWN, "probability": 2}, "probability"),
        ({"match": {}}, "respond"),
        ({"match": {"path": 5}, "respond": DOWN}, "match.path"),
        ({"webhook": {}, "deliver": {}}, "deliver"),
        ({"webhook": {}, "deliver": {"drop": False}}, "deliver"),
        ({"match": {}, "drop": False, "delay": "0s"}, "respond"),
        ({"webhook": {}, "deliver": {"copies": 0}}, "deliver.copies"),
        ({"webhook": {"event": "quote.expire"}, "deliver": {"drop": True}}, "webhook.event"),
        ({"webhook": {}, "deliver": {"slow": "2m"}}, "deliver.slow"),
    ],
)
def test_a_malformed_fault_names_the_wrong_field(world: Remote, fault: dict[str, Any], param: str) -> None:
    assert world.control("POST", "/faults", fault).refusal == (400, "invalid_parameter", param)


def test_a_key_or_endpoint_that_the_world_does_not_have_is_warned_about(world: Remote, server: Remote) -> None:
    stranger = server.world["credentials"]["sandbox"]["public_key"]
    made = world.control("POST", "/faults", {"match": {"public_key": stranger}, "respond": DOWN})
    assert made.status == 201
    assert [stranger in warning for warning in made.body["warnings"]] == [True]
    lost = world.control("POST", "/faults", {"webhook": {"endpoint_id": "wh_none"}, "deliver": {"drop": True}})
    assert (lost.status, ["wh_none" in warning for warning in lost.body["warnings"]]) == (201, [True])
    own = world.world["credentials"]["sandbox"]["public_key"]
    assert world.control("POST", "/faults", {"match": {"public_key": own}, "respond": DOWN}).body["warnings"] == []
    world.act("revoke_key", public_key=own)
    assert (
        "revoked" in world.control("POST", "/faults", {"match": {"public_key": own}, "drop": True}).body["warnings"][0]
    )
    assert all("warnings" not in row for row in world.control("GET", "/faults").body["data"])


def test_the_first_matching_fault_applies_as_specified(world: Remote) -> None:
    world.token()
    teapot = {"status": 418, "code": "no_such_code", "message": "Short and stout.", "retry_after": 7}
    world.control("POST", "/faults", {"match": {"path": "/prof*"}, "respond": teapot, "times": 1})
    world.control("POST", "/faults", {"match": {}, "respond": DOWN, "times": 1})
    first, second, third = (world.api("GET", "/profile") for _ in range(3))
    assert (first.status, first.code, first.headers["retry-after"]) == (418, "no_such_code", "7")
    assert first.body["error"]["message"] == "Short and stout."
    assert (second.status, second.code, third.status) == (503, "service_unavailable", 200)
    faults = [row["id"] for row in world.control("GET", "/faults").body["data"]]
    calls = world.control("GET", "/requests?limit=3").body["data"]
    assert [row["fault_id"] for row in calls] == [*faults, None]


def test_a_fault_acts_after_authentication(world: Remote) -> None:
    world.token()
    world.control("POST", "/faults", {"match": {"path": "/profile"}, "respond": DOWN})
    assert world.api("GET", "/profile").status == 503
    anonymous = world.call("GET", f"{world.base()}/profile", headers={"Authorization": "Bearer tok_test_none"})
    assert anonymous.status == 401


def test_the_journal_of_deliveries_has_the_order_of_the_wire(autopilot_world: Remote) -> None:
    inbox = f"/inbox/wire-{autopilot_world.world['id']}"
    hook = {
        "url": f"{autopilot_world.origin}/_simulator{inbox}",
        "events": ["transaction.processing", "transaction.completed"],
    }
    assert autopilot_world.api("POST", "/webhooks", hook).status == 201
    autopilot_world.control(
        "POST", "/faults", {"webhook": {"event": "transaction.processing"}, "deliver": {"reorder": True}}
    )
    autopilot_world.control("POST", "/trigger", {"event": "transaction.completed"})
    autopilot_world.control("POST", "/settle")
    received = [message["body"] for message in autopilot_world.control("GET", inbox).body["data"][1:]]
    deliveries = autopilot_world.control("GET", "/deliveries").body["data"]
    assert [row["event_type"] for row in deliveries] == ["transaction.completed", "transaction.processing"]
    fault = autopilot_world.control("GET", "/faults").body["data"][0]["id"]
    assert [row["fault_id"] for row in deliveries] == [None, fault]
    assert [row["request_body"] for row in deliveries] == received


@pytest.mark.parametrize("status", [100, 101, 199, 600])
def test_a_fault_answers_with_a_final_status(world: Remote, status: int) -> None:
    fault = {"match": {}, "respond": {"status": status, "code": "odd"}}
    assert world.control("POST", "/faults", fault).refusal == (400, "invalid_parameter", "respond.status")


def test_a_fault_lets_the_first_calls_through(world: Remote) -> None:
    fault = {"match": {"path": "/profile"}, "skip": 2, "times": 1, "respond": DOWN}
    assert world.control("POST", "/faults", fault).status == 201
    assert [world.api("GET", "/profile").status for _ in range(4)] == [200, 200, 503, 200]
    assert world.control("GET", "/faults").body["data"][0]["hits"] == 1


def test_something_happens_just_before_a_call(world: Remote) -> None:
    drained = {"action": "set_balance", "parameters": {"symbol": "USDC", "network": "CELO", "amount": "0"}}
    fault = {"match": {"path": "/profile"}, "skip": 1, "times": 1, "act": drained}
    assert world.control("POST", "/faults", fault).status == 201

    def available() -> list[str]:
        shown = world.api("GET", "/wallet/assets").body["data"]
        return [row["available"] for row in shown if (row["symbol"], row["network"]) == ("USDC", "CELO")]

    world.api("GET", "/profile")
    assert available() == ["1000.00"]
    assert world.api("GET", "/profile").status == 200
    assert available() == ["0.00"]


def test_steps_before_a_call_are_known(world: Remote) -> None:
    wrong = world.control("POST", "/faults", {"match": {}, "act": {"action": "set_balanse"}})
    assert wrong.refusal == (400, "invalid_parameter", "act.action")
    assert "did you mean `set_balance`?" in wrong.body["error"]["message"]
    refused = {"match": {"path": "/profile"}, "act": {"action": "set_balance", "parameters": {"symbol": "USDC"}}}
    world.control("POST", "/faults", refused)
    assert world.api("GET", "/profile").status == 200
    assert world.control("GET", "/faults").body["data"][0]["hits"] == 0


def test_paths_below_the_base_of_a_world_belong_to_it(world: Remote, server: Remote) -> None:
    base = f"/_worlds/{world.world['id']}"
    keys = {name: world.world["credentials"]["sandbox"][name] for name in ("public_key", "secret_key")}
    for below in ("/v1/auth/token", "/auth/token"):
        assert server.call("POST", server.origin + base + below, json=keys).status == 200
    assert server.call("GET", f"{server.origin}{base}/_simulator/requests").body["data"][-1]["path"] == "/v1/auth/token"
    assert world.control("GET", "/requests?limit=1").body["data"][0]["fault_id"] is None
