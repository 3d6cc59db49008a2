"""Request fields: base class, field types and errors of bodies, by decisions H4, H5, H6, H7 and H20."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Annotated, Literal, TypeVar, get_args, get_origin

from pydantic import BaseModel, ConfigDict, StringConstraints, ValidationError
from pydantic_core import ErrorDetails

from simulator.engine.rows.error import ApiError, invalid, missing
from simulator.engine.text.shapes import Assumed
from simulator.kernel.dataclass import dataclass
from simulator.kernel.money import Currency

AMOUNT_PATTERN = r"^[0-9]{1,18}(\.[0-9]{1,18})?$"
NAME_PATTERN = r"^[^\x00]*[^\s\x00][^\x00]*$"

Text = Annotated[str, StringConstraints(min_length=1, pattern=r"^[^\x00]+$"), Assumed("H20", "minLength", "pattern")]
"""A string that is not empty and does not contain NUL."""

FreeText = Annotated[str, StringConstraints(pattern=r"^[^\x00]*$"), Assumed("H20", "pattern")]
"""A string that may be empty."""

Name = Annotated[
    str,
    StringConstraints(min_length=1, max_length=255, pattern=NAME_PATTERN),
    Assumed("H20", "minLength", "maxLength", "pattern"),
]
"""A name, label or reference: 1 to 255 characters, not only spaces (decision H20)."""

Note = Annotated[str, StringConstraints(max_length=1000, pattern=NAME_PATTERN), Assumed("H20", "maxLength", "pattern")]
"""A description or reason: at most 1,000 characters, not empty, and not only spaces (decision H20)."""

Code = FreeText
"""A code, id, address or number. A business rule checks whether the value exists, and refuses an empty string."""

Amount = Annotated[str, StringConstraints(pattern=AMOUNT_PATTERN), Assumed("H7", "pattern")]
"""A decimal string without a sign or exponent (decision H7)."""


def check_decimals(amount: str, currency: Currency | None) -> None:
    """Raise `ApiError` 400 if an amount has more decimals than its currency, if that is known (decision H7)."""
    if currency is not None and not currency.accepts(amount):
        raise invalid("amount", f"{currency.code} amounts have at most {currency.decimals} decimals")


class Body(BaseModel):
    """Base class for request bodies, query strings and action parameters. Types are strict, and unknown fields are
    collected. Modules that define bodies do not use `from __future__ import annotations`. With this import, pydantic
    would compile every annotation again, so declaring a body would take about a sixth longer.
    """

    model_config = ConfigDict(strict=True, extra="allow", frozen=True, defer_build=True, protected_namespaces=())


Model = TypeVar("Model", bound=Body)


class Nothing(Body):
    """A body that has no fields."""


def parse(model: type[Model], raw: Mapping[str, object], *, patch: bool = False, code: str = "") -> Model:
    """Return the body, validated against the model, or raise the `ApiError` from decisions H4 and H5. Missing fields
    are reported first. If `patch` is True, a field with the value null is not missing. If `code` is given, it is used
    as the error code in all cases, for example in the token exchange.
    """
    try:
        # `model_validate` only calls this with six more arguments, which takes one percent of a create call.
        valid: Model = model.__pydantic_validator__.validate_python(raw)
        return valid
    except ValidationError as error:
        refusal = refusal_of(wrongs_of(error, raw), nulls=not patch)
        raise ApiError(code or refusal.code, refusal.message, refusal.param) from None


def dotted(path: tuple[int | str, ...]) -> str:
    """Return a path such as `payer.phone_number`. The path of an array item is the array's (decision H5)."""
    return ".".join(part for part in path if isinstance(part, str))


@dataclass(frozen=True)
class Wrong:
    """A problem found by a model: the location in the input, pydantic's error type, the message, and the value."""

    path: tuple[int | str, ...]
    kind: str
    why: str
    value: object


def wrong(param: str, why: str, value: object = "") -> Wrong:
    """Return a problem that reports an invalid value. `param` is the dotted path of the value."""
    return Wrong(tuple(param.split(".")), "value_error", why, value)


def absent(param: str) -> Wrong:
    """Return a problem that reports a missing value. `param` is the dotted path of the value."""
    return Wrong(tuple(param.split(".")), "missing", "it is missing", None)


def refusal_of(found: Sequence[Wrong], *, nulls: bool = False) -> ApiError:
    """Return the `ApiError` from decisions H4 and H5 for these problems. Missing fields are reported first. If `nulls`
    is True, fields with the value null are missing. Items of a list are not.
    """
    for one in found:
        is_null = nulls and one.value is None and not (one.path and isinstance(one.path[-1], int))
        if is_null or one.kind == "missing":
            return missing(dotted(one.path))
    return invalid(dotted(found[0].path), found[0].why)


