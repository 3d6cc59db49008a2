"""Running the drive of a scenario, and checking its expectations."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any
from xml.etree import ElementTree

import pytest

from simulator.engine.clients.asynchronous import AsgiClient, Reply
from simulator.engine.rows.token_exchange import TokenExchange
from simulator.engine.scenario.play.filling import NoValue, fill
from simulator.engine.scenario.run.results import Check, RunResult
from simulator.engine.scenario.run.runner import run
from simulator.engine.text.reports import junit
from simulator.engine.worlds.setting_model import Settings
from simulator.engine.worlds.settings import MANUAL_START, shown
from tests.unit.engine.scenario.playing import LOADER

EXCHANGE = TokenExchange("/auth/token", token_field="access_token")
NOW = "2026-01-05T08:00:00.000Z"


class FakeSimulator:
    """A simulator with canned responses that records the calls."""

    origin = "http://127.0.0.1:9"

    def __init__(self, **answers: list[Any]) -> None:
        self.calls: list[tuple[str, str, Any]] = []
        self.headers: list[Mapping[str, str]] = []
        self.answers = {
            "POST /_simulator/worlds": [
                Reply(201, {"id": "w", "clock": {"now": NOW}, "credentials": self._credentials()})
            ],
            "POST /v1/auth/token": [Reply(200, {"access_token": "tok"})],
            "POST /open/v1/auth/token": [Reply(200, {"access_token": "live"})],
            "GET /_simulator/events": [Reply(200, {"data": []})],
            "GET /_simulator/deliveries": [Reply(200, {"data": []})],
            "GET /_simulator/scenarios/x": [Reply(200, {"skipped": []})],
            "POST /_simulator/clock/advance": [Reply(200, {"now": NOW})],
        }
        for key, replies in answers.items():
            method, _, path = key.partition("_")
            self.answers[f"{method} /{path.replace('__', '/').replace('SIM', '_simulator')}"] = replies

    @staticmethod
    def _credentials() -> dict[str, Any]:
        return {
            name: {"public_key": "p", "secret_key": "s", "base_url": f"http://h{base}"}
            for name, base in (("practice", "/v1"), ("open", "/open/v1"))
        }

    async def request(
        self, method: str, path: str, json: Any = None, headers: Mapping[str, str] | None = None
    ) -> Reply:
        path = path.partition("?")[0]
        self.calls.append((method, path, json))
        self.headers.append(headers or {})
        replies = self.answers.get(f"{method} {path}", [Reply(200, {"id": "made"})])
        reply = replies.pop(0) if len(replies) > 1 else replies[0]
        if reply is None:
            raise ConnectionError("cut")
        assert isinstance(reply, Reply)
        return reply

    def made(self, path: str) -> list[Any]:
        return [json for _, called, json in self.calls if called == path]


def go(text: str, simulator: FakeSimulator, **options: Any) -> RunResult:
    exchange = options.pop("exchange", EXCHANGE)
    return asyncio.run(run(LOADER.load(f"name: x\n{text}"), simulator, exchange, **options))


def event(name: str, **shown: Any) -> dict[str, Any]:
    return {"id": f"evt_{name}", "type": name, "created_at": NOW, "livemode": False, "data": {"object": shown}}


def test_the_drive_calls_the_api_in_a_separate_world() -> None:
    simulator = FakeSimulator(POST_v1__offers=[Reply(201, {"id": "offer-1", "amount": "5", "n": 3})])
    result = go(
        """
drive:
  - offer: {post: /offers, body: {amount: "5"}, headers: {X-Note: hi}}
  - {post: "/offers/${offer.id}/confirm", body: {same: "${offer.n}", list: ["${offer.amount} COIN"]}}
  - {get: /profile, environment: open}
  - {action: set_network, network: north, status: down, environment: open}
  - advance: 90s
  - {delete: /webhooks/1}
