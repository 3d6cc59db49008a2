"""Building blocks for response shapes: a TypedDict from which the contract is generated, with a string below each
field. A field is specified unless it is `Assumed("R7")`. `Assumed("H8", "pattern")` assumes only its pattern, by
decision H8.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Annotated, Any, Generic, Literal, TypeAlias, TypeVar

from pydantic import Field, GetCoreSchemaHandler, GetJsonSchemaHandler, ValidationInfo, WithJsonSchema
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticKnownError, core_schema
from typing_extensions import TypedDict  # pydantic does not support typing.TypedDict before Python 3.12

from simulator.kernel.dataclass import dataclass

DESCRIPTIONS = "x-enum-descriptions"
"""The descriptions of the values in a schema, except null. openapi-generator and datamodel-code-generator read them."""
_LISTS = ("x-extensible-enum", "x-known-values", "enum")
EVENT, ENVIRONMENT, NETWORK = "<event>", "<environment>", "<network>"
"""Placeholders for names that depend on the service. Schemas list a placeholder until `with_names` replaces it."""


def values_of(schema: Mapping[str, Any]) -> list[Any]:
    """Return the values that a schema lists, without null. Return [] if the schema lists no values."""
    listed: Iterable[Any] = next((schema[word] for word in _LISTS if word in schema), ())
    return [value for value in ([schema["const"]] if "const" in schema else listed) if value is not None]


def explained(schema: Mapping[str, Any], meanings: Mapping[str, str]) -> dict[str, Any]:
    """Add descriptions of the values to a schema. Raise `KeyError` if a value has no description."""
    return {**schema, DESCRIPTIONS: [meanings[str(value)] for value in values_of(schema)]}


def listed(name: str) -> dict[str, Any]:
    """Return a schema with a placeholder, which `with_names` replaces with the names that the service uses."""
    return {"enum": [name], DESCRIPTIONS: [name]}


def with_names(schema: Any, names: Mapping[str, Mapping[str, str]]) -> Any:
    """Replace the placeholders in a schema with all names that a service uses, and their descriptions. A field whose
    name is a placeholder becomes one field for each name. In the description of such a field, the placeholder is
    replaced with the beginning of the name's description, up to the first comma.
    """
    if isinstance(schema, list):
        meanings = names.get(schema[0]) if len(schema) == 1 and isinstance(schema[0], str) else None
        return [with_names(one, names) for one in schema] if meanings is None else list(meanings)
    if not isinstance(schema, Mapping):
        return schema
    found: dict[str, Any] = {}
    for key, part in schema.items():
        if key in names:
            found |= {name: _about(part, key, meaning) for name, meaning in names[key].items()}
        elif key == DESCRIPTIONS and part[0] in names:
            found[key] = list(names[part[0]].values())
        else:
            found[key] = with_names(part, names)
    return found


def _about(schema: Mapping[str, Any], placeholder: str, meaning: str) -> dict[str, Any]:
    called = meaning.partition(",")[0]
    text = schema["description"].replace(placeholder, called[:1].lower() + called[1:])
    return {**schema, "description": text}


Constraint: TypeAlias = (
    Literal["type", "pattern", "enum", "format", "minimum", "exclusiveMinimum", "maximum", "minLength", "maxLength"]
    | Literal["minItems", "maxItems", "items", "default", "required", "nullable", "meaning"]
)
"""The parts of a specified field that can be assumed. They are JSON Schema keywords, and whether the field is required
or nullable. `enum` is the list of the field's values, even if there is only one. `meaning` is the meaning of the value
or its timing, if a decision completes or departs from the specification.
"""


def guesses(bases: Mapping[str, str]) -> JsonSchemaValue:
    """Return the schema annotations for assumed constraints, given the decision behind each of them."""
    return {"x-assumed": sorted(bases), "x-assumed-basis": dict(bases)} if bases else {}


class Assumed:
    """Marks a field, a type, or only its `constraints` as assumed, and names the decision behind it."""

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
    """An id that starts with this prefix."""

    prefix: str

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {**handler(core), "pattern": f"^{self.prefix}[!-~]+$"}


Choices: TypeAlias = "tuple[str, ...] | Mapping[str, str]"
"""The valid values of a string. A mapping also contains their descriptions."""


def _explained(schema: JsonSchemaValue, values: Choices) -> JsonSchemaValue:
    return explained(schema, values) if isinstance(values, Mapping) else schema


# Objects are compared by identity, because unions hash their variants, and a mapping has no hash.
@dataclass(frozen=True, eq=False)
class OneOf:
    """A string with one of these values. Used where a Literal is not possible."""

    values: Choices

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        known = list(self.values)
        values = {"const": known[0]} if len(known) == 1 else {"enum": known}
        return _explained({**handler(core), **values}, self.values)


@dataclass(frozen=True)
class Listed:
    """One of the names that `with_names` puts in the place of a placeholder, such as `EVENT`."""

    placeholder: str

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {**handler(core), **listed(self.placeholder)}


@dataclass(frozen=True)
class NameOf:
    """A name of the service. Validation compares it with the context, `Vocabulary.names`, if there is one."""

    sort: str
    """A key of the mapping in the context."""

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
    """An object with one field for each environment of the service, and the description of these fields."""

    says: str

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        member = {**handler(core)["additionalProperties"], "description": self.says}
        return {"properties": {ENVIRONMENT: member}, "required": [ENVIRONMENT], "type": "object"}


@dataclass(frozen=True, eq=False)
class Meanings:
    """The descriptions of the values in a Literal."""

    values: Mapping[str, str]

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return _explained(handler(core), self.values)


@dataclass(frozen=True, eq=False)
class Known:
    """A string with known values. Other values are possible."""

    values: Choices

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        schema = {**handler(core), "examples": list(self.values)[:2], "x-known-values": list(self.values)}
        return _explained(schema, self.values)


@dataclass(frozen=True)
class Format:
    """A string with a pattern or with a named JSON Schema format."""

    format: str = ""
    pattern: str = ""

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        extra = {"format": self.format} if self.format else {}
        return {**handler(core), **extra, **({"pattern": self.pattern} if self.pattern else {})}


Origin: TypeAlias = str | Assumed
"""The source of a shape: a clause of the specification, or the decision that assumes all of it."""
Clauses: TypeAlias = Mapping[Origin, tuple[type[object], ...]]
"""The shapes that each clause or decision describes."""


Timestamp = Annotated[
    str,
    Format("date-time", r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z$"),
    Assumed("H10", "pattern"),
]
Date = Annotated[str, Format("date", r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$")]
AmountText = Annotated[str, Format(pattern=r"^[0-9]+\.[0-9]{2,18}$"), Assumed("H8", "pattern")]
"""An amount as returned: at least two decimals, no sign, no exponent (decision H8)."""
RateText = Annotated[str, Format(pattern=r"^[0-9]+(\.[0-9]+)?$"), Assumed("H8", "pattern")]
Uuid = Annotated[
    str,
    Format("uuid", r"^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$"),
    Assumed("uuid-form", "pattern"),
]
Number = Annotated[Decimal, WithJsonSchema({"type": "number"})]
"""A JSON number with exact digits."""


Count = Annotated[int, WithJsonSchema({"type": "integer", "minimum": 0})]
"""An integer that is never negative."""


class Pagination(TypedDict):
    """The page of a list, and the size of the list."""

    page: Annotated[int, WithJsonSchema({"type": "integer", "minimum": 1})]
    """The number of this page, starting at 1."""
    size: Annotated[int, WithJsonSchema({"type": "integer", "minimum": 1, "maximum": 100})]
    """The number of records on a full page."""
    total: Count
    """The number of matching records on all pages."""
    total_pages: Count
    """The number of pages. It is 0 if nothing matches."""


RowT = TypeVar("RowT")


class Page(TypedDict, Generic[RowT]):
    """The envelope of every list. The package that declares the list specifies the type of its rows."""

    data: list[RowT]
    """The records of this page."""
    pagination: Pagination
    """The number of this page, and the size of the list."""


def page_shape(name: str, row: Any, of: str, records: str, *marks: Assumed) -> type[object]:
    """Return the shape of a list endpoint's response, a page of `row` objects. `name` is the shape's name in the
    contract. `of` describes the listed resources, `records` describes the records on a page, and `marks` are
    assumptions about these two. A mark without constraints applies to the whole page.
    """
    of_page = [mark for mark in marks if not mark.constraints]
    shape: Any = TypedDict(  # type: ignore[misc]  # mypy knows no TypedDict that is built at run time
        name,
        {
            "data": Annotated[(list[row], Field(description=records), *marks)],
            "pagination": Annotated[
                (Pagination, Field(description="The number of this page, and the size of the list."), *of_page)
            ],
        },
    )
    shape.__doc__ = f"A page of {of}."
    return shape
