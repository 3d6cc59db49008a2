"""What `${…}` stands for: in a rule the named groups of its patterns, in a drive what earlier steps answered."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from simulator.scenario.matching import ABSENT, dig
from simulator.scenario.schema import RuleStep

PLACEHOLDER = re.compile(r"\$\{([^}]*)\}")


class NoValue(Exception):
    """A `${…}` of a drive that no answer so far has."""

    def __init__(self, path: str) -> None:
        super().__init__(f"`${{{path}}}` has no value: no answer so far has it")


def work_of(step: RuleStep, groups: Mapping[str, str]) -> dict[str, Any]:
    """A step as the arguments of its timer, with the named groups put in."""
    return {
        "action": step.action,
        "acts_on": filled(step.target, groups),
        "parameters": filled(step.parameters, groups),
        "hand_to": filled(step.scenario, groups),
    }


def filled(value: Any, groups: Mapping[str, str]) -> Any:
    """A value with every `${name}` replaced by the group of that name; what names no group stays as it is."""
    if isinstance(value, str):
        for name, text in groups.items():
            value = value.replace(f"${{{name}}}", text)
        return value
    if isinstance(value, dict):
        return {key: filled(item, groups) for key, item in value.items()}
    return [filled(item, groups) for item in value] if isinstance(value, list) else value


def fill(value: Any, answers: Mapping[str, Any]) -> Any:
    """A value with every `${step.path}` put in; a text that is nothing else becomes the value itself. NoValue."""
    if isinstance(value, dict):
        return {key: fill(item, answers) for key, item in value.items()}
    if isinstance(value, list):
        return [fill(item, answers) for item in value]
    if not isinstance(value, str):
        return value
    whole = PLACEHOLDER.fullmatch(value)
    if whole is not None:
        return value_at(whole[1], answers)
    return PLACEHOLDER.sub(lambda found: str(value_at(found[1], answers)), value)


def value_at(path: str, answers: Mapping[str, Any]) -> Any:
    """What the answer to a step has at a path that begins with the step's name; NoValue."""
    value = dig(answers, path)
    if value is ABSENT:
        raise NoValue(path)
    return value
