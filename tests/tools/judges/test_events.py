"""Unmodified validators compile the event schemas and accept every event that scenarios send."""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from simulator.engine.text.json import JsonObject
from simulator.host import vocabulary
from tests.shipped import observed_events
from tests.tools.judges import tools

DIRECTORY = tools.CONTRACTS / "events"


@pytest.fixture(scope="module")
def envelopes() -> Sequence[JsonObject]:
    """Every event of the scenarios that ship."""
    return observed_events()


def spoilt(envelopes: Sequence[JsonObject]) -> list[JsonObject]:
    """The first event of each type, telling of nothing, and the same at a moment that is none."""
    first = {event["type"]: event for event in reversed(envelopes)}
    broken = [{**event, "data": {"object": {}}} for event in first.values()]
    return broken + [{**event, "created_at": "yesterday"} for event in first.values()]


def ajv(envelopes: Sequence[JsonObject], directory: Path = DIRECTORY) -> dict[str, Any]:
    tools.package("ajv")
    done = tools.run(
        *(tools.node_directory() / "node", tools.HERE / "events.mjs", directory),
        cwd=tools.STORE,
        given=json.dumps(list(envelopes)),
    )
    assert done.returncode == 0, done.stdout
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_ajv_compiles_every_schema_without_a_word_and_accepts_every_event(envelopes: Sequence[JsonObject]) -> None:
    found = ajv(envelopes)
    assert sorted(found["compiled"]) == sorted(vocabulary().events)
    assert found["warnings"] == []
    assert found["wrong"] == []


def test_ajv_refuses_events_that_are_not_as_written(envelopes: Sequence[JsonObject]) -> None:
    broken = spoilt(envelopes)
    assert [one["type"] for one in ajv(broken)["wrong"]] == [event["type"] for event in broken]
    assert len(broken) == 2 * len(vocabulary().events)


def test_ajv_takes_no_keyword_of_openapi(tmp_path: Path) -> None:
    schema = json.loads((DIRECTORY / "webhook.test.schema.json").read_bytes())
    schema["properties"]["id"]["x-provenance"] = "specified"
    (tmp_path / "webhook.test.schema.json").write_text(json.dumps(schema))
    with pytest.raises(AssertionError, match="unknown keyword"):
        ajv([], tmp_path)


@pytest.fixture(scope="module")
def validators() -> dict[str, Any]:
    """python-jsonschema's validators by event type, of the class that each schema itself asks for."""
    if find_spec("jsonschema") is None:
        raise tools.Missing("jsonschema is missing: run `make contract`, or `pip install -e '.[dev,judges]'`")
    validator_for = import_module("jsonschema.validators").validator_for
    found = {}
    for name in vocabulary().events:
        schema = json.loads((DIRECTORY / f"{name}.schema.json").read_bytes())
        kind = validator_for(schema)
        kind.check_schema(schema)
        found[name] = kind(schema)
    return found


def test_python_jsonschema_accepts_every_event(validators: dict[str, Any], envelopes: Sequence[JsonObject]) -> None:
    wrong = [error.message for event in envelopes for error in validators[event["type"]].iter_errors(event)]
    assert wrong == []
    assert not any(validators[event["type"]].is_valid(event) for event in spoilt(envelopes))


def test_every_schema_has_its_own_address(validators: dict[str, Any]) -> None:
    assert {name: one.schema["$id"] for name, one in validators.items()} == {
        name: f"urn:rampsim:event:{name}" for name in vocabulary().events
    }
