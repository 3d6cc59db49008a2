"""Results of schemathesis, read from its reports and added to the report of the run."""

from __future__ import annotations

import base64
import json
import tomllib
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from simulator.conformance.bench import finding
from simulator.conformance.laws import Rulebook, observe
from simulator.conformance.report import Report
from simulator.conformance.rules import Rule
from simulator.conformance.service import Answer, Sent, parsed
from simulator.conformance.settings import PHASES, ConformanceSettings
from simulator.conformance.shapes import TITLES, ShapeJudge, judge_shape
from simulator.contract.files import contract_file, operation_ids
from simulator.engine.text.json import Shown
from simulator.service import TOKEN_EXCHANGE

ENOUGH_EXAMPLES = 10
"""The number of examples below which a run may not create the data that some operations need."""

UNKNOWN_METHODS = "(unknown methods)"


_promise, _guess = partial(Rule, promise=True), partial(Rule, promise=False)

CHECKS = {
    "not_a_server_error": _promise("answer.server_error", "No request causes an internal error.", "Errors"),
    "negative_data_rejection": _promise("request.invalid_accepted", "An invalid request is refused.", "Errors"),
    "positive_data_acceptance": _promise("request.valid_refused", "A valid request is accepted.", "Endpoints"),
    "missing_required_header": _promise("request.header_missing", "A missing header is refused.", "Endpoints"),
    "unsupported_method": _guess("request.method", "An unknown method returns 405.", "H3"),
    "allow_header_conformance": _guess("request.allow", "405 lists the allowed methods.", "H3"),
    "ignored_auth": _promise("auth.required", "A call without a valid token is refused.", "Endpoints: common rules"),
    "use_after_free": _promise("delete.gone", "A deleted resource is not found.", "Endpoints: DELETE"),
    "ensure_resource_availability": _promise("get.after_create", "A new resource can be read.", "Endpoints"),
}
"""The rules that correspond to the checks in schemathesis."""

ASSUMED_INVALID = _guess(
    "request.assumed_invalid_accepted", "An invalid request is refused (assumed).", "assumptions.md"
)
"""The rule for requests that violate only assumed constraints."""


def read_outcome(report: Report, summary: Shown, calls: Path, shapes: ShapeJudge, rulebook: Rulebook) -> None:
    """Add schemathesis' summary (JSON report) and its list of calls (NDJSON report) to the report."""
    settings, tally = report.settings, report.tally
    if not summary["complete"]:
        report.troubles.append("schemathesis did not finish")
    # The stateful phase does nothing if none of the selected operations links to another.
    lonely = "Missing Open API links" if settings.operations or settings.mode == "read-only" else None
    report.troubles += [_error(error) for error in summary["errors"] if error.get("title") != lonely]
    for kind, operations in summary["warnings"].items():
        if operations:
            explanation = _explanation(settings, kind, operations, rulebook)
            why = explanation or "This warning has no known explanation."
            words = f"{kind}: {', '.join(map(str, operations))}\n{why}"
            (report.notes if explanation else report.troubles).append(words)
    tally.assumed = rulebook.assumed
    known = set(operation_ids())
    tally.knows([*CHECKS.values(), ASSUMED_INVALID])
    for operation, call, checks, at in _recorded(calls):
        answer = _answer_of(operation, call)
        report.calls += 1
        counted = operation if operation in known else UNKNOWN_METHODS
        report.answers[counted][answer.short if answer else "no response"] += 1
        if answer is None:
            continue
        judge_shape(tally, shapes, answer)
        observe(rulebook.always, tally, answer)
        for check in checks:
            rule = CHECKS.get(check["name"]) or _promise(f"check.{check['name']}", check["name"], "")
            if check["status"] != "failure":
                tally.kept(rule)
                continue
            failure = check["failure_info"]["failure"]
            words = f"{failure['title']}. {failure['message']}".strip()
            basis = rule.basis
            if check["name"] == "negative_data_rejection":
                promise, basis = shapes.request_mark(operation, *at)
                rule = rule if promise else ASSUMED_INVALID
            found = finding(rule, answer, ".".join(filter(None, at)), words)
            found.basis = basis or rule.basis
            tally.breaks(rule, found)


CONTROL_CLAUSE = "contracts/control.yaml"


