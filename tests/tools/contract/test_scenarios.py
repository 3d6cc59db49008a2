"""Every call and every event of the included scenarios matches each of the contract files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import jsonschema_rs
import orjson
import pytest

from contracts.generator.evidence import Evidence
from simulator.engine.scenario.files.shipped import shipped_directory
from simulator.host import vocabulary
from tests.contract_judge import ContractJudge
from tests.shipped import generated, shown

NAMES = [path.stem for path in sorted(shipped_directory().glob("*.yaml"))]
FILES = ("openapi.yaml", "openapi.strict.yaml")
JudgeOf = Callable[[str], ContractJudge]


@pytest.fixture(scope="module")
def judge_of() -> JudgeOf:
    """The judge that holds traffic against one of the files."""

    @cache
    def judge(name: str) -> ContractJudge:
        return ContractJudge({"webhooks": {}, **generated(name)})

    return judge


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("name", NAMES)
def test_scenario_matches_the_open_and_strict_contract(name: str, file: str, judge_of: JudgeOf) -> None:
    assert [*_wrong_calls(shown()[name], judge_of(file)), *_wrong_events(shown()[name], judge_of(file))] == []


@pytest.mark.parametrize("name", NAMES)
def test_control_responses_of_a_scenario_match_the_contract(name: str, judge_of: JudgeOf) -> None:
    controls = shown()[name].controls
    judge = judge_of("control.yaml")
    assert len(controls) > 5
    assert [
        str(finding)
        for answer in controls
        for finding in judge.answer(answer.method, answer.path, answer.status, answer.headers, answer.body)
    ] == []


def _wrong_calls(evidence: Evidence, judge: ContractJudge) -> Iterator[str]:
    """Return the problems of responses and of accepted request bodies."""
    for call in evidence.calls:
        if call.operation:
            found = judge.answer(call.method, call.path, call.status, call.headers, call.answer)
            if call.body is not None and call.status < 400:
                found += judge.request(call.method, call.path, call.body)
            yield from (str(finding) for finding in found)


def _wrong_events(evidence: Evidence, judge: ContractJudge) -> Iterator[str]:
    return (str(finding) for event in evidence.envelopes for finding in judge.event(event))


@pytest.fixture(scope="module")
def validators(files: dict[str, bytes]) -> dict[str, jsonschema_rs.Draft202012Validator]:
    schemas = {name: orjson.loads(files[f"events/{name}.schema.json"]) for name in vocabulary().events}
    return {name: jsonschema_rs.Draft202012Validator(schema) for name, schema in schemas.items()}


@pytest.mark.parametrize("name", NAMES)
def test_scenario_events_match_their_schemas(name: str, validators: dict[str, Any]) -> None:
    assert [
        (event["id"], error.message)
        for event in shown()[name].envelopes
        for error in validators[event["type"]].iter_errors(event)
    ] == []


def test_deposit_can_be_an_unknown_asset(judge_of: JudgeOf) -> None:
    """Anybody can send anything to an address; what the account itself asks for is one of the listed assets."""
    arrived = [event["data"]["object"] for event in shown()["deposit-wrong-asset"].envelopes]
    assert [one["asset"] for one in arrived if one.get("reason") == "wrong_asset"] == ["EURC"]
    quote = next(call for call in shown()["every-operation"].calls if call.operation == "create_quote")
    judge = judge_of(FILES[-1])
    assert judge.request("POST", "/quotes", quote.body) == []
    assert judge.request("POST", "/quotes", {**quote.body, "asset": "EURC"})
