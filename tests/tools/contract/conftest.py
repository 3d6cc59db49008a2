"""The contract, and the results of the included scenarios, computed once for all tests in this package."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson
import pytest

from contracts.generator.evidence import ObservedCall
from simulator.engine.text.json import JsonObject
from tests.contract_judge import ContractJudge
from tests.shipped import contract_files, generated, observed_calls, observed_events


@pytest.fixture(scope="session")
def files() -> dict[str, bytes]:
    """All contract files as the code says."""
    return contract_files()


@pytest.fixture(scope="session")
def document(files: dict[str, bytes]) -> dict[str, Any]:
    found: dict[str, Any] = orjson.loads(files["openapi.json"])
    return found


@pytest.fixture(scope="session")
def strict() -> dict[str, Any]:
    """The strict contract."""
    return generated("openapi.strict.yaml")


@pytest.fixture(scope="session")
def calls() -> Sequence[ObservedCall]:
    """Every call that the scenarios made of an operation."""
    return observed_calls()


@pytest.fixture(scope="session")
def events() -> Sequence[JsonObject]:
    """Every event of the scenarios."""
    return observed_events()


@pytest.fixture(scope="session")
def judge(strict: dict[str, Any]) -> ContractJudge:
    return ContractJudge(strict)