""",
        simulator,
        seed=7,
    )
    assert result.passed
    assert simulator.made("/_simulator/worlds")[0] == {
        "clock": {"mode": "manual", "now": MANUAL_START},
        "scenarios": [],
        "settings": shown(Settings()),
        "seed": 7,
    }
    assert simulator.made("/v1/offers/offer-1/confirm") == [{"same": 3, "list": ["5 COIN"]}]
    assert simulator.made("/_simulator/clock/advance") == [{"by": 90.0}]
    assert ("GET", "/open/v1/profile", None) in simulator.calls
    assert simulator.made("/_simulator/actions/set_network") == [{"network": "north", "status": "down"}]
    sent = dict(zip([path for _, path, _ in simulator.calls], simulator.headers, strict=True))
    assert sent["/v1/offers"] == {"Authorization": "Bearer tok", "Idempotency-Key": "x-0", "X-Note": "hi"}
    assert sent["/_simulator/actions/set_network"]["X-Simulator-Environment"] == "open"
    assert sent["/_simulator/scenarios/active"] == {"X-Simulator-World": "w"}
    assert simulator.calls[-1] == ("DELETE", "/_simulator/worlds/w", None)


def test_keep_leaves_the_world() -> None:
    simulator = FakeSimulator()
    assert go("with: []", simulator, keep=True).world == "w"
    assert ("DELETE", "/_simulator/worlds/w", None) not in simulator.calls


def test_429_and_503_are_tried_again_with_backoff_on_the_simulated_clock() -> None:
    busy = Reply(429, {"error": {"code": "rate_limited"}}, {"retry-after": "7"})
    simulator = FakeSimulator(POST_v1__offers=[busy, Reply(503), None, Reply(201, {"id": "q"})])
    result = go("drive: [{post: /offers}]", simulator)
    assert result.passed
    assert simulator.made("/_simulator/clock/advance") == [{"by": seconds} for seconds in (7, 2, 4)]
    keys = [
        headers["Idempotency-Key"]
        for (_, path, _), headers in zip(simulator.calls, simulator.headers, strict=True)
        if path == "/v1/offers"
    ]
    assert keys == ["x-0"] * 4


@pytest.mark.parametrize("text", ["retry: false\ndrive: [{post: /offers}]", "drive: [{post: /offers, retry: false}]"])
def test_without_retry_the_first_refusal_ends_the_drive(text: str) -> None:
    simulator = FakeSimulator(POST_v1__offers=[Reply(503, {"error": {"code": "service_unavailable"}})])
    result = go(text, simulator)
    assert not result.passed
    assert "should return 2xx; it returned 503" in result.checks[0].problem
    assert simulator.made("/_simulator/clock/advance") == []


def test_after_five_attempts_the_drive_gives_up() -> None:
    simulator = FakeSimulator(POST_v1__offers=[None])
    result = go("drive: [{post: /offers}, {post: /never}]", simulator)
    assert "the connection was cut" in result.checks[0].problem
    assert len(simulator.made("/v1/offers")) == 5
    assert simulator.made("/v1/never") == []


def test_expected_refusal_passes() -> None:
    simulator = FakeSimulator(POST_v1__offers=[Reply(422, {"error": {"code": "amount_too_low"}})])
    assert go("drive: [{post: /offers, status: 422}]", simulator).passed
    assert not go("drive: [{post: /offers, status: 409}]", simulator).passed


def test_refusal_with_another_code_fails() -> None:
    simulator = FakeSimulator(POST_v1__offers=[Reply(422, {"error": {"code": "amount_too_low"}})])
    assert go("drive: [{post: /offers, status: 422, code: amount_too_low}]", simulator).passed
    wrong = go("drive: [{post: /offers, status: 422, code: amount_too_high}]", simulator)
    assert "should return 422 amount_too_high; it returned 422" in wrong.checks[0].problem


def test_a_named_action_gives_its_resource_to_later_steps() -> None:
    simulator = FakeSimulator(
        POST_SIM__actions__set_network=[Reply(200, {"action": "set_network", "resource": {"status": "down"}})]
    )
    result = go(
        """
drive:
  - north: {action: set_network, network: north, status: down, environment: open}
  - {post: /offers, body: {status: "${north.status}", world: "${world.id}"}}
