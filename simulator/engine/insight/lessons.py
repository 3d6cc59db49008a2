"""The kinds of advice: what each says, why it hurts in production, and the code to change, in Python and as HTTP.

The texts stand in `lessons.json`; a service has messages of its own for some. In its examples `client` is an HTTP
client with the base address and the token set, `key` an idempotency key that was stored with the order before the
first try.
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
def _texts() -> Mapping[str, JsonObject]:
    texts: JsonObject = loads(files(__package__).joinpath("lessons.json").read_bytes())
    return texts


@cache
def kinds(vocabulary: Vocabulary) -> Mapping[str, AdviceKind]:
    """The kinds of advice on a service, by name."""
    names = [field.name for field in fields(AdviceKind)]
    own = {kind: AdviceKind(*(row[name] for name in names)) for kind, row in _texts().items() if "message" in row}
    return {**own, **vocabulary.provider.advice}


@cache
def lessons() -> Mapping[str, Lesson]:
    """By kind of advice."""
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
    """What a kind of advice teaches; nothing where a finding says all that there is to say itself."""
    return lessons().get(kind, {"why": "", "changes": []})