def wrongs_of(error: ValidationError, raw: object) -> list[Wrong]:
    """Return the problems that pydantic reports. Those of several variants of a union become one sentence."""
    places: dict[tuple[int | str, ...], list[ErrorDetails]] = {}
    for detail in error.errors(include_url=False):
        places.setdefault(_within(raw, detail), []).append(detail)
    found = []
    for path, details in places.items():
        # If the value has the right type for one variant, report that variant's problem instead of the other types.
        kept = [detail for detail in details if detail["type"] not in _TYPES]
        if all(detail["type"] == "literal_error" for detail in kept):  # The other variants are also possible.
            kept = details
        words = list(dict.fromkeys(map(in_words, kept)))
        why = words[0]
        if all(word.startswith(_MUST_BE) for word in words):
            why = _MUST_BE + " or ".join(word.removeprefix(_MUST_BE) for word in words)
        found.append(Wrong(path, kept[0]["type"], why, kept[0]["input"]))
    return found


def _within(raw: object, detail: ErrorDetails) -> tuple[int | str, ...]:
    """Return the location of a problem in the input, without the names of union variants that pydantic adds."""
    path: list[int | str] = []
    for number, part in enumerate(detail["loc"], 1):
        items = dict(enumerate(raw)) if isinstance(raw, list) else raw if isinstance(raw, Mapping) else {}
        if part in items:
            raw = items[part]
            path.append(part)
        elif detail["type"] == "missing" and number == len(detail["loc"]):
            path.append(part)
    return tuple(path)


def in_words(detail: ErrorDetails) -> str:
    """Return the message for one problem, such as "it must be a whole number"."""
    kind, context = detail["type"], detail.get("ctx") or {}
    if kind == "value_error":
        return str(context["error"])
    if kind == "string_pattern_mismatch":
        return _PATTERNS.get(context["pattern"], f"it must have the form {context['pattern']}")
    if kind in ("string_too_short", "too_short") and context["min_length"] == 1:
        return "it must not be empty"
    return _WORDS.get(kind, "the value is not valid here").format_map(context)


_MUST_BE = "it must be "
_PATTERNS = {
    AMOUNT_PATTERN: 'it must be a decimal number in quotes, such as "12.50"',
    NAME_PATTERN: "it must not be empty or only blanks, nor contain the character NUL",
    r"^[^\x00]+$": "it must not contain the character NUL",
    r"^[^\x00]*$": "it must not contain the character NUL",
    r"^[0-9]{1,18}(\.[0-9]{1,2})?$": 'it must be a decimal number in quotes with at most two decimals, such as "12.50"',
    r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$": "it must be a date such as 2026-01-31",
    r"^([01][0-9]|2[0-3]):[0-5][0-9]$": "it must be a time of day such as 08:30",
    r"^[1-9][0-9]{0,8}/[1-9][0-9]{0,8}$": "it must be N/SECONDS, such as 100/60",
    r"^[a-z0-9._-]{1,64}$": "it must have 1 to 64 lower-case letters, digits and `._-`",
    r"^[A-Za-z0-9]{1,12}$": "it must have 1 to 12 letters or digits",
    r"^[A-Za-z0-9._-]{1,64}$": "it must have 1 to 64 letters, digits and `._-`",
}
_TYPES = {
    "bool_type": "it must be true or false",
    "dict_type": "it must be an object",
    "float_type": "it must be a number",
    "int_from_float": "it must be a whole number",
    "int_type": "it must be a whole number",
    "list_type": "it must be a list",
    "mapping_type": "it must be an object",
    "model_attributes_type": "it must be an object",
    "model_type": "it must be an object",
    "string_type": "it must be a string",
}
_WORDS = _TYPES | {
    "extra_forbidden": "there is no such field",
    "finite_number": "it must be a finite number",
    "greater_than": "it must be above {gt}",
    "greater_than_equal": "it must be at least {ge}",
    "int_parsing_size": "it must be a smaller number",
    "less_than": "it must be below {lt}",
    "less_than_equal": "it must be at most {le}",
    "literal_error": "it must be {expected}",
    "missing": "it is missing",
    "none_required": "it must be null",
    "string_too_long": "it must have at most {max_length} characters",
    "string_too_short": "it must have at least {min_length} characters",
    "string_unicode": "it must be a string",
    "too_long": "it must have at most {max_length} items",
    "too_short": "it must have at least {min_length} items",
}
"""Messages by pydantic's error type, formatted with the context of the error."""


def unknown_fields(body: BaseModel, prefix: str = "") -> list[str]:
    """Return the dotted names of fields that the model does not define (decision H6)."""
    names = [prefix + name for name in body.model_extra or ()]
    for name, shown_as in _nested(type(body)):
        value = getattr(body, name)
        if isinstance(value, BaseModel):
            names += unknown_fields(value, f"{prefix}{shown_as}.")
    return names


@cache
def _nested(model: type[BaseModel]) -> tuple[tuple[str, str], ...]:
    """Return the fields whose values may be models, as pairs of the names in Python and in requests."""
    return tuple(
        (name, field.alias or name) for name, field in model.model_fields.items() if _may_be_model(field.annotation)
    )


def _may_be_model(hint: object) -> bool:
    parts = get_args(hint)
    if get_origin(hint) is Literal:
        return False
    if parts:
        return any(map(_may_be_model, parts))
    return not isinstance(hint, type) or issubclass(hint, BaseModel) or hint is object