""",
        simulator,
    )
    assert result.passed
    assert simulator.made("/_simulator/actions/set_network") == [{"network": "north", "status": "down"}]
    assert simulator.made("/v1/offers") == [{"status": "down", "world": "w"}]


def test_receiver_returns_the_statuses_of_the_drive() -> None:
    simulator = FakeSimulator(POST_v1__webhooks=[Reply(201, {"id": "wh_1"})], GET_v1__webhooks__wh_1=[Reply(200, {})])
    text = 'drive: [{receiver: {respond: [500, 200]}}, {get: "/webhooks/${receiver.id}"}]'
    result = go(text, simulator)
    assert result.passed
    assert ("PUT", "/_simulator/inbox/scenario-w", {"respond": [500, 200]}) in simulator.calls
    assert "the receiver returns 500, 200" in result.readable()
    simulator = FakeSimulator()
    simulator.origin = ""
    assert "no address" in go(text, simulator).checks[0].problem


def test_an_expired_token_is_replaced() -> None:
    simulator = FakeSimulator(GET_v1__profile=[Reply(401), Reply(200, {})])
    assert go("drive: [{get: /profile}]", simulator).passed
    assert len(simulator.made("/v1/auth/token")) == 2
    refused = FakeSimulator(POST_v1__auth__token=[Reply(403, {"error": {"code": "forbidden"}})])
    assert "403" in go("drive: [{get: /profile}]", refused).checks[0].problem


def test_a_token_exchange_without_a_token_is_tried_again() -> None:
    simulator = FakeSimulator(POST_v1__auth__token=[Reply(200, "oops"), Reply(200, {"access_token": "tok"})])
    assert go("drive: [{get: /profile}]", simulator).passed


def test_lost_connection_fails_the_run() -> None:
    result = go("with: []", FakeSimulator(POST_SIM__settle=[None]))
    assert [(check.name, check.problem) for check in result.checks] == [("drive", ""), ("settle", "cut")]


def test_failed_preparation_fails_the_run() -> None:
    simulator = FakeSimulator(PUT_SIM__scenarios__active=[Reply(404, {"error": {"code": "not_found"}})])
    assert "PUT /_simulator/scenarios/active returned 404" in go("with: []", simulator).checks[0].problem
    nothing = FakeSimulator(POST_SIM__worlds=[None])
    result = go("expect: [{event: order.failed}]", nothing)
    assert [check.problem for check in result.checks] == ["cut"]


def test_expected_events_are_checked() -> None:
    events = [Reply(200, {"data": [event("order.failed", id="t", status="failed", failure_code="a")]})]
    result = go(
        """
expect:
  - {event: order.failed, where: {failure_code: a}}
  - {event: order.failed, where: {failure_code: {starts_with: b}, reference: 1}}
  - {event: order.completed}
  - {event: order.failed, times: 2}
  - {event: order.completed, times: 0}
""",
        FakeSimulator(GET_SIM__events=events),
    )
    assert [check.problem for check in result.checks] == [
        "",
        "",
        'order.failed was emitted, but with failure_code "a" (wanted {"starts_with":"b"}), '
        "reference absent (wanted 1); it was about t",
        "order.completed was never emitted; emitted: order.failed",
        "order.failed was emitted once, not 2; it was about t",
        "",
    ]
    assert [line.text for line in result.timeline] == ["order.failed t failed a"]


def test_expected_resources_are_checked() -> None:
    simulator = FakeSimulator(
        POST_v1__offers=[Reply(201, {"id": "q"})],
        GET_SIM__resources__q=[Reply(200, {"resource": {"status": "active"}})],
        GET_SIM__resources__gone=[Reply(404, {"error": {}})],
    )
    result = go(
        """
drive: [{offer: {post: /offers}}]
expect:
  - {resource: "${offer.id}", where: {status: active}}
  - {resource: "${offer.id}", where: {status: expired}}
  - {resource: gone, where: {status: expired}}
  - {resource: "${offer.nothing}", where: {status: expired}}
""",
        simulator,
    )
    assert [bool(check.problem) for check in result.checks] == [False, False, True, True, True]


def test_expected_answers_are_checked() -> None:
    simulator = FakeSimulator(POST_v1__offers=[Reply(201, {"id": "q", "data": [{"status": "active"}]})])
    result = go(
        """
drive: [{offer: {post: /offers}}]
expect:
  - {answer: offer, where: {data.0.status: active}}
  - {answer: offer, where: {data.0.status: expired}}
