"""Refusing what a call does not know, with the name that was probably meant."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from functools import cache
from typing import get_args

from pydantic import BaseModel

from simulator.engine.rows.error import ApiError

_LONGEST_SLIP = 100


def nearest(name: str, names: Iterable[str]) -> str:
    """The name that was probably meant, or ""; one too long to be a slip is not compared."""
    if len(name) > _LONGEST_SLIP:
        return ""
    names = list(names)
    words = [one for one in names if name and one in name.split("_")]
    letters = {one.lower(): one for one in reversed(names)}
    lower = get_close_matches(name.lower(), letters, n=1, cutoff=0.6)
    return words[0] if words else letters[lower[0]] if lower else ""


def similar(name: str, names: Iterable[str]) -> list[str]:
    """Up to three names that are like this one, the nearest first."""
    return get_close_matches(name, list(names), n=3)


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """ "; did you mean `x`?", or nothing when no name is near."""
    meant = nearest(name, names)
    return f"; did you mean `{meant}`?" if meant else ""


def refuse_names(given: Iterable[str], known: Iterable[str], what: str = "member", prefix: str = "") -> None:
    """400 invalid_parameter for the first name that is not known; the message lists those that are."""
    known = list(known)
    for name in given:
        if name not in known:
            has = f"there are {', '.join(prefix + one for one in known)}" if known else "there are none"
            message = f"There is no {what} `{prefix}{name}`{did_you_mean(name, known)} ({has})."
            raise ApiError("invalid_parameter", message, prefix + name)


def refuse_unknown(model: type[BaseModel], raw: Mapping[str, object], what: str = "member", prefix: str = "") -> None:
    """The same for a JSON object that is to become a model, at every depth; looked at before anything is missing."""
    known = members(model)
    refuse_names(raw, known, what, prefix)
    for name, inner in known.items():
        value = raw.get(name)
        if inner is not None and isinstance(value, Mapping):
            refuse_unknown(inner, value, what, f"{prefix}{name}.")


def is_whole(text: str) -> bool:
    """Whether a query parameter is a whole number from 0 that has a sensible size."""
    return text.isascii() and text.isdigit() and len(text) < 10


@cache
def members(model: type[BaseModel]) -> Mapping[str, type[BaseModel] | None]:
    """Names that a model knows, its own before those of its bases, each with the model that stands there, if any."""
    bases = [vars(one).get("__annotations__", {}) for one in model.__mro__]

    def depth(name: str) -> int:
        return next(place for place, names in enumerate(bases) if name in names)

    fields = sorted(model.model_fields.items(), key=lambda item: depth(item[0]))
    return {field.alias or name: _model_in(field.annotation) for name, field in fields}


def _model_in(annotation: object) -> type[BaseModel] | None:
    """The model of a member that is one, or one or null."""
    for one in (annotation, *get_args(annotation)):
        if isinstance(one, type) and issubclass(one, BaseModel):
            return one
    return None
