"""What each kind of advice teaches: why it hurts in production, and the code to change, in Python and as HTTP.

The texts stand in `lessons.json`. In its examples `client` is an HTTP client with the base address and the token set,
`key` an idempotency key that was stored with the order before the first try.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Annotated, Literal

from typing_extensions import TypedDict

from simulator.engine.text.json import loads
from simulator.engine.text.shapes import Meanings

Language = Literal["python", "http"]
_LANGUAGE_MEANINGS = {"python": "With an HTTP client of Python.", "http": "As the calls themselves."}


class CodeChange(TypedDict):
    """Code as it probably is, and as it should be."""

    language: Annotated[Language, Meanings(_LANGUAGE_MEANINGS)]
    """What it is written in."""
    before: str
    """As it probably is."""
    after: str
    """As it should be."""


class Lesson(TypedDict):
    """Why a kind of finding hurts, and the code to change; none where none of the integrator's is to blame."""

    why: str
    changes: list[CodeChange]


_LANGUAGES: tuple[Language, ...] = ("python", "http")


@cache
def lessons() -> Mapping[str, Lesson]:
    """By kind of advice."""
    given = loads(files(__package__).joinpath("lessons.json").read_bytes())
    return {kind: {"why": row["why"], "changes": _changes(row)} for kind, row in given.items()}


def _changes(row: Mapping[str, Mapping[str, list[str]]]) -> list[CodeChange]:
    return [
        {"language": name, "before": "\n".join(row[name]["before"]), "after": "\n".join(row[name]["after"])}
        for name in _LANGUAGES
        if name in row
    ]


def lesson_of(kind: str) -> Lesson:
    """What a kind of advice teaches; nothing where a finding says all that there is to say itself."""
    return lessons().get(kind, {"why": "", "changes": []})
