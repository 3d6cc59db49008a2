"""Redocly and Spectral report nothing for the contract, not even a warning, and do report defects in broken copies."""

from __future__ import annotations

import copy
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

from tests.tools.judges import tools
from tests.tools.judges.conftest import Broken

DOCUMENTS = [
    tools.CONTRACTS / name for name in ("openapi.yaml", "openapi.strict.yaml", "openapi.specified.yaml", "control.yaml")
]


def redocly(*paths: Path) -> CompletedProcess[str]:
    return tools.run(tools.tool("redocly"), "lint", "--config", tools.HERE / "redocly.yaml", "--format=stylish", *paths)


def spectral(*paths: Path) -> CompletedProcess[str]:
    rules = tools.HERE / "spectral.yaml"
    return tools.run(tools.tool("spectral"), "lint", "--ruleset", rules, "--fail-severity=warn", *paths)


def test_redocly_finds_nothing() -> None:
    done = redocly(*DOCUMENTS)
    assert done.returncode == 0, done.stdout
    assert "warning" not in done.stdout, done.stdout
    assert done.stdout.count("validated in") == len(DOCUMENTS), done.stdout


def test_spectral_finds_nothing() -> None:
    done = spectral(*DOCUMENTS)
    assert done.returncode == 0, done.stdout
    assert "No results with a severity of 'warn' or higher found" in done.stdout


def profile_alone(document: dict[str, Any]) -> dict[str, Any]:
    """The one operation of a document that is broken: a linter that judges the others too finds nothing more."""
    operation: dict[str, Any] = document["paths"]["/profile"]["get"]
    document["paths"] = {"/profile": {"get": operation}}
    return operation


def lead_nowhere(document: dict[str, Any]) -> None:
    schema = {"$ref": "#/components/schemas/NoSuchShape"}
    profile_alone(document)["responses"]["200"]["content"]["application/json"]["schema"] = schema


def test_redocly_fails_a_contract_with_a_reference_that_leads_nowhere(broken: Broken) -> None:
    done = redocly(broken(lead_nowhere))
    assert done.returncode == 1
    assert "no-unresolved-refs" in done.stdout


def take_an_identifier_twice_and_spoil_an_example(document: dict[str, Any]) -> None:
    operation = profile_alone(document)
    document["paths"]["/profile"]["put"] = copy.deepcopy(operation)
    media = operation["responses"]["200"]["content"]["application/json"]
    next(iter(media["examples"].values()))["value"]["two_factor_enabled"] = "perhaps"


def test_spectral_fails_two_operations_of_one_name_and_an_example_that_its_schema_does_not_allow(
    broken: Broken,
) -> None:
    done = spectral(broken(take_an_identifier_twice_and_spoil_an_example))
    assert done.returncode == 1
    assert "operation-operationId-unique" in done.stdout
    assert "oas3-valid-media-example" in done.stdout
