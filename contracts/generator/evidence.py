"""Evidence from the included scenarios: each is run, and its world is read afterwards.

Responses come from the journal of calls, events from the journal of events, transitions from histories of resources.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from simulator.engine.clients.address import CONTROL_BASE, DEFAULT_URL
from simulator.engine.clients.asynchronous import HttpClient, Reply
from simulator.engine.faults.mutations import NEW_WORD
from simulator.engine.records.records import find, find_moved
from simulator.engine.records.requests import JournalEntry, requests_of
from simulator.engine.scenario.files.library import ScenarioFile
from simulator.engine.scenario.run.results import RunResult
from simulator.engine.scenario.run.runner import run
from simulator.engine.server.config import Config
from simulator.engine.server.process import serving
from simulator.engine.server.runtime import Runtime
from simulator.engine.text.json import JsonObject, loads
from simulator.engine.worlds.simulator import Blueprint
from simulator.host import PROVIDER, Simulator, application_of
from simulator.kernel.journal import HistoryEntry
from simulator.kernel.machine import Machine
from simulator.kernel.world import DEFAULT_WORLD, World
from simulator.service import TOKEN_EXCHANGE

SEED = Config().seed
"""The seed of the world `default`, so that a new world gives the same ids."""
TOUR = "every-operation"
"""The scenario that calls each operation once; what it sends works in a fresh world."""
_SET_UP = ("kyc", "profile", "key pair")
_PREPARED = ("quote", "beneficiary", "webhook", "deposit wallet", "Lightning address")


@dataclass(frozen=True, order=True)
class Answered:
    """An operation answered with this status, and with this error code ("" when it succeeded)."""

    operation: str
    status: int
    code: str


@dataclass(frozen=True, order=True)
class Edge:
    """A move that was made: the state before ("" = it came into being), what caused it, the state after."""

    machine: str
    before: str
    on: str
    after: str


@dataclass(frozen=True)
class ObservedCall:
    """One call of the interface in a scenario, and its answer.

    `operation` is "" for a path or method outside the table; `path` is below the base and has the query; `body` and
    `answer` are parsed (None: there was none); `headers` are those of the answer, in lower case.
    """

    scenario: str
    operation: str
    method: str
    path: str
    body: Any
    status: int
    headers: Mapping[str, str]
    answer: Any

    @property
    def code(self) -> str:
        """The error code, "" when the call succeeded."""
        return str(self.answer["error"]["code"]) if self.status >= 400 else ""


@dataclass(frozen=True)
class ControlAnswer:
    """An answer of the control interface while a scenario ran; `path` has its query, `body` is parsed."""

    method: str
    path: str
    status: int
    headers: Mapping[str, str]
    body: Any


@dataclass(frozen=True)
class Evidence:
    """The evidence of one scenario.

    `file` is the scenario and `result` how its run went; `calls` are its calls of the interface but those whose answer
    a fault spoiled, `envelopes` its events, both the same in every run; `controls` what the control interface answered
    to its runner; `failures` are the failure codes its events
    carried, `fired` the numbers of its rules that took something, `endings` what became of the resources that went
    somewhere (`onramp failed`), in the order in which they came to be; `unbalanced` the currencies whose books do not
    sum to zero.
    """

    file: ScenarioFile
    result: RunResult
    calls: tuple[ObservedCall, ...] = ()
    envelopes: tuple[JsonObject, ...] = ()
    controls: tuple[ControlAnswer, ...] = ()
    answers: frozenset[Answered] = frozenset()
    events: frozenset[str] = frozenset()
    failures: frozenset[str] = frozenset()
    edges: frozenset[Edge] = frozenset()
    fired: frozenset[int] = frozenset()
    endings: tuple[str, ...] = ()
    unbalanced: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return self.file.name


def collect(names: Iterable[str] | None = None) -> dict[str, Evidence]:
    """Run scenarios that ship (default: all) against a server of this process; what each showed, by name."""

    async def everything() -> dict[str, Evidence]:
        simulator = Simulator()
        simulator.create_world(Blueprint(DEFAULT_WORLD, SEED))
        application = application_of(Runtime(simulator))
        found: dict[str, Evidence] = {}
        async with serving(application) as origin:
            http = HttpClient(origin)
            for name in simulator.library if names is None else names:
                file = simulator.library[name]
                client = _Noting(http)
                result = await run(file, client, TOKEN_EXCHANGE, seed=SEED, keep=True)
                world = simulator.worlds[result.world]
                rules = {note["part"] for note in simulator.engine.progress(world, name)["rules_fired"]}
                fired = {index for index, _ in enumerate(file.scenario.rules) if f"rules[{index}]" in rules}
                found[name] = replace(
                    _read(file, result, world, frozenset(fired), origin), controls=tuple(client.noted)
                )
                simulator.delete_world(world.id)
        return found

    return asyncio.run(everything())


class _Noting:
    """A client that keeps what the control interface answers."""

    def __init__(self, client: HttpClient) -> None:
        self.origin = client.origin
        self.noted: list[ControlAnswer] = []
        self._client = client

    async def request(
        self, method: str, path: str, json: object = None, headers: Mapping[str, str] | None = None
    ) -> Reply:
        reply = await self._client.request(method, path, json, headers)
        if path.startswith(f"{CONTROL_BASE}/"):
            self.noted.append(ControlAnswer(method, path, reply.status, reply.headers, reply.body))
        return reply


def _read(file: ScenarioFile, result: RunResult, world: World, fired: frozenset[int], origin: str) -> Evidence:
    repeatable = _Repeatable(origin, world.id)
    answers = {
        Answered(row.operation, row.status, _code(row.status, row.response))
        for row in requests_of(world).entries
        if row.operation
    }
    events = list(world.journal.events())
    return Evidence(
        file,
        result,
        calls=tuple(call for row in requests_of(world).entries if (call := _call(file.name, row, repeatable))),
        envelopes=tuple(loads(repeatable(event.raw)) for event in events),
        answers=frozenset(answers),
        events=frozenset(event.type for event in events),
        failures=frozenset(code for event in events for code in _failures(loads(event.raw)["data"]["object"])),
        edges=frozenset(edges_of(world)),
        fired=fired,
        endings=tuple(_endings(world)),
        unbalanced=tuple(currency for currency, total in world.ledger.totals().items() if total),
    )


def _call(scenario: str, row: JournalEntry, repeatable: _Repeatable) -> ObservedCall | None:
    """A call as the journal has it; None when a fault kept the answer back or spoiled it."""
    environment = PROVIDER.environments[row.environment]
    try:
        body = loads(repeatable(row.body)) if row.body else None
        answer: Any = loads(repeatable(row.response)) if row.response else None
    except ValueError:
        return None
    if NEW_WORD.encode() in row.response:
        return None  # what surprises an integrator is in no contract
    if row.status == 0 or (row.status >= 400 and not _code(row.status, row.response)):
        return None
    return ObservedCall(
        scenario,
        row.operation,
        row.method,
        row.path.removeprefix(environment),
        body,
        row.status,
        {name.lower(): value for name, value in row.answer_headers},
        answer,
    )


class _Repeatable:
    """Replaces the random name, address and keys of a run by those of the world `default`, and all durations by one."""

    def __init__(self, origin: str, world: str) -> None:
        self._origin = origin.encode()
        self._world = world.encode()

    def __call__(self, raw: bytes) -> bytes:
        raw = raw.replace(self._origin, DEFAULT_URL.encode()).replace(self._world, DEFAULT_WORLD.encode())
        mode = b"live" if b'"pk_live_' in raw else b"test"
        raw = re.sub(rb'"pk_(test|live)_[0-9a-z]+"', rb'"pk_\1_simulator"', raw)
        raw = re.sub(rb'"secret_key":"[^"]*"', rb'"secret_key":"sk_%s_simulator"' % mode, raw)
        return re.sub(rb'"duration_ms":[0-9.]+', b'"duration_ms":12', raw)


def _failures(shown: Any) -> Iterator[str]:
    """The failure codes that an event's object carries: its own, or that of the run of a recurring payment."""
    for part in (shown, shown.get("run") or {}):
        if part.get("failure_code"):
            yield part["failure_code"]


