"""Every control call is made once, and its response matches `control.yaml` in every field."""

from __future__ import annotations

import asyncio
from typing import Any

import orjson
import pytest
from typing_extensions import is_typeddict

from simulator.contract.serving import CONTRACT_ROWS
from simulator.engine.clients.asynchronous import AsgiClient
from simulator.engine.control.operation import ControlOperation
from simulator.engine.server.app import Application
from simulator.engine.server.config import Config
from simulator.engine.server.http.router import Router
from simulator.host import control_rows, create_app
from tests.contract_judge import ContractJudge
from tests.fake_transport import FakeTransport
from tests.shipped import generated
from tests.support import CELO, KEYS, QUOTE

NOT_JSON = {
    "/recording",
    "/control.yaml",
    "/openapi.yaml",
    "/openapi.strict.yaml",
    "/openapi.specified.yaml",
    "/reference.html",
    "/coverage.html",
    "/metrics",
}
ENDLESS = {"stream"}
NEEDS_A_STORE = {"export_raw"}  # tests/service/durable/test_set_aside.py holds it against the contract


class Session:
    """Makes calls of a simulator in process and remembers what the control calls answered."""

    def __init__(self, application: Application, judge: ContractJudge) -> None:
        self._client = AsgiClient(application)
        self._judge = judge
        self._router: Router[ControlOperation] = Router(control_rows(CONTRACT_ROWS))
        self.succeeded: set[str] = set()
        self.findings: list[str] = []

    async def control(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        reply = await self._client.request(method, f"/_simulator{path}", body, named)
        bare = path.partition("?")[0]
        parsed = orjson.loads(reply.raw) if reply.raw and bare not in NOT_JSON else None
        if bare not in NOT_JSON:
            found = self._judge.answer(method, f"/_simulator{bare}", reply.status, dict(reply.headers), parsed)
            self.findings += [str(one) for one in found]
        rows, _ = self._router.find(bare) or ({}, {})
        if reply.status == rows[method].status:
            self.succeeded.add(rows[method].name)
        return parsed

    async def interface(self, method: str, path: str, body: Any = None, token: str = "") -> Any:
        headers = {"authorization": f"Bearer {token}"} if token else {}
        reply = await self._client.request(method, f"/v1{path}", body, headers)
        assert reply.status < 300, reply.body
        return reply.body


async def _onramp(session: Session) -> str:
    """An onramp waiting for its payer, made over the interface."""
    token = (await session.interface("POST", "/auth/token", KEYS))["access_token"]
    quote = (await session.interface("POST", "/quotes", QUOTE, token))["id"]
    payer = {
        "wallet_address": CELO,
        "payer": {"phone_number": "+254712345678"},
        "surprise": 1,
    }
    made = await session.interface("POST", f"/quotes/{quote}/confirm", payer, token)
    await session.interface("GET", "/transactions?page=1", None, token)
    return str(made["id"])


async def _act(session: Session) -> None:
    """Clock, actions, walks, stories."""
    call = session.control
    onramp = await _onramp(session)
    await call("GET", f"/resources/{onramp}")  # planned: a step of a scenario, and a law
    await call("POST", "/clock/advance", {"until": {"resource": onramp, "status": "processing"}})
    await call("POST", "/actions/complete", {"target": onramp})
    await call("GET", f"/resources/{onramp}")  # moved by a rule and by a control call
    for event in ("transaction.refunded", "quote.expired", "recurring_payment.run_failed", "deposit.confirmed"):
        walked = await call("POST", "/trigger", {"event": event})
        await call("GET", f"/resources/{walked['target']}")
    await call("POST", "/trigger", {"event": "transaction.completed", "target": onramp})
    await call("POST", "/trigger", {"event": "no.such_event"})
    await call("POST", "/seed", {"days": 1, "per_day": 2})
    await call("GET", "/resources?limit=5")
    await call("GET", "/actions")
    await call("PUT", "/clock", {"mode": "manual"})
    await call("GET", "/clock")
    await call("GET", "/timers")


async def _see(session: Session) -> None:
    call = session.control
    await call("POST", "/settle")
    events = (await call("GET", "/events"))["data"]
    await call("GET", "/events/wait?type=transaction.completed&timeout=1")
    await call("GET", "/events/wait?type=transaction.disputed&timeout=0")
    await call("GET", f"/events/{events[0]['id']}")
    await call("POST", f"/events/{events[0]['id']}/resend")
    await call("POST", "/inbox/shop/subscribe", {"events": ["*"]})
    await call("POST", f"/events/{events[0]['id']}/resend", {"deliver": {"copies": 2}})
    attempts = (await call("GET", "/deliveries?event_type=" + events[0]["type"]))["data"]
    await call("GET", f"/deliveries/{attempts[0]['id']}")
    for path in (
        "/requests",
        "/deliveries",
        "/emails",
        "/advice",
        "/controls",
        "/recording",
        "/rates",
        "/rates/history?asset=USDC",
        "/reference",
        "/ledger",
        "/timeline",
        "/usage",
        "/ready",
        "/metrics",
    ):
        await call("GET", path)
    assert (await call("GET", "/advice"))["data"], "no finding was looked at"
    requests = (await call("GET", "/requests"))["data"]
    await call("GET", f"/requests/{requests[-1]['id']}")
    assert (await call("GET", "/search?q=254712345678"))["data"], "nothing was found"
    await call("GET", "/states")
    await call("GET", "/advice?severity=nonsense")
    for path in ("/coverage", "/coverage?world=*", "/coverage.html", "/health"):
        await call("GET", path)
    for path in (
        "/openapi.yaml",
        "/openapi.strict.yaml",
        "/openapi.specified.yaml",
        "/openapi.json",
        "/webhook-vectors.json",
        "/control.yaml",
        "/control.json",
        "/reference.html",
    ):
        await call("GET", path)


async def _steer(session: Session) -> None:
    """Scenarios, faults, settings, the inbox."""
    call = session.control
    await call("GET", "/scenarios")
    await call("GET", "/scenarios/autopilot")
    await call("GET", "/scenarios/test-values")
    await call("POST", "/scenarios", {"name": "calm"})
    await call("POST", "/scenarios", {"name": "calm", "surprise": 1})
    await call("PUT", "/scenarios/active", {"names": ["calm"]})
    await _call_off(session)
    respond = {"status": 503, "code": "service_unavailable"}
    fault = await call("POST", "/faults", {"match": {"path": "/quotes"}, "respond": respond, "delay": "1s", "times": 2})
    await call("POST", "/faults", {"match": {}, "malformed": "truncate", "after_commit": True, "probability": 0.5})
    await call("POST", "/faults", {"webhook": {"event": "quote.expired"}, "deliver": {"copies": 2}})
    await call("POST", "/faults", {"preset": "webhook-forged", "times": 1})
    await call("GET", "/faults/presets")
    await call("GET", "/faults")
    await call("DELETE", f"/faults/{fault['id']}")
    await call("DELETE", "/faults")
    await call("GET", "/settings")
    await call("PATCH", "/settings", {"strict": True, "assumptions": {"H14": "lapses_after_1h"}})
    await call("GET", "/assumptions")
    await call("POST", "/inbox/shop", {"any": "thing"})
    await call("GET", "/inbox/shop")
    await call("GET", "/inbox")
    await call("GET", "/inbox/shop/wait?count=1&timeout=1")
    await call("GET", "/inbox/shop/wait?count=9&timeout=0")
    await call("PUT", "/inbox/shop", {"respond": [500, 200]})
    await call("DELETE", "/inbox/shop")


async def _call_off(session: Session) -> None:
    """Weather that changes for ever, an advance that waits for its end, and the end of that advance."""
    turns = [
        {
            "on": "network.status_changed",
            "where": {"status": was},
            "do": [{"after": "1m", "action": "set_network", "network": "celo", "status": becomes}],
        }
        for was, becomes in (("down", "operational"), ("operational", "down"))
    ]
    await session.control("POST", "/scenarios", {"name": "tide", "rules": turns})
    await session.control("PUT", "/scenarios/active", {"names": ["tide"]})
    await session.control("POST", "/actions/set_network", {"network": "celo", "status": "down"})
    advancing = asyncio.create_task(session.control("POST", "/clock/advance", {"until": {"event": "kyc.rejected"}}))
    await asyncio.sleep(0)
    await session.control("GET", "/clock")
    await session.control("DELETE", "/clock/advance")
    assert (await advancing)["error"]["code"] == "advance_cancelled"
    await session.control("PUT", "/scenarios/active", {"names": ["calm"]})


async def _keep(session: Session) -> None:
    """Worlds, snapshots, forks, documents."""
    call = session.control
    snapshot = await call("POST", "/snapshots", {"name": "before"})
    await call("GET", "/snapshots")
    await call("GET", f"/snapshots/{snapshot['id']}")
    await call("POST", f"/snapshots/{snapshot['id']}/restore")
    await call("POST", "/worlds", {"id": "fork", "from_snapshot": snapshot["id"]})
    await call("POST", "/worlds", {"id": "fork"})
    await call("POST", "/worlds", {"from_snapshot": "nothing"})
    await call("GET", "/worlds")
    await call("GET", "/worlds/fork")
    await call("PUT", "/state", await call("GET", "/state"))
    await call("PUT", "/state", {"format": "something else"})
    await call("DELETE", f"/snapshots/{snapshot['id']}")
    await call("POST", "/prune", {"idle": "7d", "dry_run": True})
    await call("POST", "/prune", {"idle": "soon"})
    await call("DELETE", "/worlds/fork")
    await call("POST", "/reset")


@pytest.fixture(scope="module")
def control() -> dict[str, Any]:
    return generated("control.yaml")


@pytest.fixture(scope="module")
def session(control: dict[str, Any]) -> Session:
    async def go() -> Session:
        application = create_app(Config(clock="manual"), transport=FakeTransport())
        made = Session(application, ContractJudge({**control, "webhooks": {}}))
        for part in (_act, _see, _steer, _keep):
            await part(made)
        await application.runtime.close()
        return made

    return asyncio.run(go())


def test_every_control_call_succeeded_once(session: Session) -> None:
    assert {row.name for row in control_rows(CONTRACT_ROWS)} - ENDLESS - NEEDS_A_STORE - session.succeeded == set()


def test_every_response_matches_the_contract(session: Session) -> None:
    assert session.findings == []


def test_exactly_the_json_calls_have_a_shape() -> None:
    for row in control_rows():
        if row.status == 204:
            assert row.answer is None, row.name
        elif row.media_type == "application/json":
            assert is_typeddict(row.answer), row.name
        else:
            assert row.answer is str, row.name


def test_only_a_few_responses_allow_undeclared_fields(control: dict[str, Any]) -> None:
    schemas = control["components"]["schemas"]
    open_ones = {"ShownResource", "ScenarioProgress", "LogEntry", "FailedStep", "StopEntry", "ReferenceCurrency"}
    assert all("additionalProperties" not in schemas[name] for name in open_ones)
    for name in ("ResourceStory", "Cause", "StoryTimer", "TriggerAnswer", "CoverageReport", "Finding", "FaultEntry"):
        assert schemas[name]["additionalProperties"] is False, name


def test_stream_and_recording_are_not_json(control: dict[str, Any]) -> None:
    expected = {"/stream": "text/event-stream", "/recording": "application/yaml", "/coverage.html": "text/html"}
    for path, media_type in expected.items():
        answer = control["paths"][f"/_simulator{path}"]["get"]["responses"]["200"]
        assert list(answer["content"]) == [media_type]