""",
        simulator,
    )
    assert [check.problem for check in result.checks] == ["", "", 'data.0.status "active" (wanted "expired")']


def attempt(event: str, number: int = 1, **shown: Any) -> dict[str, Any]:
    return {
        "id": f"dlv_{event}_{number}",
        "event_id": f"evt_{event}",
        "event_type": event,
        "endpoint_id": "wh",
        "url": "https://user:pass@shop.test/hook?token=1",
        "attempt": number,
        "attempted_at": NOW,
        "status": "failed",
        "response_status": 500,
        "error": None,
        **shown,
    }


def test_attempts_and_fault_hits_are_traced_in_order() -> None:
    fault = {"id": "flt_1", "scenario": "x", "webhook": {}, "deliver": {"copies": 2}}
    cut = {"id": "flt_2", "scenario": "x", "match": {}, "drop": True}
    other = {"id": "flt_3", "scenario": "below", "match": {}, "respond": {"status": 503}}
    call = {"id": "req_1", "at": NOW, "method": "GET", "path": "/v1/profile", "status": 0, "response": None}
    refused = {**call, "id": "req_2", "status": 503, "response": {"error": {"code": "busy"}}, "fault_id": "flt_3"}
    rows = [
        attempt("order.failed", fault_id="flt_1", next_attempt_at="later"),
        attempt("order.failed", 2, response_status=200, error="lost", fault_id="flt_1"),
    ]
    simulator = FakeSimulator(
        GET_SIM__faults=[Reply(200, {"data": [fault, cut, other]})],
        GET_SIM__requests=[Reply(200, {"data": [{**call, "fault_id": "flt_2"}, refused]})],
        GET_SIM__events=[Reply(200, {"data": [event("order.failed", id="t")]})],
        GET_SIM__deliveries=[Reply(200, {"data": rows})],
    )
    result = go(
        """
faults:
  - {webhook: {}, deliver: {copies: 2}}
  - {match: {}, drop: true}
drive: [{get: /profile}, {advance: 1s}]
expect: [{delivery: order.failed, times: 1}]
""",
        simulator,
    )
    assert [(line.kind, line.text) for line in result.timeline] == [
        ("call", "POST /webhooks → 200 made"),
        ("fault", "the fault faults[1] (drop, line 5) applied to GET /v1/profile: the connection was cut"),
        ("fault", "the fault flt_3 (respond, of the scenario below) applied to GET /v1/profile: 503 busy"),
        ("event", "order.failed t"),
        ("call", "GET /profile → 200 made"),
        (
            "webhook",
            "order.failed → https://shop.test/hook: 500; again at later, by the fault faults[0] (copies, line 4)",
        ),
        (
            "webhook",
            "order.failed → https://shop.test/hook, attempt 2: lost, by the fault faults[0] (copies, line 4)",
        ),
        ("clock", "advance 1s"),
    ]
    assert result.checks[-1].problem.splitlines() == [
        "order.failed was sent 2 times, not 1",
        *(f"{NOW}  {line.text}" for line in result.timeline if line.kind == "webhook"),
    ]


def test_wrong_resource_status_is_explained() -> None:
    story = {
        "resource": {"status": "processing"},
        "history": [{"state": "processing", "at": NOW, "trigger": "pay", "cause": {"text": "a rule of autopilot"}}],
        "timers": [
            {"due_at": NOW, "kind": "step", "scenario": "x", "part": "rules[0].do[0]", "line": 3, "action": "complete"},
            {"due_at": None, "waiting_for": ["north"], "kind": "step", "text": "a law"},
        ],
    }
    simulator = FakeSimulator(GET_SIM__resources__t=[Reply(200, story), Reply(200, {**story, "timers": []})])
    text = "expect: [{resource: t, where: {status: completed}}, {resource: t, where: {status: completed}}]"
    first, second = (check.problem.splitlines() for check in go(text, simulator).checks[1:])
    assert first == [
        'status "processing" (wanted "completed")',
        f"it became processing at {NOW}: a rule of autopilot",
        f"still planned: complete at {NOW} (x, rules[0].do[0], line 3)",
        "still planned: a law, waits for north",
    ]
    assert second[2:] == ["nothing more is planned for it"]


def test_expected_deliveries_are_counted() -> None:
    rows = [attempt("order.failed", number) for number in (1, 2)]
    simulator = FakeSimulator(GET_SIM__deliveries=[Reply(200, {"data": rows})])
    text = """
expect:
  - {delivery: order.failed, where: {attempt: 2}}
  - {delivery: order.failed, where: {status: failed}, times: 2}
  - {delivery: order.failed, where: {status: succeeded}}
  - {delivery: order.failed, times: 3}
  - {delivery: order.completed}
  - {delivery: order.completed, times: 0}
