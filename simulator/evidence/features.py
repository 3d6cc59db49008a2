"""Features: properties of a trace by which two services can be compared.

A feature does not depend on ids, amounts or times. Examples are the status and code of a refusal, the fields of a
response, the format of a string, the larger of two numbers, the equality of two strings, and the number of events. A
probe compares a few features, so accounts, rates and fees may differ between the simulator and the service.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import combinations
from typing import NamedTuple, TypeAlias

from simulator.engine.text.json import JsonObject, Shown
from simulator.evidence.flow import Step, Trace

Features: TypeAlias = dict[str, str]
"""Features by name. A feature that a trace does not show is absent."""

Formula: TypeAlias = Callable[[Shown], str | None]
"""Computes a feature of a whole trace from the bodies, by step, or returns None if the trace does not determine it."""

ABSENT = "absent"
_DECIMAL = re.compile(r"\d{1,18}(\.\d{1,18})?")
_WORD = re.compile(r"[a-z]+(_[a-z]+)*")
_DATE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:?\d\d)")
_FIELD = re.compile(r"\w+")
_MOST_NUMBERS = 14
_DEEPEST = 12
_OWN_HEADERS = re.compile(r"idempot|retry-after|allow$|x-request-id")


def features_of(trace: Trace, formulas: Mapping[str, Formula]) -> Features:
    """Return all features of a trace. The names of event features begin with `event `."""
    found: Features = {}
    numbers: dict[str, dict[str, Decimal]] = {}
    strings: dict[str, dict[str, str]] = {}
    bodies: JsonObject = {}
    for exchange in trace:
        name = exchange.step.name
        if exchange.reply is not None:
            bodies[name] = exchange.reply.body
            found[f"{name} status"] = str(exchange.reply.status)
            for header, value in exchange.reply.headers.items():
                if _OWN_HEADERS.search(header):
                    found[f"{name} header {header}"] = _form(value)
            _read(f"{name} body", exchange.reply.body, exchange.step, found, numbers, strings)
        counts = Counter[str]()
        for event in exchange.events:
            kind = str(event.get("type"))
            counts[kind] += 1
            if counts[kind] == 1:
                shown = event.get("data", {}).get("object")
                _read(f"event {name} {kind}", shown, exchange.step, found, numbers, strings)
        for kind, number in counts.items():
            found[f"event {name} {kind} count"] = str(number)
    found.update(_within(numbers))
    found.update(_equal_strings(strings))
    found.update(_across(numbers, strings))
    for name, formula in formulas.items():
        if (result := formula(bodies)) is not None:
            found[name] = result
    return found


def _read(
    place: str, value: object, step: Step, found: Features, numbers: dict[str, dict[str, Decimal]],
    strings: dict[str, dict[str, str]],
) -> None:  # fmt: skip
    if isinstance(value, list):  # wrap a bare list, so that it can be compared with a list in an envelope
        found[f"{place} bare"] = "true"
        value = {"data": value}
    for path, leaf in _leaves(value, step.rows):
        key = f"{place}{path}"
        found[key] = _form(leaf)
        if isinstance(leaf, str) and not _DECIMAL.fullmatch(leaf):
            strings.setdefault(place, {})[path] = leaf
        elif isinstance(leaf, bool) or not isinstance(leaf, str | int | float | Decimal):
            continue
        elif (number := Decimal(str(leaf))).is_finite():
            numbers.setdefault(place, {})[path] = number


def _leaves(value: object, rows: Sequence[str], path: str = "", depth: int = 0) -> Iterator[tuple[str, object]]:
    if depth > _DEEPEST:
        return
    yield path, value
    if isinstance(value, Mapping):
        for key, one in value.items():
            yield from _leaves(one, rows, f"{path}.{key}", depth + 1)
    elif isinstance(value, list) and rows:
        for one in value:
            if isinstance(one, Mapping):
                at = f"{path}[{'/'.join(str(one.get(key)) for key in rows)}]"
                yield from _leaves(one, (), at, depth + 1)
    elif isinstance(value, list):
        yield f"{path} length", str(min(len(value), 3))
        for one in value[:1]:
            yield from _leaves(one, rows, f"{path}[0]", depth + 1)


def _form(value: object) -> str:
    if value is None or isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Mapping):
        return "object"
    if isinstance(value, list):
        return "list"
    if isinstance(value, int | float | Decimal):
        return "number"
    text = str(value)
    if _WORD.fullmatch(text) and len(text) < 40:
        return text
    if _DECIMAL.fullmatch(text):
        decimals = len(text.partition(".")[2])
        return "decimal of two or more places" if decimals >= 2 else "decimal of fewer places"
    if found := _DATE.fullmatch(text):
        return f"time{' with fraction' if found[1] else ''} {'Z' if found[2] == 'Z' else 'offset'}"
    if re.fullmatch(r"[A-Z][a-z]{2}, .* GMT", text):
        return "http date"
    return "text " + re.sub(r"[^A-Za-z0-9]+", lambda m: m[0][:1], re.sub(r"[A-Za-z0-9]+", "x", text))[:24]


def _sign(a: Decimal, b: Decimal) -> str:
    return "<" if a < b else ">" if a > b else "="


def _within(numbers: Mapping[str, Mapping[str, Decimal]]) -> Iterator[tuple[str, str]]:
    """Compare the numbers in one body. The features say which number is larger, and which is the sum of two others."""
    for place, by_path in numbers.items():
        rows: dict[str, list[tuple[str, Decimal]]] = {}
        for path, number in by_path.items():
            rows.setdefault(path.rpartition("]")[0], []).append((path, number))
        for row in rows.values():
            chosen = sorted(row[:_MOST_NUMBERS])
            wholes: dict[Decimal, list[str]] = {}
            for path, number in chosen:
                wholes.setdefault(number, []).append(path)
            for (one, a), (other, b) in combinations(chosen, 2):
                yield f"{place}{one} : {other}", _sign(a, b)
                for whole in wholes.get(a + b, ()) if a > 0 and b > 0 else ():
                    yield f"{place}{one} + {other} = {whole}", "true"


def _equal_strings(strings: Mapping[str, Mapping[str, str]]) -> Iterator[tuple[str, str]]:
    for place, by_path in strings.items():
        for (one, a), (other, b) in combinations(by_path.items(), 2):
            if a == b and len(a) >= 8:
                yield f"{place}{one} = {other}", "true"


def _across(
    numbers: Mapping[str, Mapping[str, Decimal]], strings: Mapping[str, Mapping[str, str]]
) -> Iterator[tuple[str, str]]:
    """Compare the values of the same field in the bodies of two steps."""
    for (first, a), (second, b) in combinations(numbers.items(), 2):
        for path in a.keys() & b.keys():
            yield f"{first}{path} : {second}", _sign(a[path], b[path])
    for (first, c), (second, d) in combinations(strings.items(), 2):
        for path in c.keys() & d.keys():
            yield f"{first}{path} = {second}", str(c[path] == d[path]).lower()


class ReplyForm(NamedTuple):
    """The statuses and fields of the responses that a step of a flow can get."""

    answers: frozenset[str]
    """The possible statuses, with the code of a refusal."""
    fields: frozenset[str]
    """The fields that every response has unless it is a refusal."""

    def covers(self, other: ReplyForm) -> bool:
        """Return True if a response of the form `other` also counts as a response of this form. `other` must have no
        other statuses or error codes. Unless it is a refusal, it must also have at least half of this form's fields.
        """
        if not other.answers <= self.answers:
            return False
        is_refusal = all(answer[:1] > "3" for answer in other.answers)
        return is_refusal or 2 * len(self.fields & other.fields) >= len(self.fields)


def reply_forms(features: Features) -> dict[str, ReplyForm]:
    """Return the form (the status with the error code, and the field names) of each response in a trace, by step."""
    found = {}
    for name, status in features.items():
        step, _, rest = name.partition(" ")
        if rest != "status":
            continue
        code = features.get(f"{step} body.error.code", "")
        start = f"{step} body."
        fields = {key[len(start) :] for key in features if key.startswith(start)} if not code else set()
        top = frozenset(field for field in fields if _FIELD.fullmatch(field))
        found[step] = ReplyForm(frozenset({f"{status} {code}".rstrip()}), top)
    return found


def tells(name: str, one: Mapping[str, Sequence[str]], other: Mapping[str, Sequence[str]]) -> bool:
    """Return True if the values of a feature under one alternative differ from all its values under another
    alternative.
    """
    return set(one[name]).isdisjoint(other[name])
