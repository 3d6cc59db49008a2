"""Whether a `where` holds: comparing what a rule asks for with what an object, a request or a beneficiary has."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal, InvalidOperation
from fnmatch import fnmatchcase
from typing import TypeAlias

from simulator.scenario.parts import Tests
from simulator.scenario.pattern import compiled

Look: TypeAlias = "Callable[[str], object]"
"""The value at a dotted path, or ABSENT."""

ABSENT: object = object()


def dig(value: object, path: str) -> object:
    """The value at a dotted path (members of objects, numbers for items of arrays), or ABSENT."""
    for part in path.split("."):
        if isinstance(value, Mapping) and part in value:
            value = value[part]
        elif isinstance(value, list) and part.isdecimal() and len(part) < 10 and int(part) < len(value):
            value = value[int(part)]
        else:
            return ABSENT
    return value


def holds(
    where: Mapping[str, object],
    look: Look,
    *,
    globs: frozenset[str] = frozenset(),
    is_scenario: Callable[[str], bool] = lambda name: False,
) -> dict[str, str] | None:
    """The named groups of the patterns when everything holds, else None.

    Values at the paths in `globs` are compared with the asked text as a glob.
    """
    # Patterns at several paths share one set of groups; of two with one name the later in the file wins.
    groups: dict[str, str] = {}
    for path, wanted in where.items():
        value = look(path)
        if isinstance(wanted, Tests):
            if not _passes(wanted, value, groups, is_scenario):
                return None
        elif not any(_equals(one, value, path in globs) for one in (wanted if isinstance(wanted, list) else [wanted])):
            return None
    return groups


def _equals(wanted: object, value: object, glob: bool) -> bool:
    if wanted is None:
        return value is None or value is ABSENT  # the interface leaves out what it has no value for, or says null
    # A boolean is an int to Python, so `1` would equal `true`; to JSON they are different values.
    if isinstance(wanted, bool) or isinstance(value, bool):
        return wanted is value
    if isinstance(wanted, str):
        return isinstance(value, str) and (fnmatchcase(value, wanted) if glob else value == wanted)
    # Amounts are decimal strings on the wire and numbers in a file: 5, "5" and "5.00" are one amount. Numbers go by
    # way of their text, because Decimal(0.1) is not 0.1.
    number = _number(value)
    return number is not None and number == Decimal(str(wanted))


def _number(value: object) -> Decimal | None:
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal | str):
        return None
    try:
        number = Decimal(str(value))
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


_COMPARISONS: Mapping[str, Callable[[Decimal, Decimal], bool]] = {
    "gt": lambda value, bound: value > bound,
    "gte": lambda value, bound: value >= bound,
    "lt": lambda value, bound: value < bound,
    "lte": lambda value, bound: value <= bound,
}


def _passes(tests: Tests, value: object, groups: dict[str, str], is_scenario: Callable[[str], bool]) -> bool:
    given = tests.given
    if "exists" in given and given["exists"] != (value is not ABSENT and value is not None):
        return False
    for name, compare in _COMPARISONS.items():
        if name in given:
            number = _number(value)
            if number is None or not compare(number, given[name]):
                return False
    if not {"starts_with", "ends_with", "matches", "names_scenario"} & set(given):
        return True
    if not isinstance(value, str):
        return False
    if not value.startswith(given.get("starts_with", "")) or not value.endswith(given.get("ends_with", "")):
        return False
    named = value
    if "matches" in given:
        captured = compiled(given["matches"]).search(value)
        if captured is None:
            return False
        groups.update(captured)
        named = captured.get("name", value)
    return "names_scenario" not in given or is_scenario(named) == given["names_scenario"]
