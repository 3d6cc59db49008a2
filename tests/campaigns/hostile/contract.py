"""Checks of a response against the contract, which applies to odd calls as to any other."""

from __future__ import annotations

from functools import cache
from typing import Any
from urllib.parse import quote

import orjson

from simulator.contract.files import contracts_directory, read_document, strict_document
from tests.contract_judge import ContractJudge, Finding

CONTROL = "/_simulator"
BASES = ("/production/v1", "/v1")


@cache
def judges() -> tuple[ContractJudge, ContractJudge]:
    """Of the interface, of the control interface."""
    control = read_document(contracts_directory() / "control.yaml")
    return ContractJudge(strict_document()), ContractJudge(control)


def answer_findings(method: str, path: str, status: int, headers: Any, body: Any) -> list[Finding]:
    """Return the problems of a JSON response. Calls that are not in the contract are not judged."""
    path = quote(path, safe="/")
    if path.endswith("/") or "//" in path:
        return []  # the judge is more generous with slashes than the server
    interface, control = judges()
    base = next((base for base in BASES if path.startswith(f"{base}/")), "")
    judge, path = (control, path) if path.startswith(f"{CONTROL}/") else (interface, path.removeprefix(base))
    if (judge is interface and not base) or method not in ("GET", "POST", "PUT", "PATCH", "DELETE"):
        return []
    if judge.find(method, path) is None or (judge is control and status == 405):
        return []
    return judge.answer(method, path, status, headers, body)


def event_findings(raw: bytes) -> list[Finding]:
    return judges()[0].event(orjson.loads(raw))
