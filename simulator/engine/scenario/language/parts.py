"""The value types in a scenario file: durations, numbers, names and the tests in a `where`."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Annotated, Any, TypeAlias

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Discriminator,
    PlainValidator,
    StringConstraints,
    Tag,
    WithJsonSchema,
)
from pydantic.json_schema import JsonSchemaValue

from simulator.engine.scenario.language.pattern import compiled
from simulator.engine.scenario.play.matching import number_of
from simulator.engine.scenario.play.script import Span, span_of
from simulator.engine.text.json import JsonObject
from simulator.engine.text.shapes import ENVIRONMENT, NameOf
from simulator.kernel.clock import parse_duration

NAME_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$"
TAKEN_NAME = "active"
"""A reserved name, because `/_simulator/scenarios/active` returns the active scenarios."""

DURATION_SCHEMA: JsonSchemaValue = {
    "anyOf": [
        {"type": "string", "examples": ["20s", "2h30m", "PT90S"]},
        {"type": "number", "minimum": 0, "description": "seconds"},
    ]
}
_SAYS = "The shortest and the longest. The duration is drawn from the world's seed."
_BOUNDS = {"type": "array", "items": DURATION_SCHEMA, "minItems": 2, "maxItems": 2, "description": _SAYS}
_SPAN_SCHEMA: JsonSchemaValue = {
    "anyOf": [
        *DURATION_SCHEMA["anyOf"],
        {"type": "object", "properties": {"between": _BOUNDS}, "required": ["between"], "additionalProperties": False},
    ]
}


def _regex(text: str) -> str:
    compiled(text)
    return text


def _bound(value: object) -> Decimal:
    number = number_of(value)
    if number is None:
        raise ValueError("it must be a number, or a number in quotes")
    return number


def is_name(text: str) -> bool:
    """Return True if a string is a valid scenario name."""
    return re.fullmatch(NAME_PATTERN, text) is not None and text != TAKEN_NAME


def _not_taken(name: str) -> str:
    if name == TAKEN_NAME:
        raise ValueError(f"the name `{name}` is reserved for the list of active scenarios")
    return name


def _scalar(value: object) -> Any:
    if isinstance(value, dict | list):
        raise ValueError("it must be a single value")
    return value


DurationMs = Annotated[int, PlainValidator(parse_duration), WithJsonSchema(DURATION_SCHEMA)]
SpanOf = Annotated[Span, PlainValidator(span_of), WithJsonSchema(_SPAN_SCHEMA)]
Regex = Annotated[str, AfterValidator(_regex)]
Bound = Annotated[Decimal, PlainValidator(_bound), WithJsonSchema({"anyOf": [{"type": "number"}, {"type": "string"}]})]
ScenarioName = Annotated[str, StringConstraints(pattern=NAME_PATTERN), AfterValidator(_not_taken)]
Environment = Annotated[str, NameOf(ENVIRONMENT)]
Scalar = Annotated[
    str | bool | int | float | None,
    PlainValidator(_scalar),
    WithJsonSchema({"type": ["string", "boolean", "number", "null"]}),
]


class OpenPart(BaseModel):
    """Base class of action steps. Their unknown fields are treated as parameters of the action."""

    model_config = ConfigDict(extra="allow", strict=True, frozen=True, protected_namespaces=())


class Part(OpenPart):
    """Base class of all other models of a scenario file. Unknown fields are errors."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True)


class Tests(Part):
    """Tests for a value. All given tests must pass."""

    starts_with: str | None = None
    """The prefix that the string must have."""
    ends_with: str | None = None
    """The suffix that the string must have."""
    matches: Regex | None = None
    """An RE2 regular expression that must be found in the string. The rule's steps can use its named groups."""
    gt: Bound | None = None
    """The number, or the amount in a string, must be greater than this."""
    gte: Bound | None = None
    """The number must be greater than or equal to this."""
    lt: Bound | None = None
    """The number must be less than this."""
    lte: Bound | None = None
    """The number must be less than or equal to this."""
    exists: bool | None = None
    """true: the field must exist and must not be null. false: the field must be missing or null."""
    names_scenario: bool | None = None
    """Whether the string, or the group `name` of `matches`, must be the name of a scenario."""

    @property
    def given(self) -> JsonObject:
        return {name: getattr(self, name) for name in Tests.model_fields if getattr(self, name) is not None}


def _matcher_tag(value: object) -> str:
    if isinstance(value, dict):
        return "«tests»"
    return "«list»" if isinstance(value, list) else "«scalar»"


Matcher = Annotated[
    Annotated[Tests, Tag("«tests»")] | Annotated[list[Scalar], Tag("«list»")] | Annotated[Scalar, Tag("«scalar»")],
    Discriminator(_matcher_tag),
]
Where: TypeAlias = dict[str, Matcher]
