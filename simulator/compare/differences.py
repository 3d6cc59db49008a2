"""Differences between a recorded response and the simulated response, except for ids and times."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import TypeAlias, TypeGuard

from simulator.compare.verdicts import CHANGES, Meaning, listed_values
from simulator.kernel.clock import parse_timestamp
from simulator.kernel.dataclass import dataclass
from simulator.service import TOOLING

_COMPARED = TOOLING.compared()
_ID = re.compile(r"[a-z]{2,4}_[0-9A-Za-z]{6,}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|ORD-?\w+")
_TIME = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}")


Found: TypeAlias = Iterator[tuple[str, str, object, object]]
"""Yields (kind, pointer, recorded, simulated) for each difference between two responses."""


Differ: TypeAlias = Callable[[str, object, object], bool]
"""Takes a pointer and two unequal values of the same type, and returns True if they count as different."""


@dataclass(frozen=True)
class Difference:
    """One difference between a recorded response and the simulated response."""

    entry: int
    """The number of the call in the recording."""
    call: str
    kind: str
    """One of status, code, param, header, shape, type, state, span, value."""
    pointer: str
    recorded: object
    simulated: object
    """The value in the replay, in the simulator or at the service."""
    meaning: Meaning
    operation: str = ""
    """The operation of the call or the type of the event, in comparisons of a corpus."""

    def readable(self, *, is_service: bool = False) -> str:
        """Return the difference as a line. `is_service`: the other response is from the service, too."""
        what = f"{self.kind} at {self.pointer}" if self.pointer else self.kind
        side, meaning = ("now", CHANGES[self.meaning][0]) if is_service else ("simulated", self.meaning)
        values = f"recorded {self.recorded!r}, {side} {self.simulated!r}"
        return f"#{self.entry} {self.call}: {what}: {values} ({meaning})"


def is_id(value: object) -> TypeGuard[str]:
    return isinstance(value, str) and _ID.fullmatch(value) is not None


def is_time(value: object) -> TypeGuard[str]:
    return isinstance(value, str) and _TIME.match(value) is not None


def type_of(value: object) -> str:
    """Return the JSON type of a value. Strings that are timestamps or decimals have separate types."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, str):
        if is_time(value):
            return "timestamp"
        return "decimal string" if re.fullmatch(r"-?\d+(\.\d+)?", value) else "string"
    return "array" if isinstance(value, list) else "object"


def differing(place: str, *, values: bool, agree: Differ = lambda pointer, recorded, simulated: False) -> Differ:
    """Return a function that decides whether two values in a response are different.

    Values of enumerations in the contract are always compared, except in lists, whose rows may be about other objects.
    `place`: the location of the response in the contract, such as `get_quote 200` or `event transaction.failed`.
    `values`: compare all other values, too. `agree`: returns True if two values represent the same value.
    """

    def differ(pointer: str, recorded: object, simulated: object) -> bool:
        if values:
            return not agree(pointer, recorded, simulated)
        listed = listed_values(place, pointer) if not re.search(r"/[0-9]+(/|$)", pointer) else ()
        return recorded in listed or simulated in listed

    return differ


def compare_answers(
    recorded: object, simulated: object, *, values: bool = False, differ: Differ | None = None
) -> Found:
    """Yield the differences between two responses. `values`: compare lengths of lists and all values. `differ`: decides
    which values are compared, by default according to `values`.
    """
    theirs, ours = error_of(recorded), error_of(simulated)
    if theirs is not None and ours is not None:
        for name in ("code", "param"):
            if ours.get(name) != theirs.get(name):
                yield name, f"/error/{name}", theirs.get(name), ours.get(name)
        return
    yield from _compare(recorded, simulated, "", values, differ or differing("", values=values))


def error_of(answer: object) -> Mapping[str, object] | None:
    """Return the error in a response, or None if the response is not an error."""
    error = answer.get("error") if isinstance(answer, dict) else None
    return error if isinstance(error, dict) and "code" in error else None


def _compare(recorded: object, simulated: object, pointer: str, values: bool, differ: Differ) -> Found:
    if isinstance(recorded, dict) and isinstance(simulated, dict):
        for name in [*recorded, *(name for name in simulated if name not in recorded)]:
            place = f"{pointer}/{name}"
            if name not in simulated:
                yield "shape", place, type_of(recorded[name]), "absent"
            elif name not in recorded:
                yield "shape", place, "absent", type_of(simulated[name])
            elif name in _COMPARED.states and isinstance(recorded[name], str) and recorded[name] != simulated[name]:
                yield "state", place, recorded[name], simulated[name]
            elif not (values and name in _COMPARED.drawn and type_of(recorded[name]) == type_of(simulated[name])):
                yield from _compare(recorded[name], simulated[name], place, values, differ)
        yield from _spans(recorded, simulated, pointer)
    elif isinstance(recorded, list) and isinstance(simulated, list):
        if len(recorded) != len(simulated) and values:
            yield "value", f"{pointer} (length)", len(recorded), len(simulated)
        for index, (theirs, ours) in enumerate(zip(recorded, simulated, strict=False)):
            yield from _compare(theirs, ours, f"{pointer}/{index}", values, differ)
    elif not _same_type(recorded, simulated):
        yield "type", pointer, type_of(recorded), type_of(simulated)
    elif recorded != simulated and not (is_id(recorded) or is_time(recorded)) and differ(pointer, recorded, simulated):
        yield "value", pointer, recorded, simulated


def _same_type(recorded: object, simulated: object) -> bool:
    theirs, ours = type_of(recorded), type_of(simulated)
    texts = ("string", "decimal string")
    return theirs == ours or (theirs in texts and ours in texts and not isinstance(recorded, int))


def _spans(recorded: dict[str, object], simulated: dict[str, object], pointer: str) -> Found:
    for start, end in _COMPARED.spans:
        theirs, ours = _span(recorded, start, end), _span(simulated, start, end)
        if theirs is not None and ours is not None and abs(theirs - ours) > 1000:
            yield "span", f"{pointer}/{end} after {start}", f"{theirs // 1000} s", f"{ours // 1000} s"


def _span(answer: dict[str, object], start: str, end: str) -> int | None:
    first, last = answer.get(start), answer.get(end)
    with suppress(ValueError):
        return parse_timestamp(last) - parse_timestamp(first) if is_time(first) and is_time(last) else None
    return None
