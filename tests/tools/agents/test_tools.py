"""The tools for agents: short responses, refusals that say what to do, and a verdict."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.agents import toolbox
from simulator.agents.answers import bounded, page, written
from simulator.agents.session import Session
from simulator.docs import library
from tests.tools.agents.conftest import Agent


def test_tools_are_at_most_eight_and_describe_parameters() -> None:
    assert [tool.name for tool in toolbox.TOOLS] == [
        "world", "call", "act", "advance", "inspect", "fault", "scenario", "verdict",
    ]  # fmt: skip
    for tool in toolbox.TOOLS:
        schema = tool.schema
        assert schema["type"] == "object"
        assert schema["additionalProperties"] is False
        assert all(one.get("description") for one in schema["properties"].values()), tool.name
        assert "$ref" not in json.dumps(schema)


def test_all_that_a_model_reads_before_its_first_call_is_short() -> None:
    told = toolbox.INSTRUCTIONS + "".join(tool.description + json.dumps(tool.schema) for tool in toolbox.TOOLS)
    assert len(told) < 14_000


def test_an_offramp_from_nothing_to_a_verified_webhook(agent: Agent) -> None:
    inbox = agent.use("world", do="show")["inbox"]
    agent.use("call", method="POST", path="/webhooks", body={"url": inbox, "events": ["*"]})
    offramp = agent.offramp()
    receipt = agent.use("advance", until_id=offramp, until_status="completed")
    assert receipt["events"][-1] == f"transaction.completed of {offramp}"
    shown = agent.use("call", method="GET", path=f"/transactions/{offramp}", fields=["status", "deposit.asset"])
    assert shown == {"http_status": 200, "status": "completed", "deposit.asset": "USDC"}
    told = agent.use("inspect", what="inbox", id=agent.session.world)["data"]
    assert told[0]["event"] == "transaction.completed"
    assert all(row["genuine"] for row in told)
    judged = agent.use(
        "verdict", outcomes=[{"id": offramp, "status": "completed"}], inbox=agent.session.world, advice_from="info"
    )
    assert judged["ok"] is True
    assert judged["exit_code"] == 0
    assert f"a verified webhook reports that {offramp} is completed" in judged["held"]


def test_a_forged_webhook_is_a_no(agent: Agent) -> None:
    inbox = agent.use("world", do="show")["inbox"]
    agent.use("call", method="POST", path="/webhooks", body={"url": inbox, "events": ["*"]})
    agent.use("fault", do="add", fault={"webhook": {"event": "transaction.completed"}, "deliver": {"corrupt_signature": True}})  # fmt: skip  # noqa: E501
    offramp = agent.offramp()
    agent.use("advance", until_id=offramp, until_status="completed")
    judged = agent.use("verdict", outcomes=[{"id": offramp, "status": "completed"}], inbox=agent.session.world)
    assert judged["ok"] is False
    assert judged["exit_code"] == 1
    assert any("X-Signature is not the HMAC" in problem for problem in judged["problems"])


def test_a_verdict_says_what_is_wrong_with_an_outcome(agent: Agent) -> None:
    offramp = agent.offramp("+254722000001")
    agent.use("advance", until_id=offramp, until_status="refunded")
    judged = agent.use("verdict", outcomes=[{"id": offramp, "status": "completed"}, {"id": "txn_none", "status": "x"}])
    assert f"{offramp} is completed: it is refunded; `inspect` it to see why" in judged["problems"]
    assert len(judged["problems"]) == 2


def test_a_verdict_without_evidence_is_unknown(agent: Agent) -> None:
    judged = agent.use("verdict")
    assert (judged["ok"], judged["exit_code"], judged["verdict"].partition(":")[0]) == (False, 4, "unknown")
    assert [line.partition(":")[0] for line in judged["missing"]] == ["outcomes", "calls", "webhooks"]

    offramp = agent.offramp("+254722000001")
    agent.use("advance", until_id=offramp, until_status="refunded")
    judged = agent.use("verdict")
    assert judged["verdict"].startswith("unknown")
    assert [line.partition(":")[0] for line in judged["missing"]] == ["outcomes", "webhooks"]
    assert agent.use("verdict", outcomes=[{"id": offramp, "status": "refunded"}])["verdict"] == "yes: all checks passed"


@pytest.mark.parametrize(
    ("tool", "arguments", "names"),
    [
        ("call", {}, "method, path"),
        ("call", {"method": "POST", "path": "/quotes", "body": {"type": "onramp"}}, "network, asset, fiat_currency"),
        ("act", {"action": "set_network"}, "network, status"),
    ],
)
def test_a_refusal_names_every_missing_parameter(agent: Agent, tool: str, arguments: Any, names: str) -> None:
    refused = agent.refused(tool, **arguments)
    assert (refused["code"], refused["param"]) == ("missing_parameter", names.partition(",")[0])
    assert f"These parameters are missing: {names}" in refused["message"]


def test_a_verdict_without_an_endpoint_says_where_to_register_one(agent: Agent) -> None:
    judged = agent.use("verdict", inbox="nobody", advice_from="never")
    assert "register http://127.0.0.1" in judged["problems"][0]


def test_refusals_lead_from_a_mistake_to_success(agent: Agent) -> None:
    """Each call is made of the answer before: a wrong parameter, a wrong action, a wrong payee."""
    offramp = agent.offramp("+254722000001")
    unknown = agent.refused("act", target=offramp, action="deposit_arived")
    action = next(name for name in unknown["allowed"] if name.startswith("deposit_arr"))
    assert agent.use("act", target=offramp, action=action)["resource"]["status"] == "processing"
    wrong = agent.refused("advance", until_id=offramp)
    assert wrong["param"] == "until_status"
    agent.refused("advance", until_id=offramp, until_status="completed")
    why = agent.use("inspect", what="resource", id=offramp)
    assert why["resource"]["failure_code"] == "payout_failed"
    assert "test-values" in " ".join(why["story"])
    again = agent.offramp()
    agent.use("advance", until_id=again, until_status="completed")


@pytest.mark.parametrize(
    ("name", "arguments", "param", "said"),
    [
        ("world", {"do": "mak"}, "do", "'make'"),
        ("world", {"doo": "make"}, "doo", "did you mean `do`?"),
        ("world", {"do": "use"}, "id", "`use` needs `id`"),
        ("call", {"method": "GET"}, "path", "missing"),
        ("call", {"method": "GET", "path": "/v1/profile"}, "path", "below the base URL"),
        ("call", {"method": "GET", "path": "https://example.com/v1"}, "path", "below the base URL"),
        ("call", {"method": "GET", "path": "/wallets/é"}, "path", "a space is %20"),
        ("call", {"method": "GET", "path": "/wallets/a b"}, "path", "a space is %20"),
        ("call", {"method": "POST", "path": "/wallets", "idempotency_key": "a\nb"}, "idempotency_key", "not valid"),
        ("inspect", {"what": "requests", "world": "€"}, "world", "it must have 1 to 64 letters"),
        ("call", {"method": "POST", "path": "/quotes", "body": {"type": "onramp"}}, "network", "missing"),
        ("act", {"event": "transaction.dun"}, "event", "unknown event type"),
        ("act", {"event": "transaction.completed", "action": "fail"}, "event", "not both"),
        ("advance", {"by": "1x"}, "by", "is not a duration"),
        ("inspect", {"what": "resource"}, "id", "`resource` needs `id`"),
        ("inspect", {"what": "event", "id": "evt_none"}, "id", "List them with `what: events`"),
        ("inspect", {"what": "requests", "cursor": "req_none"}, "cursor", "Omit the cursor to start at the beginning"),
        ("fault", {"do": "add"}, "fault", "`add` needs `fault`"),
        ("fault", {"do": "add", "fault": {"match": {"pth": "/x"}}}, "match.pth", "did you mean `path`?"),
        ("scenario", {"do": "run", "name": "payout-fails-and-refund"}, "name", "no built-in scenario"),
        ("scenario", {"do": "upload", "yaml": "name: x\nruls: 1"}, "yaml", "did you mean `rules`?"),
        ("nothing", {}, "name", "no tool"),
    ],
)
def test_a_refusal_names_the_parameter_and_what_to_do(
    agent: Agent, name: str, arguments: dict[str, Any], param: str, said: str
) -> None:
    error = agent.refused(name, **arguments)
    assert error["param"] == param
    assert said in error["message"]
    path = error["docs"].removeprefix(f"{agent.session.url}/_simulator/docs/")
    assert (path or library.INDEX) in library.pages_by_path()


def test_a_value_that_is_not_one_of_few_is_refused_with_those(agent: Agent) -> None:
    assert agent.refused("world", do="mak")["allowed"] == [
        "make", "use", "show", "list", "reset", "end", "keys",
    ]  # fmt: skip
    assert "payout-fails-and-refunds" in agent.refused("scenario", do="run", name="payout-fails-and-refund")["allowed"]


def test_lists_continue_by_their_cursor_until_all_was_seen(agent: Agent) -> None:
    for _ in range(6):
        agent.offramp()
    seen: list[str] = []
    cursor: dict[str, str] = {}
    while True:
        answer = agent.use("inspect", what="requests", max_characters=600, **cursor)
        assert len(written(answer)) <= 600
        seen += [row["id"] for row in answer["data"]]
        if "next_cursor" not in answer:
            break
        cursor = {"cursor": answer["next_cursor"]}
    assert len(seen) == len(set(seen)) == answer["of"] == 19  # with the sign-in


@pytest.mark.parametrize(
    "what", ["overview", "resources", "requests", "events", "deliveries", "inbox", "emails", "timers", "reference"]
)
def test_no_look_is_longer_than_it_may_be(agent: Agent, what: str) -> None:
    for _ in range(4):
        agent.offramp()
    assert len(written(agent.use("inspect", what=what))) <= 2_000
    assert len(written(agent.use("inspect", what=what, max_characters=400))) <= 400


def test_the_same_calls_have_the_same_answers(origin: str) -> None:
    def told(world: str) -> list[str]:
        agent = Agent(Session(origin))
        agent.use("world", do="make", id=world)
        offramp = agent.offramp()
        answers = [agent.use("advance", until_id=offramp, until_status="completed")]
        answers += [agent.use("inspect", what=what, id=offramp) for what in ("resource", "events")]
        answers += [agent.use("inspect", what="requests"), agent.use("verdict"), agent.refused("advance", by="x")]
        agent.use("world", do="end")
        return [written(answer).replace(world, "") for answer in answers]

    assert told("same-a") == told("same-b")


def test_a_token_that_has_lapsed_is_renewed(agent: Agent) -> None:
    agent.use("call", method="GET", path="/profile")
    agent.use("advance", by="2h")
    assert agent.use("call", method="GET", path="/profile")["http_status"] == 200
    agent.use("world", do="reset")
    assert agent.use("call", method="GET", path="/profile")["http_status"] == 200


def test_a_scenario_is_checked_uploaded_activated_and_run(agent: Agent) -> None:
    text = "name: mine\ndescription: A payout is refused.\nrules: []\n"
    assert agent.use("scenario", do="validate", yaml=text)["valid"] is True
    assert "ruls" in agent.use("scenario", do="validate", yaml="name: x\nruls: []")["problems"][-1]
    agent.use("scenario", do="upload", yaml=text)
    assert agent.use("scenario", do="activate", names=["mine"])["names"] == ["mine"]
    assert agent.use("scenario", do="show", name="mine")["name"] == "mine"
    played = agent.use("scenario", do="run", name="payout-fails-and-refunds")
    assert played["passed"] is True


def test_faults_come_and_go(agent: Agent) -> None:
    fault = {"match": {"path": "/profile"}, "respond": {"status": 503, "code": "service_unavailable"}}
    made = agent.use("fault", do="add", fault=fault)["added"]
    assert agent.refused("call", method="GET", path="/profile")["http_status"] == 503
    assert [row["id"] for row in agent.use("fault", do="list")["data"]] == [made]
    agent.use("fault", do="remove", id=made)
    assert agent.use("call", method="GET", path="/profile")["http_status"] == 200


def test_act_lists_possible_actions(agent: Agent) -> None:
    offramp = agent.offramp()
    shown = agent.use("act", target=offramp)
    assert shown["possible"][0].startswith("deposit_arrives(amount?")
    assert "set_network(network: stellar|celo|bitcoin" in agent.use("act")["on_the_world"][0]
    assert agent.use("act", event="transaction.refunded", target=offramp)


def test_a_server_that_is_away_is_named(agent: Agent) -> None:
    away = Agent(Session("http://127.0.0.1:9"))
    error = away.refused("world", do="list")
    assert error["code"] == "unreachable"
    assert "rampsim serve" in error["message"]


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=400),
    lambda inner: st.lists(inner, max_size=8) | st.dictionaries(st.text(max_size=12), inner, max_size=8),
    max_leaves=40,
)


@settings(max_examples=30)
@given(st.dictionaries(st.text(max_size=12), _json, max_size=10), st.integers(200, 3_000))
def test_no_answer_is_longer_than_it_may_be(answer: dict[str, Any], most: int) -> None:
    shown = bounded(answer, most)
    assert len(written(shown)) <= most
    if len(written(answer)) <= most:
        assert shown == answer


@settings(max_examples=30)
@given(st.lists(st.integers(), unique=True, max_size=60), st.integers(250, 900))
def test_pages_have_every_row_once(numbers: list[int], most: int) -> None:
    rows = [{"id": str(number), "text": "x" * 40} for number in numbers]
    seen: list[str] = []
    before: str | None = None
    while True:
        answer = page(rows, lambda row: str(row["id"]), before, most)
        seen += [row["id"] for row in answer["data"]]
        before = answer.get("next_cursor")
        if before is None:
            break
    assert seen == [str(number) for number in reversed(numbers)]
