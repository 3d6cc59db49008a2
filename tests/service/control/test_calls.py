"""One request with its consequences, and the state tables."""

from __future__ import annotations

from tests.remote import Remote
from tests.service.control.test_story import story
from tests.service.control.test_trigger import onramp
from tests.support import CELO, QUOTE


def test_request_shows_its_transitions_and_events(world: Remote) -> None:
    onramp(world)
    mine = onramp(world)
    row = world.control("GET", "/requests", params={"path": "*/confirm"}).body["data"][-1]
    told = world.control("GET", f"/requests/{row['id']}").body
    assert told["request"] == row
    assert told["answer_headers"]["X-Request-Id"] == row["id"]
    assert told["calls"] == 1
    assert sorted((move["id"], move["kind"], move["state"], move["is_new"]) for move in told["moves"]) == [
        (mine["quote_id"], "ramp_quote", "confirmed", False),
        (mine["id"], "onramp", "awaiting_payment", True),
    ]
    assert [event["type"] for event in told["events"]] == ["transaction.created", "transaction.awaiting_payment"]
    assert {event["object_id"] for event in told["events"]} == {mine["id"]}


def test_requests_are_filtered_by_operation_and_time(world: Remote) -> None:
    onramp(world)
    before = world.control("GET", "/clock").body["now"]
    world.advance(by="10m")
    after = world.control("GET", "/clock").body["now"]
    onramp(world)

    def times(**query: str) -> list[str]:
        return [row["at"] for row in world.control("GET", "/requests", params=query).body["data"]]

    assert times(operation="confirm_quote") == [before, after]
    assert times(operation="confirm_quote", since=after) == [after]
    assert times(operation="confirm_quote", until=before) == [before]
    assert times(operation="none_of_that_name") == []
    for name in ("since", "until"):
        assert world.control("GET", f"/requests?{name}=yesterday").refusal == (400, "invalid_parameter", name)


def test_replayed_request_is_counted(world: Remote) -> None:
    first, again = (world.api("POST", "/quotes", QUOTE, headers={"Idempotency-Key": "one"}) for _ in range(2))
    identifier = first.headers["x-request-id"]
    assert again.headers["x-request-id"] == identifier
    assert world.control("GET", f"/requests/{identifier}").body["calls"] == 2


def test_a_read_changes_nothing(world: Remote) -> None:
    identifier = world.api("GET", "/profile").headers["x-request-id"]
    told = world.control("GET", f"/requests/{identifier}").body
    assert (told["moves"], told["events"]) == ([], [])


def test_unknown_request_is_not_found(world: Remote) -> None:
    assert world.control("GET", "/requests/req_none").refusal == (404, "not_found", None)


def test_every_transition_in_a_history_is_in_its_state_table(autopilot_world: Remote) -> None:
    tables = {row["kind"]: row for row in autopilot_world.control("GET", "/states").body["data"]}
    mine = onramp(autopilot_world)
    autopilot_world.advance(by="10m")
    told = story(autopilot_world, mine["id"])
    table = tables[told["kind"]]
    before = None
    for step in told["history"]:
        assert (before, step["trigger"], step["state"]) in [
            (row["from"], row["on"], row["to"]) for row in table["moves"]
        ]
        before = step["state"]
    states = {row["state"]: row["means"] for row in table["states"]}
    assert states["completed"] == "The crypto has been delivered."
    assert {row["to"] for row in table["moves"]} == set(states)


def test_calls_are_found_by_what_was_sent_and_answered(world: Remote) -> None:
    mine = onramp(world)
    onramp(world)
    found = world.control("GET", "/requests", params={"text": mine["id"].upper()}).body["data"]
    assert [row["path"] for row in found] == [f"/v1/quotes/{mine['quote_id']}/confirm"]
    by_body = world.control("GET", "/requests", params={"text": CELO, "method": "POST"}).body["data"]
    assert [row["operation"] for row in by_body] == ["confirm_quote", "confirm_quote"]
    assert world.control("GET", "/requests", params={"text": "nowhere"}).body["data"] == []
