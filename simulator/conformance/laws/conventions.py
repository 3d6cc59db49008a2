"""What the specification says of all of its resources at once."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from simulator.conformance.laws.bench import Answer, always, shown

_UTC = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d([.,]\d+)?)?(Z|[+-]00:?00)")


@always("time.utc", clause="General conventions: ISO 8601 UTC")
def utc(answer: Answer) -> Iterator[tuple[str, str | None]]:
    """Timestamps are ISO 8601 in UTC."""
    for place, value in _moments("", answer.body):
        yield place, None if _UTC.fullmatch(value) else f"{place} is {shown(value)}, which is not in UTC"


def _moments(place: str, value: object) -> Iterator[tuple[str, str]]:
    """Every text under a name that ends with _at, and deposit_by, by its dotted place."""
    if isinstance(value, Mapping):
        for name, member in value.items():
            inner = f"{place}.{name}" if place else name
            if isinstance(member, str) and (name.endswith("_at") or name == "deposit_by"):
                yield inner, member
            else:
                yield from _moments(inner, member)
    elif isinstance(value, list):
        for item in value:
            yield from _moments(f"{place}[]", item)
