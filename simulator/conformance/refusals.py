"""Refusals as data: a call that is changed in one thing, and how it is turned down."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from simulator.conformance.bench import Bench
from simulator.engine.text.json import JsonObject
from simulator.kernel.dataclass import dataclass


@dataclass(frozen=True)
class Refusal:
    """One call that has to be refused in just this way."""

    operation: str
    status: int
    code: str | None = None
    param: str | None = None
    """The parameter that the error names; None where that is not judged."""
    body: JsonObject | None = None
    """A body that would be accepted."""
    changed: Mapping[str, object] = field(default_factory=dict)
    """Members of the body that are replaced, by their dotted places."""
    without: str | None = None
    """The member of the body that is left out."""
    query: Mapping[str, object] | None = None
    ids: Mapping[str, str] = field(default_factory=dict)

    def sent(self) -> JsonObject | None:
        """The body as it is sent."""
        if self.body is None:
            return None
        body = {name: value for name, value in self.body.items() if name != self.without}
        for place, value in self.changed.items():
            body = _replaced(body, place.split("."), value)
        return body


def _replaced(body: JsonObject, place: list[str], value: object) -> JsonObject:
    name, *inner = place
    return {**body, name: _replaced(body[name], inner, value) if inner else value}


@dataclass(frozen=True)
class Refusals:
    """A law that is only refusals: every one of them is judged."""

    rows: tuple[Refusal, ...]

    def __call__(self, bench: Bench) -> None:
        for row in self.rows:
            answer = bench.call(row.operation, row.sent(), query=row.query, path=row.ids)
            bench.refused(answer, row.status, row.code, param=row.param)


def refusals(*rows: Refusal) -> Refusals:
    return Refusals(rows)
