"""The kinds of advice: message, reason, and the code to change in Python and as HTTP.

The contents are in `lessons.json`. A provider has messages of its own for some kinds. In the examples, `client` is an
HTTP client with base URL and token, and `key` an idempotency key that was saved with the order before the first try.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from functools import cache
from importlib.resources import files
from typing import Annotated, Literal

from typing_extensions import TypedDict

from simulator.engine.records.advice import AdviceKind
from simulator.engine.rows.vocabulary import Vocabulary
from simulator.engine.text.json import JsonObject, loads
from simulator.engine.text.shapes import Meanings

Language = Literal["python", "http"]
_LANGUAGE_MEANINGS = {"python": "With a Python HTTP client.", "http": "As plain HTTP requests."}


class CodeChange(TypedDict):
    """Code before and after a correction."""

    language: Annotated[Language, Meanings(_LANGUAGE_MEANINGS)]
    """The language of the code."""
    before: str
    """The code as it probably is."""
    after: str
    """The code as it should be."""


class Lesson(TypedDict):
    """The reason for a kind of finding, and the code to change, if the integrator's code causes it."""

    why: str
    changes: list[CodeChange]


_LANGUAGES: tuple[Language, ...] = ("python", "http")


@cache
def _texts() -> Mapping[str, JsonObject]:
    texts: JsonObject = loads(files(__package__).joinpath("lessons.json").read_bytes())
    return texts


@cache
def kinds(vocabulary: Vocabulary) -> Mapping[str, AdviceKind]:
    """Return the kinds of advice for a service, by name."""
    names = [field.name for field in fields(AdviceKind)]
    own = {kind: AdviceKind(*(row[name] for name in names)) for kind, row in _texts().items() if "message" in row}
    return {**own, **vocabulary.provider.advice}


@cache
def lessons() -> Mapping[str, Lesson]:
    """Return the lessons by kind of advice."""
    return {
        kind: {
            "why": row["why"],
            "changes": [
                {"language": name, "before": "\n".join(row[name]["before"]), "after": "\n".join(row[name]["after"])}
                for name in _LANGUAGES
                if name in row
            ],
        }
        for kind, row in _texts().items()
    }


def lesson_of(kind: str) -> Lesson:
    """Return the lesson of a kind of advice, or an empty one if the message of the finding is enough."""
    return lessons().get(kind, {"why": "", "changes": []})
