"""The contract and one tour of the interface, made once for all tests of this package."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from contracts.generator import writer
from contracts.generator.tour import Tour, take_tour
from tests.contract_judge import Judge


@pytest.fixture(scope="session")
def files() -> dict[str, bytes]:
    """All contract files as the code says."""
    return writer.generate()


@pytest.fixture(scope="session")
def document(files: dict[str, bytes]) -> dict[str, Any]:
    found: dict[str, Any] = orjson.loads(files["openapi.json"])
    return found


@pytest.fixture(scope="session")
def tour() -> Tour:
    return take_tour(seed=2)


@pytest.fixture(scope="session")
def judge(document: dict[str, Any]) -> Judge:
    return Judge(document)
