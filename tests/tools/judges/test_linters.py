"""Redocly and Spectral find nothing in the contract, not even a warning, and do find what is broken."""

from __future__ import annotations

from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from tests.tools.judges import tools
from tests.tools.judges.conftest import Broken

DOCUMENTS = ("openapi.yaml", "openapi.strict.yaml", "openapi.specified.yaml", "control.yaml")


def redocly(path: Path) -> CompletedProcess[str]:
    return tools.run(tools.tool("redocly"), "lint", "--config", tools.HERE / "redocly.yaml", "--format=stylish", path)


def spectral(path: Path) -> CompletedProcess[str]:
    rules = tools.HERE / "spectral.yaml"
    return tools.run(tools.tool("spectral"), "lint", "--ruleset", rules, "--fail-severity=warn", path)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_redocly_finds_nothing(name: str) -> None:
    done = redocly(tools.CONTRACTS / name)
    assert done.returncode == 0, done.stdout
    assert "warning" not in done.stdout, done.stdout
    assert "validated in" in done.stdout


@pytest.mark.parametrize("name", DOCUMENTS)
def test_spectral_finds_nothing(name: str) -> None:
    done = spectral(tools.CONTRACTS / name)
    assert done.returncode == 0, done.stdout
    assert "No results with a severity of 'warn' or higher found" in done.stdout


def lead_nowhere(document: dict[str, Any]) -> None:
    schema = {"$ref": "#/components/schemas/NoSuchShape"}
    document["paths"]["/profile"]["get"]["responses"]["200"]["content"]["application/json"]["schema"] = schema


def test_redocly_fails_a_contract_with_a_reference_that_leads_nowhere(broken: Broken) -> None:
    done = redocly(broken(lead_nowhere))
    assert done.returncode == 1
    assert "no-unresolved-refs" in done.stdout


def take_an_identifier_twice(document: dict[str, Any]) -> None:
    document["paths"]["/profile"]["get"]["operationId"] = "list_webhooks"


def test_spectral_fails_a_contract_with_two_operations_of_one_name(broken: Broken) -> None:
    done = spectral(broken(take_an_identifier_twice))
    assert done.returncode == 1
    assert "operation-operationId-unique" in done.stdout


def spoil_an_example(document: dict[str, Any]) -> None:
    media = document["paths"]["/profile"]["get"]["responses"]["200"]["content"]["application/json"]
    next(iter(media["examples"].values()))["value"]["two_factor_enabled"] = "perhaps"


def test_spectral_fails_an_example_that_its_schema_does_not_allow(broken: Broken) -> None:
    done = spectral(broken(spoil_an_example))
    assert done.returncode == 1
    assert "oas3-valid-media-example" in done.stdout