def read_control(report: Report, calls: Path, shapes: ShapeJudge) -> None:
    """Add findings to the report for invalid shapes and internal errors in schemathesis' calls to the control API."""
    failing = _promise("control.server_error", "No control call causes an internal error.", CONTROL_CLAUSE)
    rules = {word: _promise(f"control.{word}", title, CONTROL_CLAUSE) for word, title in TITLES.items()}
    report.tally.knows([failing, *rules.values()])
    for operation, call, *_ in _recorded(calls):
        answer = _answer_of(operation, call)
        if answer is None:
            continue
        report.calls += 1
        if answer.status >= 500:
            report.tally.breaks(failing, finding(failing, answer, "status", f"returns {answer.short}"))
        else:
            report.tally.kept(failing)
        for rule in rules.values():
            report.tally.kept(rule)
        for fault in shapes.faults(answer.operation, answer.status, answer.headers, answer.raw):
            rule = rules.get(fault.word) or rules["variant"]
            report.tally.breaks(rule, finding(rule, answer, fault.place, fault.message))


def _recorded(calls: Path) -> Iterator[tuple[str, Shown, list[Shown], tuple[str, str]]]:
    """Yield recorded calls: operation, exchange, checks, and location and name of the invalid part, if known."""
    with calls.open(encoding="utf-8") as lines:
        for line in lines:
            if '"ScenarioFinished"' not in line[:40]:
                continue
            recorder = json.loads(line)["ScenarioFinished"].get("recorder") or {}
            for name, call in (recorder.get("interactions") or {}).items():
                case = recorder["cases"].get(name)
                if case is not None:
                    value = case["value"]
                    made = ((value.get("meta") or {}).get("phase") or {}).get("data") or {}
                    at = (made.get("parameter_location") or "", made.get("parameter") or "")
                    yield f"{value['method']} {value['path']}", call, recorder.get("checks", {}).get(name, []), at


def _answer_of(operation: str, call: Shown) -> Answer | None:
    """Return the response to a recorded call, or None if there was no response."""
    response = call.get("response")
    if not response:
        return None
    request = call["request"]
    headers = {
        name.title(): str(values[0])
        for name, values in request["headers"].items()
        if name.lower() not in ("user-agent", "accept", "accept-encoding", "connection", "content-length") and values
    }
    body = _text(request, "body")
    sent = Sent(f"{request['method']} {operation.partition(' ')[2]}", request["uri"], headers, body.encode() or None)
    answered = {name.lower(): str(values[0]) for name, values in (response.get("headers") or {}).items() if values}
    raw = _text(response, "content").encode()
    return Answer(sent, int(response["status_code"]), answered, raw, parsed(raw))


def _text(part: Shown | None, name: str) -> str:
    content = (part or {}).get(name)
    if isinstance(content, Mapping):
        return base64.b64decode(content.get("$base64", "")).decode(errors="replace")
    return "" if content is None else str(content)


def _error(error: Any) -> str:
    if not isinstance(error, Mapping):
        return str(error)
    return ", ".join(f"{name}: {value}" for name, value in error.items() if value)


def _explanation(settings: ConformanceSettings, kind: str, operations: list[Shown], rulebook: Rulebook) -> str | None:
    """Return the reason why a warning of schemathesis can be ignored, or None if there is none."""
    if kind == "validation_mismatch" and set(operations) <= _depending_on_state():
        return (
            f"Valid requests were refused for reasons that no schema expresses: {rulebook.beyond_schemas}. "
            "schemathesis.toml gives the reason for each of these operations."
        )
    if kind == "missing_auth" and set(operations) <= {TOKEN_EXCHANGE.operation}:
        return "Only invented key pairs were sent here. All other calls have a token of the real pair."
    if kind == "missing_test_data":
        if settings.plays_laws:
            return "The report lists the operations that were never reached in the whole run."
        if settings.mode == "read-only":
            return "The account has no such resource, and a read-only run creates none."
        if settings.max_examples < ENOUGH_EXAMPLES or settings.operations or settings.phases != PHASES:
            return "Such a short or narrow run does not create the data that these operations need."
    if kind == "rate_limited":
        return "The server limits the rate of calls. The run waited after each 429."
    return None


def _depending_on_state() -> set[str]:
    """Return the operations that may refuse valid requests, as listed in schemathesis.toml."""
    entries = tomllib.loads(contract_file("schemathesis.toml").decode())["operations"]
    configured = {name for entry in entries for name in entry["include-operation-id"]}
    return {label for label, name in operation_ids().items() if name in configured}
