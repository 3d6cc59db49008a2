"""Input and output of the advice detectors: journalled API requests, and observations that support findings."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any, TypeAlias

from simulator.engine.clients.tool_mark import marks
from simulator.engine.insight.tally import REPLAYED_HEADER, code_of, query_of
from simulator.engine.records.advice import Severity
from simulator.engine.records.requests import JournalEntry, requests_of
from simulator.engine.rows.operation import Operation
from simulator.engine.text.json import object_in
from simulator.engine.vocabulary.vocabulary import vocabulary_of
from simulator.kernel.clock import SECOND_MS
from simulator.kernel.dataclass import dataclass
from simulator.kernel.world import World

INFO: Severity = "info"


@dataclass(frozen=True)
class Signal:
    """One observation that supports a finding about a subject, such as an order or an endpoint."""

    kind: str
    subject: str
    at_ms: int | None
    """The simulated time, or None if the signal has no time."""
    requests: tuple[str, ...] = ()
    """The ids of the API requests that are evidence."""
    evidence: tuple[str, ...] = ()
    """The ids of other evidence."""
    detail: str = ""
    """The text that replaces `{detail}` in the message for this kind of finding."""
    severity: Severity | None = None
    """The severity, or None if the usual severity of this kind of finding applies."""


Signals: TypeAlias = Iterator[Signal | None]
"""The signals of a detector, with None between chunks of long work, so that other requests can be handled."""

SLICE = 1_000
"""The number of requests or deliveries read between two pauses. Reading them takes a few milliseconds."""


class JournaledCall:
    def __init__(self, place: int, row: JournalEntry, operation: Operation, errors: Container[str]) -> None:
        self.place = place
        self.row = row
        self.operation = operation
        self._errors = errors

    @property
    def succeeded(self) -> bool:
        return 200 <= self.row.status <= 299

    @property
    def is_replay(self) -> bool:
        return any(name == REPLAYED_HEADER for name, _ in self.row.answer_headers)

    @property
    def code(self) -> str:
        # Most requests succeed, and the first access to a cached property takes a lock.
        return "" if self.row.status < 400 else self._error_code

    @cached_property
    def _error_code(self) -> str:
        return code_of(self.row, self._errors)

    @cached_property
    def body(self) -> Mapping[str, Any]:
        """The JSON object in the request body, or {} for any other body."""
        return object_in(self.row.body)

    @cached_property
    def answer(self) -> Mapping[str, Any]:
        return object_in(self.row.response)

    @property
    def query(self) -> Mapping[str, str]:
        return query_of(self.row.path)

    @property
    def bare_path(self) -> str:
        return self.row.path.partition("?")[0]

    @property
    def identity(self) -> tuple[object, ...]:
        """A key that is the same for identical requests."""
        return (self.row.environment, self.row.method, self.row.path, self.row.body, self.row.public_key)

    def header(self, name: str) -> str | None:
        return next((value for key, value in self.row.headers if key == name), None)

    @property
    def retry_after_ms(self) -> int | None:
        text = next((value for name, value in self.row.answer_headers if name == "Retry-After"), "")
        return int(text) * SECOND_MS if text.isdigit() else None

    def wait_ms(self, earlier: JournaledCall) -> float:
        """Return the wait after the earlier response in milliseconds: the longer of real and simulated time."""
        wait_ms = float(self.row.at_ms - earlier.row.at_ms)
        if not self.row.wall_ms or not earlier.row.wall_ms:
            return wait_ms
        wall_ms = self.row.wall_ms - earlier.row.wall_ms - earlier.row.duration_ms
        return max(wait_ms, wall_ms) if wall_ms > -SECOND_MS else wait_ms


class Traffic:
    """The API requests in a world's journal that were routed to an operation, as detectors read them."""

    def __init__(self) -> None:
        self.calls: list[JournaledCall] = []
        """The requests, oldest first."""
        self.of_tools: set[str] = set()
        """The ids of the requests that the simulator's own tools sent."""
        self._groups: dict[tuple[object, ...], list[JournaledCall]] = {}

    def read(self, world: World, operations: Iterable[Operation]) -> Iterator[None]:
        """Read the journal of a world in chunks, each after a pause. Ignore requests that arrive during the reading."""
        by_name = {operation.name: operation for operation in operations}
        errors = vocabulary_of(world).errors
        rows = [row for row in list(requests_of(world).entries) if row.operation in by_name]
        # Whether headers belong to a tool, by their identity. Requests with equal headers share one tuple.
        of_tools: dict[int, bool] = {}
        for place, row in enumerate(rows):
            if place % SLICE == 0:
                yield
            call = JournaledCall(place, row, by_name[row.operation], errors)
            self.calls.append(call)
            self._groups.setdefault(call.identity, []).append(call)
            headers = id(row.headers)
            if headers not in of_tools:
                of_tools[headers] = marks(dict(row.headers))
            if of_tools[headers]:
                self.of_tools.add(row.id)

    def repetitions(self) -> Iterator[list[JournaledCall]]:
        """Yield the groups of identical requests. Each group contains at least two."""
        return (group for group in self._groups.values() if len(group) > 1)
