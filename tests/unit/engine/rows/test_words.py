"""Messages about wrong values are in plain words for any model, and do not reveal the implementation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import BaseModel, TypeAdapter, ValidationError

from simulator.engine.faults.models import InterfaceFault, WebhookFault
from simulator.engine.records.listing import Listing
from simulator.engine.rows.error import ApiError
from simulator.engine.scenario.language.schema import Scenario
from simulator.engine.text.fields import Body, in_words, parse
from simulator.engine.worlds.simulator import Simulator as AnySimulator
from tests.library import Simulator, control_rows

MAKING = (
    "input",
    "valid ",
    "instance",
    "pydantic",
    "dictionary",
    "value error",
    "field required",
    "should",
    "possible here",
)
ODD: tuple[Any, ...] = (
    None,
    True,
    -1,
    0,
    1.5,
    10**30,
    "",
    "\x00",
    "x" * 300,
    [],
    [None],
    {},
    {"x": 1},
    float("inf"),
    [{}],
    {"type": "x"},
)


def models_of(simulator: AnySimulator) -> Iterator[type[BaseModel]]:
    """The models of a service's operations and actions."""
    for operation in simulator.operations:
        yield operation.body()
        if operation.query is not None and not isinstance(operation.query, Listing):
            yield operation.query()
    for rows in simulator.actions.rows.values():
        yield from (row.parameters() for row in rows)


MODELS = (*models_of(Simulator()), *(row.body for row in control_rows()), InterfaceFault, WebhookFault, Scenario)


def check_words(model: type[BaseModel]) -> None:
    """Every finding of a model has words."""
    tried: list[Any] = [5, [], {}]
    tried += [
        {name: odd}
        for name in [*model.model_fields, *(f.alias or "" for f in model.model_fields.values())]
        for odd in ODD
    ]
    for value in tried:
        try:
            model.model_validate(value)
        except ValidationError as error:
            for detail in error.errors(include_url=False):
                words = in_words(detail)
                assert not any(making in words.lower() for making in MAKING), (detail["type"], words)


@pytest.mark.parametrize("model", dict.fromkeys(MODELS), ids=lambda model: model.__name__)
def test_every_finding_of_every_model_has_words(model: type[BaseModel]) -> None:
    check_words(model)


@pytest.mark.parametrize(
    ("kind", "value", "words"),
    [
        (int, 1.5, "it must be a whole number"),
        (int, 10**30, None),
        (dict[str, int], [], "it must be an object"),
        (list[int], {}, "it must be a list"),
        (bool, "yes", "it must be true or false"),
        (str, 5, "it must be a string"),
        (float, "x", "it must be a number"),
    ],
)
def test_a_type_is_named_as_json_names_it(kind: Any, value: Any, words: str | None) -> None:
    found = None
    try:
        TypeAdapter(kind).validate_python(value, strict=True)
    except ValidationError as error:
        found = in_words(error.errors(include_url=False)[0])
    assert found == words


class Either(Body):
    delay: str | float | None = None
    inner: dict[str, int] | None = None


@pytest.mark.parametrize(
    ("given", "param", "why"),
    [
        ({"delay": []}, "delay", "it must be a string or a number"),
        ({"inner": []}, "inner", "it must be an object"),
        ({"inner": {"a": "b"}}, "inner.a", "it must be a whole number"),
    ],
)
def test_the_members_of_a_union_are_one_sentence_about_the_value(given: Any, param: str, why: str) -> None:
    with pytest.raises(ApiError) as caught:
        parse(Either, given)
    assert (caught.value.param, caught.value.message) == (param, f"The parameter `{param}` is not valid: {why}.")
