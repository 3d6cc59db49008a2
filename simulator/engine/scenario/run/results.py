"""The timeline of a run (events, delivery attempts, and calls affected by faults), and its result."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any, TypeAlias
from urllib.parse import urlsplit

from simulator.engine.faults import models as faults
from simulator.engine.scenario.files.library import ScenarioFile
from simulator.engine.text.json import JsonObject, dumps
from simulator.engine.text.reports import Case, Failure, Suite
from simulator.kernel.dataclass import dataclass

Get: TypeAlias = "Callable[[str], Awaitable[Any]]"
"""Returns the response to a GET request to the control API, given its path."""
_FEW = 5
"""The maximum number of attempts or timers to list when explaining an expectation that is not met."""


@dataclass(frozen=True)
class TimelineEntry:
    """One line in the timeline of a run. `at` is simulated time."""

    at: str
    kind: str
    text: str


@dataclass(frozen=True)
class Check:
    """The result of the steps in `drive`, or of one expectation in `expect`."""

    name: str
    problem: str = ""
    """Why the check failed, or "" if it passed."""

    @property
    def passed(self) -> bool:
        return not self.problem


@dataclass
class RunResult:
    """The result of running one scenario. It passes if all steps of `drive` succeed and all expectations are met."""

    name: str
    world: str = ""
    timeline: list[TimelineEntry] = field(default_factory=list)
    checks: list[Check] = field(default_factory=list)

    @property
    def passed(self) -> bool:
        return all(check.passed for check in self.checks)

    def readable(self) -> str:
        """Return the timeline and the checks as text."""
        lines = [f"Scenario {self.name}"]
        lines += [f"  {line.at}  {line.kind:<7}  {line.text}" for line in self.timeline]
        for check in self.checks:
            lines.append(f"  {'ok' if check.passed else 'FAILED'}  {check.name}")
            lines += [f"          {part}" for part in check.problem.splitlines()]
        if self.passed and len(self.checks) == 1:  # The drive is the only check.
            lines.append("  note  it has no `expect`, so only its calls were checked")
        lines.append(f"{'Passed' if self.passed else 'Failed'}: {self.name}")
        return "\n".join(lines)

    def suite(self) -> Suite:
        """The result as a JUnit suite, with one test case for the `drive` section and one for each expectation."""
        cases = []
        for check in self.checks:
            failure = None if check.passed else Failure(check.problem.splitlines()[0], check.problem)
            cases.append(Case(f"scenario.{self.name}", check.name, failure))
        return Suite(self.name, cases, output=self.readable())


class Trace:
    """Collects the timeline of a run. Set `inbox` to the endpoint id of the run's own webhook receiver."""

    def __init__(self, file: ScenarioFile, get: Get, *, has_address: bool) -> None:
        self._file = file
        self._get = get
        self.has_address = has_address
        self._faults: dict[str, str] = {}
        self._seen: set[str] = set()
        self.inbox = ""
        self.events: list[JsonObject] = []
        self.attempts: list[JsonObject] = []

    async def collect(self, *, delivered: bool) -> list[TimelineEntry]:
        """Return the timeline entries since the last call, with delivery attempts only if `delivered` is True."""
        # Before all attempts have ended, the set of finished attempts depends on the receiver's speed, and runs would
        # not repeat exactly.
        lines = [line async for line in self._hits()] if self._faults or self._may_have_faults else []
        events = (await self._get("/events"))["data"]
        lines += [_event(event) for event in events[len(self.events) :]]
        self.events = events
        if self.has_address and delivered:
            self.attempts = (await self._get("/deliveries"))["data"]
            new = [row for row in self.attempts if row["id"] not in self._seen]
            self._seen |= {row["id"] for row in new}
            lines += [TimelineEntry(row["attempted_at"], "webhook", self._attempt(row)) for row in new]
        return sorted(lines, key=lambda line: line.at)

    @property
    def _may_have_faults(self) -> bool:
        """Whether the scenario, another one that is active, or a control call can set faults during the run."""
        document = self._file.document
        calls_control = b"_simulator/" in dumps(document.get("drive", []))
        return bool(document.get("faults") or document.get("with") or calls_control)

    async def _hits(self) -> AsyncIterator[TimelineEntry]:
        """Yield a timeline entry for each API call that a fault affected since the last call of this method."""
        rows = (await self._get("/faults"))["data"]
        own = [row for row in rows if row.get("scenario") == self._file.name]
        for row in rows:
            self._faults.setdefault(row["id"], self._label(row, own))
        if not self._faults:
            return
        for call in (await self._get("/requests"))["data"]:
            if call.get("fault_id") and call["id"] not in self._seen:
                self._seen.add(call["id"])
                said = call["response"].get("error", {}) if isinstance(call["response"], dict) else {}
                words = [str(call["status"]), said.get("code", "")] if call["status"] else ["the connection was cut"]
                text = f"{self._fault(call['fault_id'])} applied to {call['method']} {call['path']}: {' '.join(words)}"
                yield TimelineEntry(call["at"], "fault", text.rstrip())

    def _label(self, row: JsonObject, own: Sequence[JsonObject]) -> str:
        """Return a label for a fault: its path in the file, or its id and scenario, followed by its effects."""
        given = row.get("deliver", row)
        said = [name for name in given if name in faults.DESCRIBED and given[name] not in (None, False)]
        if row in own:
            part = f"faults[{own.index(row)}]"
            line = self._file.lines.get(part)
            said += [] if line is None else [f"line {line}"]
        else:
            part = row["id"]
            said += [f"of the scenario {row['scenario']}"] if row.get("scenario") else []
        return f"the fault {part} ({', '.join(said)})" if said else f"the fault {part}"

    def _fault(self, identifier: str) -> str:
        return self._faults.get(identifier, f"the fault {identifier}")

    def _attempt(self, row: Mapping[str, Any]) -> str:
        """Describe a delivery attempt in one line, including the next attempt and the fault that affected it."""
        nth = f", attempt {row['attempt']}" if row["attempt"] > 1 else ""
        by = f", by {self._fault(row['fault_id'])}" if row.get("fault_id") else ""
        return f"{row['event_type']} → {self._endpoint(row)}{nth}: {_response(row)}{by}"

    def _endpoint(self, row: Mapping[str, Any]) -> str:
        if row.get("endpoint_id") == self.inbox:
            return "the receiver"
        url = urlsplit(str(row.get("url", "")))
        return f"{url.scheme}://{url.netloc.rpartition('@')[2]}{url.path}"

    def describe_attempts(self, rows: Sequence[Mapping[str, Any]]) -> str:
        lines = [f"{row['attempted_at']}  {self._attempt(row)}" for row in rows[:_FEW]]
        more = [f"and {len(rows) - _FEW} more"] if len(rows) > _FEW else []
        return "".join(f"\n{line}" for line in [*lines, *more])


