"""Control calls name unknown fields, query parameters and event types. Every list takes `limit`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from simulator.contract.serving import CONTRACT_ROWS
from simulator.dashboard import DASHBOARD_ROWS
from simulator.engine.control.operation import ControlOperation
from simulator.host import control_rows
from tests.remote import Remote

ROWS = control_rows((*CONTRACT_ROWS, *DASHBOARD_ROWS))
READS = [row for row in ROWS if row.method == "GET"]
LISTS = [row for row in READS if row.query and "limit" in row.query]


@pytest.mark.parametrize(
    ("method", "path", "body", "param", "meant"),
    [
        ("POST", "/clock/advance", {"untill": {"event": "quote.expired"}}, "untill", "until"),
        ("POST", "/clock/advance", {"until": {"evnt": "quote.expired"}}, "until.evnt", "event"),
        ("POST", "/clock/advance", {"until": {"resource": "txn_1", "state": "completed"}}, "until.state", "status"),
        ("PUT", "/clock", {"mod": "manual"}, "mod", "mode"),
        ("POST", "/worlds", {"clok": {}}, "clok", "clock"),
        ("POST", "/worlds", {"clock": {"mod": "manual"}}, "clock.mod", "mode"),
        ("POST", "/worlds", {"settings": {"stric": True}}, "settings.stric", "strict"),
        ("PATCH", "/settings", {"ratelimit": "1/1"}, "ratelimit", "rate_limit"),
        ("POST", "/snapshots", {"nam": "x"}, "nam", "name"),
        ("POST", "/trigger", {"evnt": "quote.expired"}, "evnt", "event"),
        ("PUT", "/scenarios/active", {"name": []}, "name", "names"),
        ("POST", "/faults", {"mach": {"path": "/quotes"}, "drop": True}, "mach", "match"),
        ("POST", "/faults", {"match": {"pth": "/quotes"}, "drop": True}, "match.pth", "path"),
        ("POST", "/faults", {"webhook": {}, "deliver": {"copy": 2}}, "deliver.copy", "copies"),
        ("POST", "/actions/payment_arrives", {"targt": "txn_1"}, "targt", "target"),
        ("POST", "/actions/set_network", {"netwrk": "celo"}, "netwrk", "network"),
        ("POST", "/actions/set_rate", {"from": {"symbl": "USDC"}}, "from.symbl", "symbol"),
        ("PUT", "/inbox/names", {"respnd": [200]}, "respnd", "respond"),
    ],
)
def test_a_member_that_a_call_does_not_know_is_named(
    world: Remote, method: str, path: str, body: dict[str, Any], param: str, meant: str
) -> None:
    answer = world.control(method, path, body)
    assert answer.refusal == (400, "invalid_parameter", param)
    assert f"did you mean `{meant}`?" in answer.body["error"]["message"]


@pytest.mark.parametrize("path", ["/reset", "/settle"])
def test_a_call_without_members_takes_none(world: Remote, path: str) -> None:
    assert world.control("POST", path, {"seed": 1}).refusal == (400, "invalid_parameter", "seed")
    assert world.control("POST", path, {}).status == 200


def _somewhere(row: ControlOperation) -> str:
    return re.sub(r"\{[a-z]+\}", "x", row.path)


@pytest.mark.parametrize("row", READS, ids=lambda row: row.name)
def test_unknown_query_parameter_is_named(world: Remote, row: ControlOperation) -> None:
    answer = world.control("GET", f"{_somewhere(row)}?surprise=1")
    assert answer.refusal == (400, "invalid_parameter", "surprise")
    for name in row.query or ():
        assert name in answer.body["error"]["message"]


def test_misspelt_query_parameter_gets_a_suggestion(world: Remote) -> None:
    answer = world.control("GET", "/requests?pth=/quotes")
    assert answer.body["error"]["message"] == (
        "There is no query parameter `pth`; did you mean `path`? Possible query parameters: method, path, "
        "status, operation, since, until, text, limit."
    )


@pytest.mark.parametrize("row", LISTS, ids=lambda row: row.name)
def test_every_list_takes_a_limit(world: Remote, row: ControlOperation) -> None:
    more = {"inbox_wait": "&count=0", "search": "&q=x"}.get(row.name, "")
    assert world.control("GET", f"{_somewhere(row)}?limit=0{more}").body["data"] == []
    for wrong in ("-1", "x", "1.5"):
        assert world.control("GET", f"{_somewhere(row)}?limit={wrong}{more}").param == "limit"


def test_a_limit_gives_the_newest_oldest_first(world: Remote) -> None:
    names = [row["name"] for row in world.control("GET", "/actions").body["data"]]
    assert [row["name"] for row in world.control("GET", "/actions?limit=2").body["data"]] == names[-2:]


def _objects(value: object) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _objects(part)


def test_the_parameters_of_actions_show_no_names_of_classes(world: Remote) -> None:
    actions = {row["name"]: row["parameters"] for row in world.control("GET", "/actions").body["data"]}
    for part in _objects(actions):
        assert not {"$defs", "$ref"} & part.keys()
        assert not isinstance(part.get("title"), str)
    assert actions["set_rate"]["properties"]["from"]["anyOf"][0]["required"] == ["symbol", "network"]


@pytest.mark.parametrize("path", ["/events", "/rates", "/resources", "/clock"])
def test_unknown_environment_is_refused_by_every_call(world: Remote, path: str) -> None:
    answer = world.control("GET", path, headers={"X-Simulator-Environment": "prod"})
    assert answer.refusal == (400, "invalid_parameter", "X-Simulator-Environment")


def test_an_inbox_may_be_posted_to_with_any_query(world: Remote) -> None:
    assert world.control("POST", "/inbox/queried?whatever=1", {"a": 1}).status == 200


@pytest.mark.parametrize(
    "path", ["/events?type=transaction.complete", "/events/wait?timeout=0&type=transaction.complete"]
)
def test_unknown_event_type_is_named(world: Remote, path: str) -> None:
    answer = world.control("GET", path)
    assert answer.refusal == (400, "invalid_parameter", "type")
    assert "did you mean `transaction.completed`?" in answer.body["error"]["message"]


def test_unknown_event_type_is_refused_by_wait_and_trigger(world: Remote) -> None:
    until = world.control("POST", "/clock/advance", {"until": {"event": "quote.expire"}})
    assert until.refusal == (400, "invalid_parameter", "until.event")
    assert "did you mean `quote.expired`?" in until.body["error"]["message"]
    walk = world.control("POST", "/trigger", {"event": "quote.expire"})
    assert "did you mean `quote.expired`?" in walk.body["error"]["message"]


@pytest.mark.parametrize(
    ("path", "param"),
    [("/deliveries?status=done", "status"), ("/requests?status=2xx", "status"), ("/advice?world=nowhere", "world")],
)
def test_invalid_filter_value_is_refused(world: Remote, path: str, param: str) -> None:
    assert world.control("GET", path).refusal == (400, "invalid_parameter", param)


@pytest.mark.parametrize("name", ["openapi.yaml", "openapi.json", "control.yaml", "reference.html"])
def test_served_contract_has_its_own_address(server: Remote, name: str) -> None:
    text = server.control("GET", f"/{name}").raw.decode()
    assert "http://127.0.0.1:8642" not in text
    if name != "reference.html":
        assert server.origin in text
