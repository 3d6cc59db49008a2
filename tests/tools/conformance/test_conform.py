"""`rampsim conform`: the simulator passes. Another contract or server fails, and the reports say why."""

from __future__ import annotations

import copy
import json
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest
from click.testing import CliRunner, Result

from simulator.cli import main
from simulator.conformance import fuzzing
from simulator.contract.files import strict_document

Break = Callable[[dict[str, Any]], None]

KEYS = ("--public-key", "pk_test_simulator", "--secret-key", "sk_test_simulator")


def conform(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["conform", *arguments], catch_exceptions=False)


def control(origin: str, method: str, path: str, body: Any = None) -> Any:
    data = None if body is None else json.dumps(body).encode()
    request = Request(
        f"{origin}/_simulator/{path}", data, {"Content-Type": "application/json"} if data else {}, method=method
    )
    with urlopen(request) as response:
        raw = response.read()
    return json.loads(raw) if raw else None


@pytest.mark.farm
def test_a_short_run_passes_and_writes_reports(tmp_path: Path) -> None:
    junit, report = tmp_path / "junit.xml", tmp_path / "report.md"
    result = conform(
        "--max-examples", "2", "--phase", "examples", "--phase", "fuzzing",
        "--operation", "create_quote", "--operation", "get_profile",
        "--junit", str(junit), "--report", str(report),
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    assert report.read_text() == result.output
    assert "| promises (specified rules) |" in result.output
    assert result.output.endswith("Conforms.\n")
    names = {case.get("name") for case in ElementTree.parse(junit).iter("testcase")}
    assert "POST /quotes" in names
    assert "sk_test_simulator" not in junit.read_text() + result.output


@pytest.mark.farm
def test_the_control_interface_matches_its_contract(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only one phase; `make conform` runs all."""
    monkeypatch.setattr(fuzzing, "CONTROL_PHASES", ("examples",))
    result = conform("--only", "control")
    assert result.exit_code == 0, result.output
    assert (
        "Operations of the control interface that were not called: stream, because the call does not end"
        in result.output
    )


@pytest.mark.farm
def test_the_laws_hold_on_the_simulator_and_reach_every_operation(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    result = conform("--only", "behaviour", "--strict", "--json", str(path))
    assert result.exit_code == 0, result.output
    report = json.loads(path.read_text())
    assert report["passed"] is True
    assert report["floor"]["unreached"] == report["promises"]["broken"] == report["guesses"]["differ"] == []
    assert report["unjudged"] == []
    assert len([rule for rule in report["rules"] if rule["judged"]]) >= 200
    assert all(rule["basis"] and rule["title"].endswith(".") for rule in report["rules"])


@pytest.mark.farm
def test_the_same_seed_sends_the_same_calls() -> None:
    arguments = ("--max-examples", "5", "--phase", "fuzzing", "--operation", "create_webhook", "--seed", "7")
    first, second = conform(*arguments), conform(*arguments)
    kept = [result.output.partition("## Responses")[2] for result in (first, second)]
    assert kept[0] == kept[1]
    assert "POST /webhooks" in kept[0]


@pytest.mark.farm
def test_a_read_only_run_creates_only_tokens(origin: str) -> None:
    control(origin, "POST", "reset")
    result = conform("--target", f"{origin}/v1", *KEYS, "--max-examples", "2")
    assert result.exit_code == 1, result.output
    assert "read-only" in result.output
    assert "- GET /quotes/{id}: it returned 404 quote_not_found" in result.output
    assert "; a run that only reads needs an account with such a resource" in result.output
    calls = {(row["method"], row["path"]) for row in control(origin, "GET", "requests")["data"]}
    assert len(calls) > 20
    assert {method for method, _ in calls} == {"GET", "POST"}
    assert {path for method, path in calls if method == "POST"} == {"/v1/auth/token"}
    assert control(origin, "GET", "events")["data"] == []


def _answer(document: dict[str, Any]) -> dict[str, Any]:
    """Return the mutable response schema of GET /profile."""
    schema = document["paths"]["/profile"]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
    found: dict[str, Any] = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    return found


def _remove_a_field(document: dict[str, Any]) -> None:
    del _answer(document)["properties"]["first_name"]
    _answer(document)["required"].remove("first_name")


def _demand_a_field(document: dict[str, Any]) -> None:
    _answer(document)["required"].append("nickname")


def _change_a_type(document: dict[str, Any]) -> None:
    _answer(document)["properties"]["last_name"] = {"type": "integer"}


def _undeclare_a_status(document: dict[str, Any]) -> None:
    del document["paths"]["/profile"]["get"]["responses"]["401"]


def _change_a_content_type(document: dict[str, Any]) -> None:
    content = document["paths"]["/profile/limits"]["get"]["responses"]["200"]["content"]
    content["application/xml"] = content.pop("application/json")


def _demand_an_answer_header(document: dict[str, Any]) -> None:
    document["paths"]["/profile"]["get"]["responses"]["200"]["headers"]["X-Page"] = {
        "required": True,
        "schema": {"type": "string"},
    }


def _demand_a_request_header(document: dict[str, Any]) -> None:
    document["paths"]["/profile"]["get"]["parameters"] = [
        {"name": "X-Version", "in": "header", "required": True, "schema": {"type": "string", "enum": ["1"]}}
    ]


def _forget_a_method(document: dict[str, Any]) -> None:
    del document["paths"]["/profile"]["patch"]


def _protect_what_is_open(document: dict[str, Any]) -> None:
    del document["paths"]["/auth/token"]["post"]["security"]


def _narrow_a_query(document: dict[str, Any]) -> None:
    for parameter in document["paths"]["/webhooks"]["get"]["parameters"]:
        if parameter["name"] == "size":
            parameter["schema"]["maximum"] = 50


def _widen_a_query(document: dict[str, Any]) -> None:
    for parameter in document["paths"]["/wallets"]["get"]["parameters"]:
        if parameter["name"] == "sort_order":
            parameter["schema"] = {"type": "string", "enum": ["sideways"]}
    # Of the operation that there is, schemathesis.toml allows refusals.
    document["paths"]["/wallets"]["get"]["operationId"] = "list_wallets_strictly"


OTHERWISE: list[tuple[Break, str, str]] = [
    (_remove_a_field, "GET /profile", "shape.assumed_closed"),
    (_demand_a_field, "GET /profile", "shape.required"),
    (_change_a_type, "GET /profile", "shape.type"),
    (_undeclare_a_status, "GET /profile", "shape.status"),
    (_change_a_content_type, "GET /profile/limits", "shape.content_type"),
    (_demand_an_answer_header, "GET /profile", "shape.header"),
    (_demand_a_request_header, "GET /profile", "request.header_missing"),
    (_forget_a_method, "PATCH /profile", "request.method"),
    (_forget_a_method, "OPTIONS /profile", "request.allow"),
    (_protect_what_is_open, "POST /auth/token", "auth.required"),
    (_narrow_a_query, "GET /webhooks", "request.invalid_accepted"),
    (_widen_a_query, "GET /wallets", "request.valid_refused"),
]
"""Changes of a contract, each with its operation and the rule that finds it."""


@pytest.fixture(scope="module")
def otherwise(origin: str, tmp_path_factory: pytest.TempPathFactory) -> tuple[Result, set[tuple[str, str]]]:
    """Run once with all changes. Return the result, and the rules and operations of its findings."""
    document = copy.deepcopy(strict_document())
    for broken in dict.fromkeys(broken for broken, _, _ in OTHERWISE):
        broken(document)
    path = tmp_path_factory.mktemp("otherwise") / "openapi.json"
    path.write_text(json.dumps(document))
    names = ("get_profile", "get_limits", "create_token", "list_webhooks", "list_wallets_strictly")
    chosen = [word for name in names for word in ("--operation", name)]
    report = path.with_name("report.json")
    result = conform(
        "--target", f"{origin}/v1", *KEYS, "--mode", "full", "--contract", str(path), *chosen,
        "--max-examples", "5", "--phase", "coverage", "--phase", "fuzzing", "--strict", "--json", str(report),
    )  # fmt: skip
    said = json.loads(report.read_text())
    rows = [*said["promises"]["broken"], *said["guesses"]["differ"]]
    return result, {(row["rule"], row["operation"]) for row in rows}


@pytest.mark.farm
@pytest.mark.xdist_group("a contract that says otherwise")
def test_a_changed_contract_fails(otherwise: tuple[Result, set[tuple[str, str]]]) -> None:
    result, _ = otherwise
    assert result.exit_code == 1, result.output
    assert "curl -sS -i" in result.output
    assert "Does not conform: " in result.output


@pytest.mark.farm
@pytest.mark.xdist_group("a contract that says otherwise")
@pytest.mark.parametrize(
    ("broken", "operation", "check"), OTHERWISE, ids=lambda value: getattr(value, "__name__", value)
)
def test_each_change_of_a_contract_is_found(
    broken: Break, operation: str, check: str, otherwise: tuple[Result, set[tuple[str, str]]]
) -> None:
    _, found = otherwise
    assert (check, operation) in found


@pytest.mark.farm
def test_a_server_error_fails(origin: str) -> None:
    fault = {"match": {"path": "/profile"}, "respond": {"status": 500, "code": "internal_error"}}
    control(origin, "POST", "faults", fault)
    try:
        result = conform(
            "--target", f"{origin}/v1", *KEYS, "--operation", "get_profile", "--phase", "fuzzing"
        )  # fmt: skip
    finally:
        control(origin, "DELETE", "faults")
    assert result.exit_code == 1, result.output
    assert "### answer.server_error: GET /profile" in result.output
    assert "→ 500" in result.output


@pytest.mark.farm
def test_a_429_is_retried(origin: str) -> None:
    fault = {
        "match": {"path": "/profile"},
        "respond": {"status": 429, "code": "rate_limited", "retry_after": 1},
        "times": 1,
    }
    control(origin, "POST", "faults", fault)
    result = conform("--target", f"{origin}/v1", *KEYS, "--operation", "get_profile", "--phase", "fuzzing")
    assert result.exit_code == 0, result.output
    assert "200" in result.output


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("--target", "http://127.0.0.1:9/v1"), 2, "needs a key pair"),
        (("--target", "nowhere", *KEYS), 2, "not an http or https URL"),
        (("--target", "http://127.0.0.1:9/v1", *KEYS), 3, "no server responds"),
        (("--target", "http://127.0.0.1:port/v1", *KEYS), 2, "not an http or https URL"),
        (("--max-examples", "0"), 2, "--max-examples"),
        (("--json", "nowhere/report.json"), 2, "the directory does not exist"),
        (("--only", "behaviour", "--operation", "create_quote"), 2, "does not run schemathesis"),
        (("--only", "control", "--phase", "fuzzing"), 2, "cannot be combined"),
        (("--only", "behaviour", "--contract", __file__), 2, "neither YAML nor JSON"),
    ],
)
def test_an_impossible_run_exits_with_the_documented_code(arguments: tuple[str, ...], code: int, words: str) -> None:
    result = conform(*arguments)
    assert result.exit_code == code
    assert words in result.output


def test_an_invalid_key_pair_is_refused(origin: str) -> None:
    result = conform("--target", f"{origin}/v1", "--public-key", "pk_test_other", "--secret-key", "sk_test_other")
    assert result.exit_code == 1
    assert "returns 401 for the key pair" in result.output


def test_an_unknown_operation_is_wrong_usage(origin: str) -> None:
    result = conform("--target", f"{origin}/v1", *KEYS, "--operation", "nothing")
    assert result.exit_code == 2
