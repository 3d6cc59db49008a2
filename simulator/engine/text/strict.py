"""Rejects unknown names. The error suggests the closest valid name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from functools import cache
from typing import get_args

from pydantic import BaseModel

from simulator.engine.rows.error import ApiError

_LONGEST_SLIP = 100


def nearest(name: str, names: Iterable[str]) -> str:
    """Return the known name that is closest to `name`, or "" if none is close or `name` is too long to be a typo."""
    if len(name) > _LONGEST_SLIP:
        return ""
    names = list(names)
    words = [one for one in names if name and one in name.split("_")]
    letters = {one.lower(): one for one in reversed(names)}
    lower = get_close_matches(name.lower(), letters, n=1, cutoff=0.6)
    return words[0] if words else letters[lower[0]] if lower else ""


def similar(name: str, names: Iterable[str]) -> list[str]:
    """Return up to three similar names, closest first."""
    return get_close_matches(name, list(names), n=3)


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """Return "; did you mean `x`?", or "" if no name is close."""
    meant = nearest(name, names)
    return f"; did you mean `{meant}`?" if meant else ""


def refuse_names(given: Iterable[str], known: Iterable[str], what: str = "field", prefix: str = "") -> None:
    """Raise `ApiError` 400 invalid_parameter for the first unknown name. The message lists the known names."""
    known = list(known)
    for name in given:
        if name not in known:
            names = (
                f"Possible {what}s: {', '.join(prefix + one for one in known)}." if known else f"No {what} is possible."
            )
            message = f"There is no {what} `{prefix}{name}`{did_you_mean(name, known) or '.'} {names}"
            raise ApiError("invalid_parameter", message, prefix + name)


def refuse_unknown(model: type[BaseModel], raw: Mapping[str, object], what: str = "field", prefix: str = "") -> None:
    """Raise `ApiError` 400 for the first field of an object, at any depth, that its model does not define."""
    known = members(model)
    refuse_names(raw, known, what, prefix)
    for name, inner in known.items():
        value = raw.get(name)
        if inner is not None and isinstance(value, Mapping):
            refuse_unknown(inner, value, what, f"{prefix}{name}.")


def is_whole(text: str) -> bool:
    """Return True if a string is a non-negative integer of at most nine digits."""
    return text.isascii() and text.isdigit() and len(text) < 10


@cache
def members(model: type[BaseModel]) -> Mapping[str, type[BaseModel] | None]:
    """Return the field names of a model, each with its nested model or None. Own fields precede inherited ones."""
    bases = [vars(one).get("__annotations__", {}) for one in model.__mro__]

    def depth(name: str) -> int:
        return next(place for place, names in enumerate(bases) if name in names)

    fields = sorted(model.model_fields.items(), key=lambda item: depth(item[0]))
    return {field.alias or name: _model_in(field.annotation) for name, field in fields}


def _model_in(annotation: object) -> type[BaseModel] | None:
    for one in (annotation, *get_args(annotation)):
        if isinstance(one, type) and issubclass(one, BaseModel):
            return one
    return None
