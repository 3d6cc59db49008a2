"""Words with which the rooms write down their shapes: formats, id prefixes, and the mark of what is assumed.

A shape is a TypedDict; the contract is made from it. A field without a mark is specified; `Assumed("R7")`
names the decision that a field, or its value, rests on.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Any

from pydantic import GetJsonSchemaHandler
from pydantic_core import CoreSchema
from typing_extensions import TypedDict  # pydantic reads no other before Python 3.12


@dataclass(frozen=True)
class Assumed:
    """Marks a field or a type as assumed, with the decision it rests on."""

    basis: str

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return {**handler(core), "x-provenance": "assumed", "x-basis": self.basis}


@dataclass(frozen=True)
class Prefix:
    """An id with this prefix."""

    prefix: str

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return {**handler(core), "pattern": f"^{self.prefix}[0-9a-z]+$"}


@dataclass(frozen=True)
class Format:
    """A string with a pattern or a named format of JSON Schema."""

    format: str = ""
    pattern: str = ""

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        extra = {"format": self.format} if self.format else {}
        return {**handler(core), **extra, **({"pattern": self.pattern} if self.pattern else {})}


Timestamp = Annotated[str, Format("date-time", r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$")]
Date = Annotated[str, Format("date", r"^\d{4}-\d{2}-\d{2}$")]
AmountText = Annotated[str, Format(pattern=r"^\d+(\.\d+)?$")]
RateText = Annotated[str, Format(pattern=r"^\d+(\.\d+)?$")]
Uuid = Annotated[str, Format("uuid")]
Number = Decimal
"""A JSON number written exactly."""


class Pagination(TypedDict):
    page: int
    size: int
    total: int
    total_pages: int
