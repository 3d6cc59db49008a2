"""Predictions: which features tell the sides of an assumption apart, and how few of them suffice."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import TypeAlias

from simulator.evidence.features import ABSENT, Features, differences

Prediction: TypeAlias = Mapping[str, Sequence[str]]
"""The possible values of each feature on one side."""
_MOST_VALUES = 3
"""The values that a feature may have on one side."""


def same(sides: Mapping[str, Features]) -> set[str]:
    """Return the features that have the same value on all sides."""
    names = {name for one in sides.values() for name in one}
    return {name for name in names if len({one.get(name, ABSENT) for one in sides.values()}) == 1}


def is_robust(values: Sequence[set[str]]) -> bool:
    """Return True if a feature has few values on each side, and two sides have none in common.

    Other assumptions choose among a few statuses, codes and forms, so one value would be too strict.
    """
    return all(len(one) <= _MOST_VALUES for one in values) and any(a.isdisjoint(b) for a, b in combinations(values, 2))


def tells(name: str, one: Prediction, other: Prediction) -> bool:
    """Return True if a feature has no value in common on two sides."""
    return set(one[name]).isdisjoint(other[name])


def told(names: Iterable[str], predictions: Mapping[str, Prediction]) -> set[tuple[str, str]]:
    """Return the pairs of sides that some of the features tell apart."""
    pairs = list(combinations(predictions, 2))
    return {(a, b) for name in names for a, b in pairs if tells(name, predictions[a], predictions[b])}


def fewest(names: Iterable[str], predictions: Mapping[str, Prediction]) -> list[str]:
    """Choose few features that tell all the pairs of sides apart that any of the features tell apart.

    Features of responses come before those of events, and short names before long ones.
    """
    order = sorted(names, key=lambda name: (is_of_event(name), name.count(" "), len(name), name))
    chosen: list[str] = []
    for name in order:
        if told([*chosen, name], predictions) > told(chosen, predictions):
            chosen.append(name)
    return chosen


def differs(one: Features, other: Features, *, also_events: bool) -> bool:
    """Return True if two traces differ, in a response or, with `also_events`, anywhere."""
    return any(also_events or not is_of_event(name) for name in differences(one, other))


def is_of_event(name: str) -> bool:
    """Return True if a feature is of an event."""
    return name.startswith("event ") or " : event " in name or " = event " in name