def _event(event: JsonObject) -> TimelineEntry:
    shown = event["data"]["object"]
    said = " ".join(str(shown[name]) for name in ("id", "status", "failure_code") if shown.get(name))
    return TimelineEntry(event["created_at"], "event", f"{event['type']} {said}".rstrip())


def _response(row: Mapping[str, Any]) -> str:
    status, error = row.get("response_status"), row.get("error")
    came = str(status) if status is not None and not (error and 200 <= status < 300) else str(error)
    again = row.get("next_attempt_at")
    return f"{came}; again at {again}" if again else came


def describe_history(shown: Mapping[str, Any]) -> Iterator[str]:
    """Yield lines that explain the current status of a resource: its last transition and its planned timers."""
    history = shown.get("history") or []
    if history:
        last = history[-1]
        yield f"it became {last['state']} at {last['at']}: {last['cause']['text']}"
    for timer in (shown.get("timers") or [])[:_FEW]:
        does = timer.get("action") or timer.get("text") or timer["kind"]
        line = f", line {timer['line']}" if timer.get("line") else ""
        of = f" ({timer['scenario']}, {timer['part']}{line})" if timer.get("scenario") else ""
        waits = f"waits for {' and '.join(timer['waiting_for'])}" if timer.get("waiting_for") else timer["due_at"]
        yield f"still planned: {does} at {waits}{of}" if timer["due_at"] else f"still planned: {does}, {waits}{of}"
    if history and not shown.get("timers"):
        yield "nothing more is planned for it"
