"""Words with which the rooms write down their shapes: formats, id prefixes, and the mark of what is assumed.

A shape is a TypedDict; the contract is made from it. What a field means stands as a string beneath it. A field without
a mark is specified; `Assumed("R7")` names the decision that the field rests on, `Assumed("H8", "pattern")` the one that
its pattern rests on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Generic, Literal, TypeAlias, TypeVar, get_args

from pydantic import GetJsonSchemaHandler, WithJsonSchema
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema
from typing_extensions import TypedDict  # pydantic reads no other before Python 3.12

Constraint = Literal[
    "pattern",
    "enum",
    "const",
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
]
"""What can be a guess about a field that is itself specified: keywords of JSON Schema, and that it is always there, or
can be null."""


class Assumed:
    """Marks a field or a type as assumed, with the decision it rests on; with `constraints`, only these of it."""

    def __init__(self, basis: str, *constraints: Constraint) -> None:
        self.basis = basis
        self.constraints = constraints

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        schema = handler(core)
        if not self.constraints:
            return {**schema, "x-provenance": "assumed", "x-basis": self.basis}
        guesses = {**schema.get("x-assumed-basis", {}), **dict.fromkeys(self.constraints, self.basis)}
        return {**schema, "x-assumed": sorted(guesses), "x-assumed-basis": guesses}


@dataclass(frozen=True)
class Prefix:
    """An id with this prefix."""

    prefix: str

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {**handler(core), "pattern": f"^{self.prefix}[0-9a-z]+$"}


Choices: TypeAlias = "tuple[str, ...] | Mapping[str, str]"
"""The values that a text can have; as a mapping with what each means."""


def _explained(schema: JsonSchemaValue, values: Choices) -> JsonSchemaValue:
    return {**schema, "x-enum-descriptions": dict(values)} if isinstance(values, Mapping) else schema


@dataclass(frozen=True, eq=False)  # by identity: a mapping has no hash, and unions ask their members for one
class OneOf:
    """A string that is one of these, where a Literal would be in the way of the code."""

    values: Choices

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        known = list(self.values)
        values = {"const": known[0]} if len(known) == 1 else {"enum": known}
        return _explained({**handler(core), **values}, self.values)


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


Clauses: TypeAlias = Mapping[str, tuple[type[object], ...]]
"""Which clause of the specification describes which shapes."""

FiatCode = Literal["KES", "TZS", "NGN", "ZAR", "ZMW"]
Country = Literal["KE", "TZ", "NG", "ZA", "ZM"]
Direction = Literal["onramp", "offramp"]
Method = Literal["mobile_money", "bank_transfer"]
RampNetwork = Literal["stellar", "celo"]
ShortNetwork = Literal["stellar", "celo", "btc"]
FIAT_CODES: tuple[str, ...] = get_args(FiatCode)
ASSET_CODES = ("XLM", "USDC", "CELO", "USDT", "CUSD", "BTC")

Timestamp = Annotated[str, Format("date-time", r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z$")]
Date = Annotated[str, Format("date", r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$")]
AmountText = Annotated[str, Format(pattern=r"^[0-9]+\.[0-9]{2,18}$")]
"""An amount as printed: at least two decimals, no sign, no exponent (decision H8)."""
RateText = Annotated[str, Format(pattern=r"^[0-9]+(\.[0-9]+)?$")]
CountryText = Annotated[str, OneOf(get_args(Country))]
WalletNetwork = Annotated[str, OneOf(("STELLAR", "CELO", "BITCOIN"))]
"""A network as wallet operations and the currency listing spell it."""
ShortNetworkText = Annotated[str, OneOf(get_args(ShortNetwork))]
FiatText = Annotated[str, OneOf(FIAT_CODES)]
AssetText = Annotated[str, OneOf(ASSET_CODES)]
CurrencyText = Annotated[str, OneOf((*FIAT_CODES, *ASSET_CODES))]
PhoneText = Annotated[str, Format(pattern=r"^\+[1-9][0-9]{6,14}$")]
OrderNumber = Annotated[str, Format(pattern=r"^ORD-[0-9]{8,}$")]
Uuid = Annotated[str, Format("uuid", r"^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$")]
Number = Annotated[Decimal, WithJsonSchema({"type": "number"})]
"""A JSON number written exactly."""


Count = Annotated[int, WithJsonSchema({"type": "integer", "minimum": 0})]
"""A whole number that is never negative."""


class Pagination(TypedDict):
    page: Annotated[int, WithJsonSchema({"type": "integer", "minimum": 1})]
    size: Annotated[int, WithJsonSchema({"type": "integer", "minimum": 1, "maximum": 100})]
    total: Count
    total_pages: Count


RowT = TypeVar("RowT")


class Page(TypedDict, Generic[RowT]):
    """What every list answers; the page of a room names its rows."""

    data: list[RowT]
    pagination: Pagination
