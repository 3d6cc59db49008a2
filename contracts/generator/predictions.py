"""Predictions: the features that distinguish the sides of an assumption (its default and its alternatives), and a
smallest sufficient set of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import TypeAlias

from simulator.evidence.features import ABSENT, Features, tells

Prediction: TypeAlias = Mapping[str, Sequence[str]]
"""The possible values of each feature on one side."""
_MOST_VALUES = 3
"""The values that a feature may have on one side."""


def same(sides: Mapping[str, Features]) -> set[str]:
    """Return the features that have the same value on all sides (the default of an assumption and its alternatives)."""
    names = {name for one in sides.values() for name in one}
    return {name for name in names if len({one.get(name, ABSENT) for one in sides.values()}) == 1}


def is_robust(values: Sequence[set[str]]) -> bool:
    """`values` contains the values of one feature on each side of an assumption (its default and its alternatives).
    Return True if each side has only a few values, and at least two sides have no value in common.

    A side can have several values, because the status, code or format may also depend on other assumptions.
    """
    return all(len(one) <= _MOST_VALUES for one in values) and any(a.isdisjoint(b) for a, b in combinations(values, 2))


def told(names: Iterable[str], predictions: Mapping[str, Prediction]) -> set[tuple[str, str]]:
    """Return the pairs of alternatives that at least one of the features distinguishes."""
    pairs = list(combinations(predictions, 2))
    return {(a, b) for name in names for a, b in pairs if tells(name, predictions[a], predictions[b])}


def fewest(names: Iterable[str], predictions: Mapping[str, Prediction]) -> list[str]:
    """Choose few features that distinguish the same pairs of alternatives as all the features together.

    Response features are preferred to event features, and short names to long names.
    """
    order = sorted(names, key=lambda name: (is_of_event(name), name.count(" "), len(name), name))
    chosen: list[str] = []
    for name in order:
        if told([*chosen, name], predictions) > told(chosen, predictions):
            chosen.append(name)
    return chosen


def differs(one: Features, other: Features, *, also_events: bool) -> bool:
    """Return True if two traces differ in a feature of a response, or, if `also_events` is True, in a feature of an
    event.
    """
    return any(also_events or not is_of_event(name) for name in differences(one, other))


def is_of_event(name: str) -> bool:
    """Return True if the name of a feature shows that it describes an event, not a response."""
    return name.startswith("event ") or " : event " in name or " = event " in name


def differences(one: Features, other: Features) -> set[str]:
    """Return the names of the features that differ between two traces."""
    return {name for name in one.keys() | other.keys() if one.get(name, ABSENT) != other.get(name, ABSENT)}
