"""Whether a `where` holds: comparing what a rule asks for with what an object, a request or a beneficiary has.

A `where` is made ready once, as conditions: rules are held against every event, and hardly any is meant.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal, InvalidOperation
from fnmatch import fnmatchcase
from typing import TypeAlias

from simulator.engine.scenario.language import pattern as patterns
from simulator.engine.text.json import JsonObject
from simulator.kernel.dataclass import dataclass

Look: TypeAlias = "Callable[[str], object]"
"""The value at a dotted path, or ABSENT."""
IsScenario: TypeAlias = "Callable[[str], bool]"
"""Whether a text is the name of a scenario."""
Passes: TypeAlias = "Callable[[object, dict[str, str], IsScenario], bool]"
"""Whether a value passes; what a pattern captures is put into the groups."""

CARRIED = ("request", "body")
"""Paths that begin so lead to what the request carried."""

ABSENT: object = object()


@dataclass(frozen=True, slots=True)
class Condition:
    """One entry of a `where`: a dotted path, and whether the value there passes."""

    path: str
    passes: Passes


def conditions(where: Mapping[str, object], globs: frozenset[str] = frozenset()) -> tuple[Condition, ...]:
    """A `where` made ready. Values at the paths in `globs` are compared with the asked text as a glob.

    What is compared with a member of the object goes first: it costs least, and refuses most.
    """
    entries = sorted(where.items(), key=lambda entry: isinstance(entry[1], Mapping) or "." in entry[0])
    return tuple(Condition(path, _ready(wanted, path in globs)) for path, wanted in entries)


def all_hold(wanted: Iterable[Condition], look: Look, is_scenario: IsScenario) -> dict[str, str] | None:
    """The named groups of the patterns when every condition holds, else None."""
    # Patterns at several paths share one set of groups; of two with one name the later in the file wins.
    groups: dict[str, str] = {}
    for condition in wanted:
        if not condition.passes(look(condition.path), groups, is_scenario):
            return None
    return groups


def passes(wanted: object, value: object) -> bool:
    """Whether a value is what one entry of a `where` asks for, where no scenario is known by name."""
    return _ready(wanted, glob=False)(value, {}, lambda name: False)


def dig(value: object, path: str) -> object:
    """The value at a dotted path (members of objects, numbers for items of arrays), or ABSENT."""
    for part in path.split("."):
        if type(value) is dict or isinstance(value, Mapping):  # nearly always a dict, which is seen at once
            if part not in value:
                return ABSENT
            value = value[part]
        elif isinstance(value, list) and part.isdecimal() and len(part) < 10 and int(part) < len(value):
            value = value[int(part)]
        else:
            return ABSENT
    return value


def strings_of(wanted: object) -> frozenset[str] | None:
    """The texts of which a value must be one, None where other values pass or more is asked for."""
    options = wanted if isinstance(wanted, list) else [wanted]
    texts = frozenset(option for option in options if isinstance(option, str))
    return texts if all(isinstance(option, str) for option in options) else None


def _ready(wanted: object, glob: bool) -> Passes:
    if isinstance(wanted, Mapping):
        return _tested({name: given for name, given in wanted.items() if given is not None})
    texts = None if glob else strings_of(wanted)
    if texts is not None:
        return lambda value, groups, is_scenario: isinstance(value, str) and value in texts
    options = wanted if isinstance(wanted, list) else [wanted]
    return lambda value, groups, is_scenario: any(_equals(option, value, glob) for option in options)


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
_OF_TEXTS = frozenset({"starts_with", "ends_with", "matches", "names_scenario"})


def _tested(given: JsonObject) -> Passes:
    """What the tests of a value that were given amount to."""
    exists: bool | None = given.get("exists")
    bounds = [(compare, Decimal(str(given[name]))) for name, compare in _COMPARISONS.items() if name in given]
    of_text = _text_tested(given) if _OF_TEXTS & given.keys() else None

    def tested(value: object, groups: dict[str, str], is_scenario: IsScenario) -> bool:
        if exists is not None and exists != (value is not ABSENT and value is not None):
            return False
        if bounds:
            number = _number(value)
            if number is None or not all(compare(number, bound) for compare, bound in bounds):
                return False
        return of_text is None or (isinstance(value, str) and of_text(value, groups, is_scenario))

    return tested


def _text_tested(given: JsonObject) -> Callable[[str, dict[str, str], IsScenario], bool]:
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
