"""The contract, and what the scenarios that ship really showed, made once for all tests of this package."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import orjson
import pytest
import yaml

from contracts.generator import writer
from contracts.generator.evidence import ObservedCall
from simulator.wire.json import JsonObject
from tests.contract_judge import ContractJudge
from tests.shipped import GROUP, observed_calls, shown

HERE = Path(__file__).parent


@pytest.hookimpl(tryfirst=True)  # before the groups are read
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.xdist_group(GROUP))


@pytest.fixture(scope="session")
def files() -> dict[str, bytes]:
    """All contract files as the code says."""
    return writer.generate(shown().values())


@pytest.fixture(scope="session")
def document(files: dict[str, bytes]) -> dict[str, Any]:
    found: dict[str, Any] = orjson.loads(files["openapi.json"])
    return found


@pytest.fixture(scope="session")
def strict(files: dict[str, bytes]) -> dict[str, Any]:
    """The strict contract."""
    found: dict[str, Any] = yaml.load(files["openapi.strict.yaml"], yaml.CSafeLoader)
    return found


@pytest.fixture(scope="session")
def calls() -> Sequence[ObservedCall]:
    """Every call that the scenarios made of an operation."""
    return observed_calls()


@pytest.fixture(scope="session")
def events() -> Sequence[JsonObject]:
    """Every event of the scenarios."""
    return [event for one in shown().values() for event in one.envelopes]


@pytest.fixture(scope="session")
def judge(strict: dict[str, Any]) -> ContractJudge:
    return ContractJudge(strict)
