"""Predictions: the features that distinguish the sides of an assumption (its default and its alternatives), and a
smallest sufficient set of them.
"""

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
    """Return the features that have the same value under an assumption and all its alternatives."""
    names = {name for one in sides.values() for name in one}
    return {name for name in names if len({one.get(name, ABSENT) for one in sides.values()}) == 1}


def is_robust(values: Sequence[set[str]]) -> bool:
    """Return True if a feature has few values on each side of an assumption (its default or an alternative), and two
    sides share no value.

    Under other assumptions, the service may use a different status, code or format. So requiring a single value would
    be too strict.
    """
    return all(len(one) <= _MOST_VALUES for one in values) and any(a.isdisjoint(b) for a, b in combinations(values, 2))


def tells(name: str, one: Prediction, other: Prediction) -> bool:
    """Return True if a feature has no value in common under two alternatives of an assumption."""
    return set(one[name]).isdisjoint(other[name])


def told(names: Iterable[str], predictions: Mapping[str, Prediction]) -> set[tuple[str, str]]:
    """Return the pairs of alternatives that at least one of the features distinguishes."""
    pairs = list(combinations(predictions, 2))
    return {(a, b) for name in names for a, b in pairs if tells(name, predictions[a], predictions[b])}


def fewest(names: Iterable[str], predictions: Mapping[str, Prediction]) -> list[str]:
    """Choose few features that distinguish the same pairs of sides as all the features together.

    Response features are preferred to event features, and short names to long names.
    """
    order = sorted(names, key=lambda name: (is_of_event(name), name.count(" "), len(name), name))
    chosen: list[str] = []
    for name in order:
        if told([*chosen, name], predictions) > told(chosen, predictions):
            chosen.append(name)
    return chosen


def differs(one: Features, other: Features, *, also_events: bool) -> bool:
    """Return True if two traces differ in a response, or in any feature if `also_events` is True."""
    return any(also_events or not is_of_event(name) for name in differences(one, other))


def is_of_event(name: str) -> bool:
    """Return True if the feature is an event feature."""
    return name.startswith("event ") or " : event " in name or " = event " in name