"""
    result = go(text, simulator)
    assert [check.problem.partition("\n")[0] for check in result.checks] == [
        "",
        "",
        "",
        'order.failed was sent, but with status "failed" (wanted "succeeded")',
        "order.failed was sent 2 times, not 3",
        "order.completed was never sent; sent: order.failed",
        "",
    ]
    simulator.origin = ""
    assert "no address" in go(text, simulator).checks[-1].problem


def test_expected_webhooks_are_counted() -> None:
    def delivery(event_id: str, status: str) -> dict[str, Any]:
        return attempt("order.failed", event_id=event_id, status=status)

    text = "expect: [{webhooks: delivered}]"
    events = [Reply(200, {"data": [event("order.failed"), event("order.completed")]})]
    good = [delivery("evt_order.failed", "failed"), delivery("evt_order.failed", "succeeded")]
    simulator = FakeSimulator(
        GET_SIM__events=list(events),
        GET_SIM__deliveries=[Reply(200, {"data": [*good, delivery("evt_order.completed", "succeeded")]})],
    )
    assert go(text, simulator).passed
    assert simulator.made("/v1/webhooks") == [
        {"url": "http://127.0.0.1:9/_worlds/w/_simulator/inbox/scenario-w", "events": ["*"]}
    ]
    simulator = FakeSimulator(GET_SIM__events=list(events), GET_SIM__deliveries=[Reply(200, {"data": good[:1]})])
    assert go(text, simulator).checks[-1].problem == (
        "order.failed (evt_order.failed) got 500\norder.completed (evt_order.completed) was not sent"
    )
    simulator = FakeSimulator()
    simulator.origin = ""
    assert "no address" in go(text, simulator).checks[-1].problem


def test_the_result_reads_well_and_is_junit_for_machines() -> None:
    skipped = {"at": NOW, "part": "rules[0].do[0]", "action": "complete", "reason": "not legal"}
    simulator = FakeSimulator(GET_SIM__scenarios__x=[Reply(200, {"skipped": [skipped]})])
    result = go("drive: [{get: /profile}]\nexpect: [{event: order.failed}]", simulator)
    text = result.readable()
    assert "GET /profile → 200 made" in text
    assert "rules[0].do[0] (complete): not legal" in text
    assert "FAILED  expect" in text
    suite = ElementTree.fromstring(junit(result.suite()))
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")
    assert suite.findall("testcase/failure")[0].get("message", "").startswith("order.failed was never emitted")


def test_junit_carries_no_characters_that_xml_cannot() -> None:
    result = RunResult("x", checks=[Check("a\x00b", "c\x01")])
    assert ElementTree.fromstring(junit(result.suite()))[0].get("name") == "a\N{REPLACEMENT CHARACTER}b"
    assert "Passed" in RunResult("x").readable()


def test_placeholders_keep_their_type_and_must_have_a_value() -> None:
    variables = {"a": {"n": 1, "l": [2]}}
    assert fill({"x": ["${a.n}", "n=${a.n}", 3, None]}, variables) == {"x": [1, "n=1", 3, None]}
    assert fill("${a.l.0}", variables) == 2
    with pytest.raises(NoValue):
        fill("${a.m}", variables)


def test_an_application_is_called_without_a_socket() -> None:
    seen: dict[str, Any] = {}

    async def app(scope: Any, receive: Any, gift: Any) -> None:
        seen.update(scope, body=(await receive())["body"])
        if scope["path"] == "/silent":
            return
        await gift({"type": "http.response.start", "status": 201, "headers": [(b"X-One", b"1")]})
        await gift({"type": "http.response.body", "body": b"" if scope["method"] == "GET" else b"{}"})

    client = AsgiClient(app)
    assert asyncio.run(client.request("POST", "/a?b=c", {"d": 1}, {"X-Two": "2"})) == Reply(
        201, {}, {"x-one": "1"}, b"{}"
    )
    assert (seen["path"], seen["query_string"], seen["body"]) == ("/a", b"b=c", b'{"d":1}')
    assert (b"x-two", b"2") in seen["headers"]
    assert asyncio.run(client.request("GET", "/a")).body is None
    with pytest.raises(ConnectionError):
        asyncio.run(client.request("GET", "/silent"))
