"""Words with which the rooms write down their shapes: formats, id prefixes, and the mark of what is assumed.

A shape is a TypedDict; the contract is made from it. What a field means stands as a string beneath it. A field without
a mark is specified; `Assumed("R7")` names the decision that the field rests on, `Assumed("H8", "pattern")` the one that
its pattern rests on.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Annotated, Any, Generic, Literal, TypeAlias, TypeVar

from pydantic import Field, GetCoreSchemaHandler, GetJsonSchemaHandler, ValidationInfo, WithJsonSchema
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticKnownError, core_schema
from typing_extensions import TypedDict  # pydantic reads no other before Python 3.12

from simulator.engine.text.enums import ENVIRONMENT, EVENT, explained, listed
from simulator.kernel.dataclass import dataclass

Constraint = Literal[
    "type",
    "pattern",
    "enum",
    "format",
    "minimum",
    "exclusiveMinimum",
    "maximum",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "items",
    "default",
    "required",
    "nullable",
    "meaning",
]
"""What can be a guess about a field that is itself specified: keywords of JSON Schema, and that it is always there, or
can be null. `enum` is the list of its values, also where that is a single one. `meaning` is what the value says, or
from when on, where a decision fills in or departs from the words of the specification."""


def guesses(bases: Mapping[str, str]) -> JsonSchemaValue:
    """The marks of constraints that are guesses, given by what they rest on; none where there are none."""
    return {"x-assumed": sorted(bases), "x-assumed-basis": dict(bases)} if bases else {}


class Assumed:
    """Marks a field or a type as assumed, with the decision it rests on; with `constraints`, only these of it."""

    def __init__(self, basis: str, *constraints: Constraint) -> None:
        self.basis = basis
        self.constraints = constraints

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        schema = handler(core)
        if not self.constraints:
            return {**schema, "x-provenance": "assumed", "x-basis": self.basis}
        return {
            **schema,
            **guesses({**schema.get("x-assumed-basis", {}), **dict.fromkeys(self.constraints, self.basis)}),
        }


@dataclass(frozen=True)
class Prefix:
    """An id with this prefix."""

    prefix: str

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {**handler(core), "pattern": f"^{self.prefix}[!-~]+$"}


Choices: TypeAlias = "tuple[str, ...] | Mapping[str, str]"
"""The values that a text can have; as a mapping with what each means."""


def _explained(schema: JsonSchemaValue, values: Choices) -> JsonSchemaValue:
    return explained(schema, values) if isinstance(values, Mapping) else schema


@dataclass(frozen=True, eq=False)  # by identity: a mapping has no hash, and unions ask their members for one
class OneOf:
    """A string that is one of these, where a Literal would be in the way of the code."""

    values: Choices

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        known = list(self.values)
        values = {"const": known[0]} if len(known) == 1 else {"enum": known}
        return _explained({**handler(core), **values}, self.values)


class EventName:
    """The name of an event, whichever the service has."""

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {**handler(core), **listed(EVENT)}


class EnvironmentName:
    """The name of an environment, whichever the service has."""

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {**handler(core), **listed(ENVIRONMENT)}


@dataclass(frozen=True)
class NameOf:
    """A name of the service that is validated by the context, `Vocabulary.names`; without context any value passes."""

    sort: str
    """A key of that mapping."""

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.with_info_plain_validator_function(self._known)

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {"type": "string", "enum": [self.sort]}

    def _known(self, value: object, info: ValidationInfo) -> object:
        if info.context is None or value in (names := list(info.context[self.sort])):
            return value
        *others, last = map(repr, names)
        raise PydanticKnownError("literal_error", {"expected": " or ".join(filter(None, (", ".join(others), last)))})


@dataclass(frozen=True)
class PerEnvironment:
    """An object with a member for each environment, whichever the service has, and what a member says."""

    says: str

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        member = {**handler(core)["additionalProperties"], "description": self.says}
        return {"properties": {ENVIRONMENT: member}, "required": [ENVIRONMENT], "type": "object"}


@dataclass(frozen=True, eq=False)
class Meanings:
    """What the values of a Literal mean, each of them."""

    values: Mapping[str, str]

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return _explained(handler(core), self.values)


@dataclass(frozen=True, eq=False)
class Known:
    """A text of which the simulator knows these values, without a promise that there are no others."""

    values: Choices

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        schema = {**handler(core), "examples": list(self.values)[:2], "x-known-values": list(self.values)}
        return _explained(schema, self.values)


@dataclass(frozen=True)
class Format:
    """A string with a pattern or a named format of JSON Schema."""

    format: str = ""
    pattern: str = ""

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        extra = {"format": self.format} if self.format else {}
        return {**handler(core), **extra, **({"pattern": self.pattern} if self.pattern else {})}


Origin: TypeAlias = str | Assumed
"""Where a shape comes from: a clause of the specification, or the decision that assumes all of it."""
Clauses: TypeAlias = Mapping[Origin, tuple[type[object], ...]]
"""Which clause, or decision, describes which shapes."""


Timestamp = Annotated[
    str,
    Format("date-time", r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z$"),
    Assumed("H10", "pattern"),
]
Date = Annotated[str, Format("date", r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$")]
AmountText = Annotated[str, Format(pattern=r"^[0-9]+\.[0-9]{2,18}$"), Assumed("H8", "pattern")]
"""An amount as printed: at least two decimals, no sign, no exponent (decision H8)."""
RateText = Annotated[str, Format(pattern=r"^[0-9]+(\.[0-9]+)?$"), Assumed("H8", "pattern")]
Uuid = Annotated[
    str,
    Format("uuid", r"^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$"),
    Assumed("uuid-form", "pattern"),
]
Number = Annotated[Decimal, WithJsonSchema({"type": "number"})]
"""A JSON number written exactly."""


Count = Annotated[int, WithJsonSchema({"type": "integer", "minimum": 0})]
"""A whole number that is never negative."""


class Pagination(TypedDict):
    """Which page of a list this is, and how much there is in all."""

    page: Annotated[int, WithJsonSchema({"type": "integer", "minimum": 1})]
    """The page shown, counted from 1."""
    size: Annotated[int, WithJsonSchema({"type": "integer", "minimum": 1, "maximum": 100})]
    """How many records a full page has."""
    total: Count
    """How many records match, on all pages."""
    total_pages: Count
    """How many pages these fill; 0 when nothing matches."""


RowT = TypeVar("RowT")


class Page(TypedDict, Generic[RowT]):
    """What every list answers; the page of a room names its rows."""

    data: list[RowT]
    """The records of this page."""
    pagination: Pagination
    """Which page this is, of how many."""


def page_shape(name: str, row: Any, of: str, records: str, *marks: Assumed) -> type[Any]:
    """Return the shape of one list: pages of `row`, under a name of its own in the contract.

    `of` says what is listed, `records` describes the records of a page, and `marks` are assumptions about them. A mark
    without constraints is one about the whole page.
    """
    of_page = [mark for mark in marks if not mark.constraints]
    shape: Any = TypedDict(  # type: ignore[misc]  # mypy knows no TypedDict that is built at run time
        name,
        {
            "data": Annotated[(list[row], Field(description=records), *marks)],
            "pagination": Annotated[(Pagination, Field(description="Which page this is, of how many."), *of_page)],
        },
    )
    shape.__doc__ = f"A page of {of}."
    return shape
