"""What a run found: read from the reports of schemathesis, shown to people."""

from __future__ import annotations

import base64
import json
import shlex
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sized
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from simulator.conformance.settings import PHASES, ConformanceSettings
from simulator.contract.files import contract_document, contract_file
from simulator.wire.json import Shown

ENOUGH_EXAMPLES = 10
"""With fewer examples a run may not come by the data that some operations need."""

SHOWN_CHARACTERS = 600

UNKNOWN_METHODS = "(methods that a path does not know)"


@dataclass(frozen=True)
class ContractFailure:
    """One answer that is not as the contract says; `curl` repeats the call with a token in $TOKEN."""

    operation: str
    check: str
    message: str
    status: int | None
    answer: str
    curl: str


@dataclass(frozen=True)
class ReportedWarning:
    """A warning of schemathesis; `explanation` is None when nothing accounts for it."""

    kind: str
    operations: tuple[str, ...]
    explanation: str | None


@dataclass
class ConformanceResult:
    """What was run and what came of it."""

    settings: ConformanceSettings
    seconds: float
    cases: int
    tested: int
    selected: int
    complete: bool
    failures: list[ContractFailure] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    warnings: list[ReportedWarning] = field(default_factory=list)
    answers: dict[str, Counter[str]] = field(default_factory=dict)
    """Per operation, how often each status came, with its code where it is an error: `422 amount_too_low`."""

    @property
    def passed(self) -> bool:
        return (
            self.complete
            and not self.failures
            and not self.errors
            and all(warned.explanation for warned in self.warnings)
        )

    def readable(self) -> str:
        """The report, as Markdown that reads well as it is."""
        settings = self.settings
        lines = [
            "# Conformance",
            "",
            f"{settings.base_url}, {settings.mode}, seed {settings.seed}, at most {settings.max_examples} examples, "
            f"phases {', '.join(settings.phases)}",
            "",
            f"{self.cases} calls to {self.tested} of {self.selected} operations in {self.seconds:.0f} s: "
            f"{_count(self.failures, 'failure')}, {_count(self.errors, 'error')}, {_count(self.warnings, 'warning')}",
        ]
        if not self.complete:
            lines += ["", "The run was cut short."]
        for failure in self.failures:
            lines += ["", f"## {failure.operation}: {failure.check}", "", failure.message, "", failure.curl]
            lines += [f"→ {failure.status} {failure.answer}" if failure.status else "→ no answer"]
        lines += [line for error in self.errors for line in ("", "## Error", "", error)]
        if self.warnings:
            lines += ["", "## Warnings"]
            for warned in self.warnings:
                lines += ["", f"{warned.kind}: {', '.join(warned.operations)}", warned.explanation or "UNEXPLAINED"]
        lines += ["", "## What came back"]
        for operation, answers in sorted(self.answers.items()):
            lines += ["", operation, *(f"  {count:>6}  {answer}" for answer, count in sorted(answers.items()))]
        lines += ["", "Conforms." if self.passed else "Does not conform."]
        return "\n".join(lines) + "\n"


def _count(rows: Sized, name: str) -> str:
    return f"{len(rows)} {name}{'' if len(rows) == 1 else 's'}"


def read_outcome(settings: ConformanceSettings, report: Shown, calls: Path) -> ConformanceResult:
    """Put together schemathesis' summary (JSON report) and its list of calls (NDJSON report)."""
    outcome = ConformanceResult(
        settings,
        seconds=report["running_time"],
        cases=report["test_cases"]["generated"],
        tested=report["operations"]["tested"],
        selected=report["operations"]["selected"],
        complete=bool(report["complete"]),
    )
    # A single operation need not lead to another, and then there is nothing for the stateful phase to do.
    lonely = "Missing Open API links" if settings.operations or settings.mode == "read-only" else None
    outcome.errors = [_error(error) for error in report["errors"] if error.get("title") != lonely]
    outcome.warnings = [
        ReportedWarning(kind, tuple(map(str, operations)), _explanation(settings, kind, operations))
        for kind, operations in report["warnings"].items()
        if operations
    ]
    answers: dict[str, Counter[str]] = defaultdict(Counter)
    known = set(operation_ids())
    seen: set[tuple[str, str, str]] = set()
    for operation, call, checks in _recorded(calls):
        answers[operation if operation in known else UNKNOWN_METHODS][_answer(call)] += 1
        for check in checks:
            if check["status"] != "failure":
                continue
            failure = _failure(operation, call, check, settings)
            key = (failure.operation, failure.check, failure.message)
            if key not in seen:
                seen.add(key)
                outcome.failures.append(failure)
    outcome.answers = dict(answers)
    return outcome


