"""Steps with the named groups of a rule's patterns put in: `${name}` stands for what the group caught."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simulator.scenario.schema import Step


def work_of(step: Step, groups: Mapping[str, str]) -> dict[str, Any]:
    """A step as the arguments of its timer, with the named groups put in."""
    return {
        "action": step.action,
        "acts_on": filled(step.target, groups),
        "parameters": filled(step.parameters, groups),
        "hand_to": filled(step.scenario, groups),
    }


def filled(value: Any, groups: Mapping[str, str]) -> Any:
    """A value with every `${name}` replaced by the group of that name."""
    if isinstance(value, str):
        for name, text in groups.items():
            value = value.replace(f"${{{name}}}", text)
        return value
    if isinstance(value, dict):
        return {key: filled(item, groups) for key, item in value.items()}
    return [filled(item, groups) for item in value] if isinstance(value, list) else value
