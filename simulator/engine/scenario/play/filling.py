"""Replaces the placeholders `${…}`: in a rule with named groups, in a `drive` with values from responses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simulator.engine.scenario.play.matching import ABSENT, dig
from simulator.engine.text.json import with_texts
from simulator.kernel.patterns import compile_late

PLACEHOLDER = compile_late(r"\$\{([^}]*)\}")


class NoValue(Exception):
    """Raised if no earlier response contains the value of a placeholder `${…}`."""

    def __init__(self, path: str) -> None:
        super().__init__(f"`${{{path}}}` has no value: no earlier response contains it")


def fill_groups(value: Any, groups: Mapping[str, str]) -> Any:
    """Replace every placeholder `${name}` in a value with the named group. Others remain unchanged."""

    def put_in(text: str) -> str:
        for name, group in groups.items():
            text = text.replace(f"${{{name}}}", group)
        return text

    return with_texts(value, put_in)


def fill(value: Any, answers: Mapping[str, Any]) -> Any:
    """Replace every placeholder `${step.path}` in a value. A string that is exactly one placeholder becomes the
    referenced value, with its type. Raise `NoValue` if there is none.
    """

    def put_in(text: str) -> Any:
        whole = PLACEHOLDER.fullmatch(text)
        if whole is not None:
            return value_at(whole[1], answers)
        return PLACEHOLDER.sub(lambda found: str(value_at(found[1], answers)), text)

    return with_texts(value, put_in)


def value_at(path: str, answers: Mapping[str, Any]) -> Any:
    """Return the value at a path, which starts with the name of a step. Raise `NoValue` if the path does not exist."""
    value = dig(answers, path)
    if value is ABSENT:
        raise NoValue(path)
    return value
