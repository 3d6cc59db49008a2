"""Types for rows that are JSON objects, and their validation when they are read from exported worlds. All other rows
are records, which the codec checks.
"""

from __future__ import annotations

from functools import cache
from typing import Annotated, Any

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from simulator.engine.records.codec import StateError
from simulator.engine.text.fields import in_words
from simulator.kernel.fields import LAST_TIMESTAMP_MS

STRICT = ConfigDict(strict=True, extra="forbid")
"""The pydantic configuration for a row's TypedDict: exactly these fields, with exactly these types."""

SavedMoment = Annotated[int, Field(ge=0, le=LAST_TIMESTAMP_MS)]
"""A number of milliseconds."""
SavedCount = Annotated[int, Field(ge=0, lt=2**63)]
SavedTimestamp = Annotated[
    str, Field(pattern=r"^[0-9]{4}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-5][0-9]\.[0-9]{3}Z$")
]


@cache
def _adapter(shape: Any) -> TypeAdapter[Any]:
    return TypeAdapter(shape)


def hold_against(shape: Any, value: object, path: str = "", context: object = None) -> None:
    """Raise `StateError`, with a path that starts with `path`, unless a value matches this TypedDict or model."""
    try:
        _adapter(shape).validate_python(value, context=context)
    except ValidationError as error:
        detail = error.errors(include_url=False)[0]
        raise StateError(".".join(filter(None, (path, *map(str, detail["loc"])))), in_words(detail)) from None
