"""What `${…}` stands for: in a rule the named groups of its patterns, in a drive what earlier steps answered."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from simulator.engine.scenario.play.matching import ABSENT, dig
from simulator.engine.scenario.play.script import Step
from simulator.engine.text.json import with_texts

PLACEHOLDER = re.compile(r"\$\{([^}]*)\}")


class NoValue(Exception):
    """A `${…}` of a drive that no answer so far has."""

    def __init__(self, path: str) -> None:
        super().__init__(f"`${{{path}}}` has no value: no answer so far has it")


def work_of(step: Step, groups: Mapping[str, str]) -> dict[str, Any]:
    """A step as the arguments of its timer, with the named groups put in."""
    return {
        "action": step.action,
        "acts_on": filled(step.target, groups),
        "parameters": filled(step.parameters, groups),
        "hand_to": filled(step.scenario, groups),
    }


def filled(value: Any, groups: Mapping[str, str]) -> Any:
    """A value with every `${name}` replaced by the group of that name; what names no group stays as it is."""

    def put_in(text: str) -> str:
        for name, group in groups.items():
            text = text.replace(f"${{{name}}}", group)
        return text

    return with_texts(value, put_in)


def fill(value: Any, answers: Mapping[str, Any]) -> Any:
    """A value with every `${step.path}` put in; a text that is nothing else becomes the value itself. NoValue."""

    def put_in(text: str) -> Any:
        whole = PLACEHOLDER.fullmatch(text)
        if whole is not None:
            return value_at(whole[1], answers)
        return PLACEHOLDER.sub(lambda found: str(value_at(found[1], answers)), text)

    return with_texts(value, put_in)


def value_at(path: str, answers: Mapping[str, Any]) -> Any:
    """What the answer to a step has at a path that begins with the step's name; NoValue."""
    value = dig(answers, path)
    if value is ABSENT:
        raise NoValue(path)
    return value
