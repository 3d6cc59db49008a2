"""The examples of the contract: real calls and events of the included scenarios.

Every example has the name of its scenario, so that a reader can run it. Examples of `every-operation` come first: in
its order, they all succeed in a new world.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from contracts.generator.evidence import TOUR, Evidence, ObservedCall
from contracts.generator.schemas import Schema
from simulator.engine.records.listing import Listing
from simulator.engine.rows.operation import Operation
from simulator.engine.text.json import JsonObject

MOST = 3
"""The largest number of examples of a success."""
_SHORT_LIST = 3
"""The preferred maximum length of an example list."""
_WORD = re.compile(r"[A-Za-z_]{1,20}")


class Examples:
    """The evidence of the scenarios, by operation and event."""

    def __init__(self, found: Iterable[Evidence]) -> None:
        found = sorted(found, key=lambda one: one.name)
        self._calls: dict[str, list[ObservedCall]] = defaultdict(list)
        self._refusals: dict[str, ObservedCall] = {}
        self.events: dict[str, JsonObject] = {}
        """The first event of each type."""
        for one in found:
            for call in one.calls:
                self._calls[call.operation].append(call)
                if call.operation and call.code:
                    self._refusals.setdefault(call.code, call)
            for event in one.envelopes:
                self.events.setdefault(event["type"], event)

    def successes(self, row: Operation) -> list[ObservedCall]:
        """A few calls of an operation that went well, as different from each other as can be."""
        first = self._toured(row)
        good = [call for call in self._calls[row.name] if call.status == row.status]
        if isinstance(row.query, Listing):
            filled = [call for call in good if call.answer["data"]]
            good = [call for call in filled if len(call.answer["data"]) <= _SHORT_LIST] or filled or good
            first = [call for call in first if call.answer["data"]]
        return _varied(first, good)

    def _toured(self, row: Operation) -> list[ObservedCall]:
        return [call for call in self._calls[row.name] if call.scenario == TOUR][:1]

    def parameters(self, row: Operation, parameters: Iterable[Schema]) -> list[Schema]:
        """The parameters of an operation, with what the tour sends for them as `example`."""
        sent = {key: value for call in self._toured(row) for key, value in _sent(row, call).items()}
        return [
            {**parameter, "example": _read(sent[key], parameter["schema"])} if key in sent else parameter
            for parameter in parameters
            for key in [(parameter.get("in"), parameter.get("name"))]
        ]

    def refusals(self, row: Operation) -> Mapping[str, Schema]:
        """By error code the first call of an operation that was refused with it."""
        examples: dict[str, Schema] = {}
        for call in self._calls[row.name]:
            if call.code:
                examples.setdefault(call.code, {"value": call.answer})
        return examples

    def refusals_of_all(self) -> Mapping[str, Schema]:
        """By error code the first call of any operation that was refused with it."""
        return {code: {"value": call.answer} for code, call in self._refusals.items()}


def named(calls: Iterable[ObservedCall], shown: Callable[[ObservedCall], Any]) -> Schema:
    """Examples under the names of their scenarios; a second one of the same scenario is numbered."""
    examples: Schema = {}
    for call in calls:
        number = sum(name.partition(" ")[0] == call.scenario for name in examples) + 1
        name = call.scenario if number == 1 else f"{call.scenario} {number}"
        examples[name.replace(" ", "-")] = {"value": shown(call)}
    return examples


def _varied(first: Sequence[ObservedCall], calls: Sequence[ObservedCall]) -> list[ObservedCall]:
    """At most MOST of the calls, after `first`: each is the one that shows most of what those before it do not show."""
    chosen = list(first)
    shown = {feature for call in first for feature in _of_call(call)}
    features = [_of_call(call) for call in calls]
    while len(chosen) < MOST and features:
        gains = [len(own - shown) for own in features]
        best = gains.index(max(gains))
        if chosen and gains[best] == 0:
            break
        chosen.append(calls[best])
        shown |= features[best]
    return chosen


def _of_call(call: ObservedCall) -> set[str]:
    return set(_features({"body": call.body, "answer": call.answer}))


def _features(value: Any, place: str = "") -> Iterator[str]:
    """Which members there are, and those that are one word (`onramp`, `celo`, `KES`) with what they say."""
    if isinstance(value, dict):
        for name, member in value.items():
            yield from _features(member, f"{place}/{name}")
    elif isinstance(value, list):
        for item in value:
            yield from _features(item, place)
    elif value is not None:
        yield place
        if isinstance(value, str) and _WORD.fullmatch(value):
            yield f"{place}={value}"


def _sent(row: Operation, call: ObservedCall) -> dict[tuple[str, str], str]:
    """Return the path and query parameters of a call, by location and name."""
    parts = urlsplit(call.path)
    path = re.fullmatch(re.sub(r"{(\w+)}", r"(?P<\1>[^/]+)", row.path), parts.path)
    return {
        **{("path", name): value for name, value in (path.groupdict() if path else {}).items()},
        **{("query", name): value for name, value in parse_qsl(parts.query)},
    }


def _read(text: str, schema: Schema) -> Any:
    """A parameter as its schema has it."""
    if schema.get("type") == "array":
        return text.split(",")
    return int(text) if schema.get("type") == "integer" else text
