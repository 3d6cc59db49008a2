"""Request fields: the base of all request bodies, the field types of the interface, and their errors.

Bodies are pydantic models in strict mode. Decisions H4 (missing), H5 (malformed), H6 (unknown fields) and
H7 (amounts) are applied here, once for every operation.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, StringConstraints, ValidationError

from simulator.wire.errors import ApiError, invalid, missing

AMOUNT_PATTERN = r"^[0-9]{1,18}(\.[0-9]{1,18})?$"

Text = Annotated[str, StringConstraints(min_length=1, pattern=r"^[^\x00]+$")]
"""A string that is not empty and has no NUL."""

FreeText = Annotated[str, StringConstraints(pattern=r"^[^\x00]*$")]
"""A string that may be empty."""

Code = FreeText
"""A code, id, address or number: whether there is such a one is a business rule, so the empty one is refused there."""

Amount = Annotated[str, StringConstraints(pattern=AMOUNT_PATTERN)]
"""A decimal string without sign or exponent (decision H7)."""


class Body(BaseModel):
    """Base of request bodies (and of query strings and action parameters): strict types, unknown fields kept aside."""

    model_config = ConfigDict(strict=True, extra="allow", frozen=True, defer_build=True, protected_namespaces=())


Model = TypeVar("Model", bound=Body)


class Nothing(Body):
    """A body without fields."""


def parse(model: type[Model], raw: Mapping[str, Any], *, patch: bool = False, code: str = "") -> Model:
    """The validated body, or the ApiError of decisions H4 and H5: missing fields first, then malformed values.

    `patch`: null is a value, not an absence. `code`: answer this code for both (token exchange, rates).
    """
    try:
        return model.model_validate(raw)
    except ValidationError as error:
        raise _first(error, raw, patch, code) from None


def _first(error: ValidationError, raw: Mapping[str, Any], patch: bool, code: str) -> ApiError:
    details = error.errors(include_url=False)
    for detail in details:
        if detail["type"] == "missing" or (detail["input"] is None and not patch and not _in_list(detail["loc"])):
            param = dotted(detail["loc"])
            return ApiError(code, f"The required parameter `{param}` is missing.", param) if code else missing(param)
    detail = details[0]
    param = dotted(detail["loc"])
    why = detail["msg"][:1].lower() + detail["msg"][1:]
    return ApiError(code, f"The parameter `{param}` is not valid: {why}.", param) if code else invalid(param, why)


def _in_list(loc: tuple[int | str, ...]) -> bool:
    return bool(loc) and isinstance(loc[-1], int)


def dotted(loc: tuple[int | str, ...]) -> str:
    """`payer.phone_number`; an item of an array goes by the array's own name (decision H5)."""
    return ".".join(part for part in loc if isinstance(part, str))


def unknown_fields(body: BaseModel, prefix: str = "") -> list[str]:
    """The dotted names of fields that the model does not know (decision H6)."""
    names = [prefix + name for name in body.model_extra or ()]
    for name, field in type(body).model_fields.items():
        value = getattr(body, name)
        if isinstance(value, BaseModel):
            names += unknown_fields(value, f"{prefix}{field.alias or name}.")
    return names
