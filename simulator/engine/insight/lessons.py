"""The kinds of advice: message, reason, and the code to change in Python and as HTTP, from `lessons.json`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from functools import cache
from importlib.resources import files
from typing import Annotated, Literal

from typing_extensions import TypedDict

from simulator.engine.records.advice import AdviceKind
from simulator.engine.text.json import JsonObject, loads
from simulator.engine.text.shapes import Meanings
from simulator.engine.vocabulary.vocabulary import Vocabulary

Language = Literal["python", "http"]
_LANGUAGE_MEANINGS = {"python": "With a Python HTTP client.", "http": "As plain HTTP requests."}


class CodeChange(TypedDict):
    """Code before and after a fix."""

    language: Annotated[Language, Meanings(_LANGUAGE_MEANINGS)]
    """The language of the code."""
    before: str
    """The code that probably causes the finding."""
    after: str
    """The corrected code."""


class Lesson(TypedDict):
    """The reason for a kind of finding and, if the integrator's code causes it, the code to change."""

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
    """Return the lesson for each kind of advice: the reason, and code before and after the change."""
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
    """Return the lesson for a kind of advice, with an empty reason and no changes if there is none."""
    return lessons().get(kind, {"why": "", "changes": []})