def _endings(world: World) -> list[str]:
    """Return the final statuses of resources that moved money or changed their status; if there are none, of all
    created resources. A used quote is represented by its transaction."""
    gone_on: dict[str, None] = {}
    made: dict[str, None] = {}
    for resource_id, steps in world.journal.histories():
        machine, before = _machine(world, resource_id, steps[0])
        state = steps[-1].state
        of_another = getattr(find(world, resource_id), "owner", "") != ""
        if of_another or machine.name == "deposit transaction" or (machine.name, state) == ("quote", "confirmed"):
            continue
        ending = f"{machine.name.removesuffix(' transaction')} {state.replace('_', ' ')}"
        if before or len(steps) > 1 or machine.name not in (*_SET_UP, *_PREPARED):
            gone_on.setdefault(ending)
        elif machine.name in _PREPARED:
            made.setdefault(ending)
    return list(gone_on or made)


def _code(status: int, response: bytes) -> str:
    if status < 400:
        return ""
    try:
        return str(loads(response)["error"]["code"])
    except (ValueError, KeyError, TypeError):
        return ""


def edges_of(world: World) -> set[Edge]:
    """Every move that was made in a world, those of its own beginning included."""
    found: set[Edge] = set()
    for resource_id, steps in world.journal.histories():
        machine, before = _machine(world, resource_id, steps[0])
        for step in steps:
            found.add(Edge(machine.name, before, step.on, step.state))
            before = step.state
    return found


def _machine(world: World, resource_id: str, first: HistoryEntry) -> tuple[Machine, str]:
    """The state table that rules a resource, and the state it was in before the first step of its history."""
    record: Any = find_moved(world, resource_id)
    kind = world.wiring.kinds[record.kind]
    machine: Machine = kind.machine
    if any((move.on, move.target) == (first.on, first.state) for move in machine.initial):
        return machine, ""
    fresh = None if kind.standing is None else kind.standing(_untouched(world), resource_id)
    return machine, machine.initial[0].target if fresh is None else fresh.status


def _untouched(world: World) -> World:
    """A world in which nothing has happened, to see how resources stand that are not stored until they change."""
    return World(world.id, world.seed, world.clock, world.wiring)
