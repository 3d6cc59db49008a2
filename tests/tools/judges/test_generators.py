"""Every generator makes a client that compiles, carries an integration and survives a service that has grown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

import orjson
import pytest

from contracts.generator.clients import FILE
from tests.tools.judges import tools
from tests.tools.judges.conftest import Broken
from tests.tools.judges.generators import GENERATORS, Generator, judge

Record: TypeAlias = Callable[[str, object], None]
NAMES = [generator.name for generator in GENERATORS]


@pytest.mark.parametrize("generator", GENERATORS, ids=NAMES)
def test_a_client_compiles_and_carries_an_integration(
    generator: Generator, tmp_path: Path, record_property: Record
) -> None:
    row = judge(generator, tools.CONTRACTS / "openapi.yaml", tmp_path)
    record_property("client", row.shown())
    if row.skipped:
        pytest.skip(f"{generator.name}: {row.skipped}")
    assert not row.failed, f"{generator.name} is not {row.failed}:\n{row.said}"


def another_field(document: dict[str, Any]) -> None:
    """The token answer carries its token in another field."""
    schema = document["components"]["schemas"]["TokenResponse"]
    schema["properties"]["token"] = schema["properties"].pop("access_token")
    schema["required"] = ["token" if name == "access_token" else name for name in schema["required"]]


@pytest.mark.parametrize("generator", GENERATORS, ids=NAMES)
def test_a_client_of_a_contract_with_another_field_does_not_compile(
    generator: Generator, broken: Broken, tmp_path: Path
) -> None:
    row = judge(generator, broken(another_field), tmp_path / "client")
    if row.skipped:
        pytest.skip(f"{generator.name}: {row.skipped}")
    assert row.failed == "compiled", row.said


def the_values_of_today_alone(document: dict[str, Any]) -> None:
    """The states of a quote are the ones of today."""
    status = document["components"]["schemas"]["RampQuote"]["properties"]["status"]
    status["enum"] = status.pop("x-extensible-enum")


def test_a_client_of_a_closed_contract_does_not_survive(broken: Broken, tmp_path: Path) -> None:
    python = GENERATORS[NAMES.index("openapi-python-client")]
    row = judge(python, broken(the_values_of_today_alone), tmp_path / "client")
    assert row.failed == "survived"
    assert "priced" in row.said


def test_what_a_machine_lacks_is_named(tmp_path: Path) -> None:
    poor = replace(GENERATORS[0], lacks=lambda: "no compiler here")
    row = judge(poor, tools.CONTRACTS / "openapi.yaml", tmp_path)
    assert row.skipped == "no compiler here"
    assert row.shown()["compiled"] == "skipped"


def test_the_table_shows_every_generator_of_today() -> None:
    shown = {row["generator"]: row["version"] for row in orjson.loads(FILE.read_bytes())}
    assert shown == {generator.name: generator.version() for generator in GENERATORS}
