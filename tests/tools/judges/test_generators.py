"""Every generator creates a client that compiles, works in an integration and handles additions to the service."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeAlias

import orjson
import pytest

from contracts.generator.clients import FILE
from tests.tools.judges.conftest import CLIENTS
from tests.tools.judges.generators import GENERATORS, TYPESCRIPT, Generator, Row, judge
from tests.tools.judges.workshop import Workshop, another_field

Record: TypeAlias = Callable[[str, object], None]
NAMES = [generator.name for generator in GENERATORS]
EVERY_GENERATOR = pytest.mark.parametrize(
    "generator",
    # What is made together, and what mypy judges by what it knows already, belongs to one worker.
    [pytest.param(one, marks=[] if one.language is TYPESCRIPT else CLIENTS) for one in GENERATORS],
    ids=NAMES,
)


def skip_what_is_lacking(generator: Generator, record: Record | None = None) -> None:
    if lacking := generator.lacks():
        if record:
            record("client", Row(generator.name, skipped=lacking).shown())
        pytest.skip(f"{generator.name}: {lacking}")


@EVERY_GENERATOR
def test_a_client_compiles_and_carries_an_integration(
    generator: Generator, workshop: Workshop, record_property: Record
) -> None:
    skip_what_is_lacking(generator, record_property)
    row = judge(generator, *workshop.client(generator))
    record_property("client", row.shown())
    assert not row.failed, f"{generator.name} is not {row.failed}:\n{row.said}"


@EVERY_GENERATOR
def test_a_client_of_a_contract_with_another_field_does_not_compile(generator: Generator, workshop: Workshop) -> None:
    skip_what_is_lacking(generator)
    row = judge(generator, *workshop.client(generator, another_field))
    assert row.failed == "compiled", row.said
    # An answer that may be any object has an unknown member for every name.
    assert re.search("access_?token|type 'unknown' is not assignable", row.said, re.IGNORECASE), row.said


def the_values_of_today_alone(document: dict[str, Any]) -> None:
    """The states of a quote are the ones of today."""
    status = document["components"]["schemas"]["RampQuote"]["properties"]["status"]
    status["enum"] = status.pop("x-extensible-enum")


@CLIENTS
def test_a_client_of_a_closed_contract_does_not_survive(workshop: Workshop) -> None:
    python = GENERATORS[NAMES.index("openapi-python-client")]
    row = judge(python, *workshop.client(python, the_values_of_today_alone))
    assert row.failed == "survived"
    assert "priced" in row.said


def test_missing_tools_are_named() -> None:
    poor = replace(GENERATORS[0], lacks=lambda: "no compiler here")
    noted: dict[str, Any] = {}
    with pytest.raises(pytest.skip.Exception, match="no compiler here"):
        skip_what_is_lacking(poor, noted.__setitem__)
    assert noted["client"]["compiled"] == "skipped"


def test_the_table_shows_every_generator_of_today() -> None:
    shown = {row["generator"]: row["version"] for row in orjson.loads(FILE.read_bytes())}
    assert shown == {generator.name: generator.version() for generator in GENERATORS}
