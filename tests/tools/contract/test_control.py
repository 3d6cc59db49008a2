"""The contract of the control interface, as a file and as served by a running simulator."""

from __future__ import annotations

import asyncio
from typing import Any

import jsonschema_rs
import orjson
import pytest

from simulator.contract.files import contract_file, operations_of
from simulator.contract.serving import CONTRACT_ROWS
from simulator.engine.clients.asynchronous import AsgiClient
from simulator.engine.server.config import Config
from simulator.host import Simulator, control_rows, create_app
from tests.contract_judge import ContractJudge
from tests.shipped import generated


@pytest.fixture(scope="module")
def control() -> dict[str, Any]:
    return generated("control.yaml")


@pytest.fixture(scope="module")
def control_judge(control: dict[str, Any]) -> ContractJudge:
    return ContractJudge({**control, "webhooks": {}})


def _ask_all(calls: list[tuple[str, str, Any]]) -> list[tuple[int, dict[str, str], bytes]]:
    async def go() -> list[tuple[int, dict[str, str], bytes]]:
        application = create_app(Config(clock="manual"))
        client = AsgiClient(application)
        replies = [await client.request(method, f"/_simulator{path}", body) for method, path, body in calls]
        await application.runtime.close()
        return [(reply.status, dict(reply.headers), reply.raw) for reply in replies]

    return asyncio.run(go())


def test_every_control_call_is_in_the_contract(control: dict[str, Any]) -> None:
    shown = {(method, path): operation["operationId"] for method, path, operation in operations_of(control)}
    rows = control_rows(CONTRACT_ROWS)
    assert shown == {(row.method, f"/_simulator{row.path}"): row.name for row in rows}


def test_every_control_call_can_refuse_unknown_names(control: dict[str, Any]) -> None:
    for method, path, operation in operations_of(control):
        assert "400" in operation["responses"], (method, path)


def test_every_action_has_a_body(control: dict[str, Any]) -> None:
    schemas = control["components"]["schemas"]
    for name, rows in Simulator().actions.rows.items():
        schema = schemas["".join(part.capitalize() for part in name.split("_")) + "Action"]
        assert schema["description"] == rows[0].does
    pays = jsonschema_rs.Draft202012Validator(schemas["PaymentArrivesAction"])
    assert pays.is_valid({"target": "txn_1", "amount": "5.00"})
    assert not pays.is_valid({"amount": "5.00"})
    assert not pays.is_valid({"target": "txn_1", "surprise": 1})


def test_real_control_responses_match_the_contract(control_judge: ContractJudge) -> None:
    calls: list[tuple[str, str, Any]] = [
        ("GET", "/health", None),
        ("POST", "/worlds", {"id": "other", "seed": 7}),
        ("POST", "/worlds", {"id": "other"}),
        ("GET", "/worlds", None),
        ("GET", "/worlds/nowhere", None),
        ("GET", "/clock", None),
        ("PUT", "/clock", {"now": "2026-01-05T09:00:00.000Z"}),
        ("POST", "/clock/advance", {"by": "1h"}),
        ("POST", "/clock/advance", {"until": {"event": "quote.expired"}}),
        ("POST", "/clock/advance", {}),
        ("GET", "/timers", None),
        ("GET", "/actions", None),
        ("POST", "/actions/set_kyc", {"status": "pending"}),
        ("POST", "/actions/emit", {"type": "deposit.confirmed"}),
        ("POST", "/actions/fly", {}),
        ("GET", "/resources?limit=2", None),
        ("GET", "/resources/nothing", None),
        ("GET", "/scenarios", None),
        ("GET", "/scenarios/autopilot", None),
        ("PUT", "/scenarios/active", {"names": []}),
        ("POST", "/scenarios", {"name": "x", "surprise": 1}),
        ("POST", "/faults", {"match": {"path": "/quotes"}, "respond": {"status": 503, "code": "service_unavailable"}}),
        ("POST", "/faults", {}),
        ("GET", "/faults", None),
        ("GET", "/requests", None),
        ("GET", "/events", None),
        ("GET", "/deliveries", None),
        ("GET", "/emails", None),
        ("POST", "/settle", None),
        ("GET", "/settings", None),
        ("PATCH", "/settings", {"strict": True}),
        ("GET", "/rates", None),
        ("GET", "/reference", None),
        ("GET", "/inbox/shop", None),
        ("PUT", "/inbox/shop", {"respond": [500, 200]}),
        ("POST", "/reset", None),
        ("DELETE", "/worlds/other", None),
    ]
    findings = []
    for (method, path, _), (status, headers, raw) in zip(calls, _ask_all(calls), strict=True):
        body = orjson.loads(raw) if raw else None
        findings += control_judge.answer(method, f"/_simulator{path}", status, headers, body)
    assert [str(finding) for finding in findings] == []


def test_the_contract_is_served() -> None:
    paths = ("/openapi.yaml", "/openapi.json", "/control.yaml", "/reference.html")
    types = ("application/yaml; charset=utf-8", "application/json", "application/yaml; charset=utf-8", "text/html")
    answers = _ask_all([("GET", path, None) for path in paths])
    for path, kind, (status, headers, raw) in zip(paths, types, answers, strict=True):
        assert status == 200
        assert headers["content-type"].startswith(kind)
        if not path.endswith(".html"):
            usual = contract_file(path.removeprefix("/"))
            assert raw == usual.replace(b"http://127.0.0.1:8642", b"http://127.0.0.1")
        else:
            assert raw.startswith(b"<!doctype html>")


@pytest.mark.parametrize(
    ("body", "fits"),
    [
        ({"by": "2h30m"}, True),
        ({"by": 1.5}, True),
        ({"to_next_timer": True}, True),
        ({"until": {"resource": "txn_1", "status": "completed"}}, True),
        ({"by": "1s", "to": "2026-01-05T09:00:00.000Z"}, False),
        ({"to_next_timer": False}, False),
        ({}, False),
    ],
)
def test_advance_has_exactly_one_target(body: Any, fits: bool, control_judge: ContractJudge) -> None:
    assert (control_judge.request("POST", "/_simulator/clock/advance", body) == []) is fits
