"""Tests the conditions in a scenario's `where`. They are compiled once, as they are tested for every event."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal, InvalidOperation
from fnmatch import fnmatchcase
from typing import TypeAlias

from simulator.engine.scenario.language import pattern as patterns
from simulator.engine.text.json import JsonObject
from simulator.kernel.dataclass import dataclass

Look: TypeAlias = "Callable[[str], object]"
"""Returns the value at a dotted path, or ABSENT."""
IsScenario: TypeAlias = "Callable[[str], bool]"
"""Returns True if a string is the name of a scenario."""
Passes: TypeAlias = "Callable[[object, dict[str, str], IsScenario], bool]"
"""Returns True if a value passes. Adds the named groups of matching patterns to the dictionary."""

CARRIED = ("request", "body")
"""The first segments of paths that refer to the body of the request."""

ABSENT: object = object()


@dataclass(frozen=True, slots=True)
class Condition:
    """One entry in a `where`: a dotted path and its test."""

    path: str
    passes: Passes


def conditions(where: Mapping[str, object], globs: frozenset[str] = frozenset()) -> tuple[Condition, ...]:
    """Compile a `where`. Strings at the paths in `globs` are treated as glob patterns."""
    # Equality tests on the object's own fields come first, because they are cheapest and reject most objects.
    entries = sorted(where.items(), key=lambda entry: isinstance(entry[1], Mapping) or "." in entry[0])
    return tuple(Condition(path, _compile(wanted, path in globs)) for path, wanted in entries)


def all_hold(wanted: Iterable[Condition], look: Look, is_scenario: IsScenario) -> dict[str, str] | None:
    """If every condition is true, return the named groups of all patterns. Otherwise, return None."""
    # Patterns at several paths share one dictionary. If two of them have a group with the same name, the later one
    # wins.
    groups: dict[str, str] = {}
    for condition in wanted:
        if not condition.passes(look(condition.path), groups, is_scenario):
            return None
    return groups


def passes(wanted: object, value: object) -> bool:
    """Return True if a value passes the test in one entry of a `where`. No string is the name of a scenario."""
    return _compile(wanted, glob=False)(value, {}, lambda name: False)


def dig(value: object, path: str) -> object:
    """Return the value at a dotted path, with list indexes as segments, or `ABSENT` if there is none."""
    for part in path.split("."):
        # The value is nearly always a dict, and `type` is faster than `isinstance`.
        if type(value) is dict or isinstance(value, Mapping):
            if part not in value:
                return ABSENT
            value = value[part]
        elif isinstance(value, list) and part.isdecimal() and len(part) < 10 and int(part) < len(value):
            value = value[int(part)]
        else:
            return ABSENT
    return value


def strings_of(wanted: object) -> frozenset[str] | None:
    """Return the strings in a test as a set. Return None if the test is not a string or a list of strings."""
    options = wanted if isinstance(wanted, list) else [wanted]
    strings = frozenset(option for option in options if isinstance(option, str))
    return strings if all(isinstance(option, str) for option in options) else None


def literals_of(wanted: object) -> list[str]:
    """Return strings that every value contains that passes a test. A test may have others."""
    tests = wanted if isinstance(wanted, Mapping) else {"starts_with": wanted}
    matches = tests.get("matches")
    prefix = "" if matches is None else patterns.compiled(matches).prefix
    literals = (tests.get("starts_with"), tests.get("ends_with"), prefix)
    return [text for text in literals if isinstance(text, str) and text and text.isascii()]


def _compile(wanted: object, glob: bool) -> Passes:
    if isinstance(wanted, Mapping):
        return _compile_tests({name: given for name, given in wanted.items() if given is not None})
    strings = None if glob else strings_of(wanted)
    if strings is not None:
        return lambda value, groups, is_scenario: isinstance(value, str) and value in strings
    options = wanted if isinstance(wanted, list) else [wanted]
    return lambda value, groups, is_scenario: any(_equals(option, value, glob) for option in options)


def _equals(wanted: object, value: object, glob: bool) -> bool:
    if wanted is None:
        # The API omits some empty fields and returns null in others.
        return value is None or value is ABSENT
    # In Python, True == 1; in JSON they differ.
    if isinstance(wanted, bool) or isinstance(value, bool):
        return wanted is value
    if isinstance(wanted, str):
        return isinstance(value, str) and (fnmatchcase(value, wanted) if glob else value == wanted)
    # Amounts are decimal strings in the API and may be numbers in a file, so 5, "5" and "5.00" are equal. Numbers are
    # converted through str, because Decimal(0.1) != Decimal("0.1").
    number = number_of(value)
    return number is not None and number == Decimal(str(wanted))


def number_of(value: object) -> Decimal | None:
    """Convert a finite number, or a string that contains one, to a `Decimal`. Return None for any other value."""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal | str):
        return None
    try:
        number = Decimal(str(value))
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


_COMPARISONS = {"gt": operator.gt, "gte": operator.ge, "lt": operator.lt, "lte": operator.le}
_STRING_TESTS = frozenset({"starts_with", "ends_with", "matches", "names_scenario"})


def _compile_tests(given: JsonObject) -> Passes:
    exists: bool | None = given.get("exists")
    bounds = [(compare, Decimal(str(given[name]))) for name, compare in _COMPARISONS.items() if name in given]
    string_test = _string_test(given) if _STRING_TESTS & given.keys() else None

    def tested(value: object, groups: dict[str, str], is_scenario: IsScenario) -> bool:
        if exists is not None and exists != (value is not ABSENT and value is not None):
            return False
        if bounds:
            number = number_of(value)
            if number is None or not all(compare(number, bound) for compare, bound in bounds):
                return False
        return string_test is None or (isinstance(value, str) and string_test(value, groups, is_scenario))

    return tested


def _string_test(given: JsonObject) -> Callable[[str, dict[str, str], IsScenario], bool]:
    begins, ends = given.get("starts_with", ""), given.get("ends_with", "")
    matches: str | None = given.get("matches")
    names_scenario: bool | None = given.get("names_scenario")

    def tested(value: str, groups: dict[str, str], is_scenario: IsScenario) -> bool:
        if not value.startswith(begins) or not value.endswith(ends):
            return False
        named = value
        if matches is not None:
            captured = patterns.compiled(matches).search(value)
            if captured is None:
                return False
            groups.update(captured)
            named = captured.get("name", value)
        return names_scenario is None or is_scenario(named) == names_scenario

    return tested