def _recorded(calls: Path) -> Iterator[tuple[str, Shown, list[Shown]]]:
    """Every call: its operation, what went there and back, the checks of it."""
    with calls.open(encoding="utf-8") as lines:
        for line in lines:
            if '"ScenarioFinished"' not in line[:40]:
                continue
            recorder = json.loads(line)["ScenarioFinished"].get("recorder") or {}
            for name, call in (recorder.get("interactions") or {}).items():
                case = recorder["cases"].get(name)
                if case is not None:
                    value = case["value"]
                    yield f"{value['method']} {value['path']}", call, recorder.get("checks", {}).get(name, [])


def _text(part: Shown | None, name: str) -> str:
    content = (part or {}).get(name)
    if isinstance(content, Mapping):
        return base64.b64decode(content.get("$base64", "")).decode(errors="replace")
    return "" if content is None else str(content)


def _answer(call: Shown) -> str:
    response = call.get("response")
    if not response:
        return "no answer"
    try:
        code = json.loads(_text(response, "content"))["error"]["code"]
    except (ValueError, KeyError, TypeError):
        return str(response["status_code"])
    return f"{response['status_code']} {code}"


def _failure(operation: str, call: Shown, check: Shown, settings: ConformanceSettings) -> ContractFailure:
    found = check["failure_info"]["failure"]
    response = call.get("response")
    return ContractFailure(
        operation,
        check["name"],
        f"{found['title']}. {found['message']}".strip(),
        response["status_code"] if response else None,
        _text(response, "content")[:SHOWN_CHARACTERS],
        _curl(call["request"]).replace(settings.secret_key, "***"),
    )


def _curl(request: Shown) -> str:
    parts = ["curl", "-i", "-X", request["method"]]
    for name, values in request["headers"].items():
        for value in values:
            if name.lower() == "authorization":
                parts += ["-H", "Authorization: Bearer $TOKEN"]
            elif name.lower() not in ("user-agent", "accept", "accept-encoding", "connection", "content-length"):
                parts += ["-H", f"{name}: {value}"]
    body = _text(request, "body")
    if body:
        parts += ["-d", body]
    quoted = [f'"{part}"' if "$TOKEN" in part else shlex.quote(part) for part in [*parts, request["uri"]]]
    return " ".join(quoted)


def _error(error: Any) -> str:
    if isinstance(error, Mapping):
        return ", ".join(f"{name}: {value}" for name, value in error.items() if value)
    return str(error)


def _explanation(settings: ConformanceSettings, kind: str, operations: list[Shown]) -> str | None:
    """Why a warning is no cause for concern; None when it is one."""
    if kind == "validation_mismatch" and set(operations) <= _depending_on_state():
        return (
            "What was sent fits the schema and was refused for what no schema says: limits, balances, states, what a "
            "quote asks for. schemathesis.toml gives the reason for each of these operations."
        )
    if kind == "missing_auth" and set(operations) <= {"POST /auth/token"}:
        return "Only made-up key pairs were sent here; all other calls carry a token of the real one."
    if kind == "missing_test_data":
        if settings.mode == "read-only":
            return "The account has nothing of this kind, and a read-only run makes nothing."
        if settings.max_examples < ENOUGH_EXAMPLES or settings.operations or settings.phases != PHASES:
            return "So short or narrow a run does not make what these operations need."
    if kind == "rate_limited":
        return "The server limits the rate of calls; each 429 was waited for."
    return None


def _depending_on_state() -> set[str]:
    """The operations of which schemathesis.toml says that they may refuse what fits the schema."""
    configured = {
        name
        for entry in tomllib.loads(contract_file("schemathesis.toml").decode())["operations"]
        for name in entry["include-operation-id"]
    }
    return {label for label, name in operation_ids().items() if name in configured}


def operation_ids() -> dict[str, str]:
    """The operationId of each operation, by its method and path."""
    return {
        f"{method.upper()} {path}": operation["operationId"]
        for path, item in contract_document()["paths"].items()
        for method, operation in item.items()
    }
