"""The scenarios that are available in a world: shipped and uploaded scenarios, indexed for fast rule selection."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fnmatch import translate
from functools import cached_property
from typing import TypeAlias

from pydantic import with_config
from typing_extensions import TypedDict

from simulator.engine.clients.address import CONTROL_BASE
from simulator.engine.records.saved import STRICT, SavedCount
from simulator.engine.rows.action import ActionTable
from simulator.engine.rows.error import ControlError, sentence
from simulator.engine.rows.provider import Outages
from simulator.engine.scenario.files.library import Library, ScenarioFile
from simulator.engine.scenario.play.matching import ABSENT, Condition, conditions, literals_of, strings_of
from simulator.engine.scenario.play.script import REQUEST, Rule
from simulator.engine.text import strict
from simulator.engine.text.json import JsonObject, dumps
from simulator.engine.worlds.quotas import UPLOADED_SCENARIOS
from simulator.kernel.dataclass import dataclass
from simulator.kernel.store import TableKey
from simulator.kernel.world import PerWorld, World


@with_config(STRICT)
class Uploaded(TypedDict):
    """An uploaded scenario as saved in a world: its document, the file name, and the line number of each part."""

    document: JsonObject
    source: str
    lines: dict[str, SavedCount]


_LISTENING_KEPT = 1_000
_METHODS_KEPT = 20
_PATH = frozenset({"path"})
"""The request fields that are compared as globs."""

UPLOADED = TableKey(UPLOADED_SCENARIOS, Uploaded)
"""The scenarios uploaded to a world, by name."""


class UnknownScenario(ControlError, KeyError):
    """Error 404: there is no shipped or uploaded scenario with this name."""

    def __init__(self, name: str, known: Iterable[str], param: str | None = None) -> None:
        hint = strict.did_you_mean(name, known) or f". List them with GET {CONTROL_BASE}/scenarios"
        super().__init__(404, "not_found", sentence(f"There is no scenario {name!r}{hint}"), param)


class CannotActivate(ControlError):
    """Error 400: a scenario cannot become active, because an entry in its `world` section was refused."""

    def __init__(self, file: ScenarioFile, entry: str, refusal: ControlError) -> None:
        self.scenario = file.name
        self.path = f"{entry}.{refusal.param}" if refusal.param else entry
        """The path of the entry with the invalid parameter, such as `world.balances[0].amount`."""
        self.problem = f"{file.place(entry)}: {self.path}: {refusal.message}"
        message = f"The scenario {file.name} cannot be activated: {self.problem}"
        super().__init__(400, "invalid_scenario", message, "names")


@dataclass(frozen=True)
class PreparedRule:
    """A rule with its position in the file. The rule's `where` is compiled on first use."""

    index: int
    part: str
    """The path in the document, such as `rules[0]`."""
    place: str
    """The file and line of the rule."""
    rule: Rule
    globs: frozenset[str]
    """The paths in `where` whose values are compared as globs."""

    @cached_property
    def conditions(self) -> tuple[Condition, ...]:
        return conditions(self.rule.where, self.globs)

    @cached_property
    def request_field(self) -> bytes:
        """The JSON-encoded name of a field that the creating request must contain, or b"" for none."""
        for condition in self.conditions:
            head, _, rest = condition.path.partition(".")
            if head == "request" and rest and not condition.passes(ABSENT, {}, lambda name: False):
                return dumps(rest.partition(".")[0])
        return b""

    @cached_property
    def request_texts(self) -> tuple[bytes, ...]:
        """Parts of required values that the JSON body of the creating request must contain."""
        wanted = [value for path, value in self.rule.where.items() if path.startswith("request.")]
        return tuple(dumps(text)[1:-1] for value in wanted for text in literals_of(value))

    @cached_property
    def path(self) -> re.Pattern[str] | None:
        """The regular expression that the path of a request must match, or None if the rule does not test the path."""
        globs = strings_of(self.rule.where.get("path"))
        return None if globs is None else re.compile("|".join(map(translate, sorted(globs))))


@dataclass(frozen=True)
class PreparedScenario:
    """A scenario whose rules are indexed by event."""

    # Every event and every call is compared with the rules, and few match. Nearly every rule tests the object's type or
    # the request's method, so one lookup rejects most of them. This makes read calls a fifth faster.

    row: ScenarioFile | Uploaded
    """The library entry or table row that the scenario was prepared from."""
    file: ScenarioFile
    rules: Mapping[tuple[str, str | None], tuple[PreparedRule, ...]]
    """The rules by event and value of `type` (of `method`, for rules on requests), or None for any other value."""

    def rules_about(self, event: str, value: object) -> tuple[PreparedRule, ...]:
        """Return the rules that may match an event or request, given the object's `type` or the method."""
        found = self.rules.get((event, value)) if isinstance(value, str) else None
        return self.rules.get((event, None), ()) if found is None else found

    def may_take(self, method: str, path: str) -> bool:
        """Return True if a rule may match a request. Most match none, so one expression combines all paths."""
        gate = self._gates.get(method)
        if gate is None:
            paths = {rule.path and rule.path.pattern for rule in self.rules_about(REQUEST, method)}
            gate = re.compile("" if None in paths else "|".join(sorted(f"(?:{path})" for path in paths)))
            if len(self._gates) < _METHODS_KEPT:
                self._gates[method] = gate
        return gate.match(path) is not None

    @cached_property
    def _gates(self) -> dict[str, re.Pattern[str]]:
        return {}


Listening: TypeAlias = Iterable[tuple[PreparedScenario, tuple[PreparedRule, ...]]]
"""Scenarios, each with the rules that may match an event or a request."""


class Catalogue:
    """All scenarios that the worlds of a process can use. Uploaded scenarios are saved in their world."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._shipped: dict[str, PreparedScenario] = {}
        self._uploaded: PerWorld[dict[str, PreparedScenario]] = PerWorld(dict)
        self._listening: dict[tuple[object, ...], Listening] = {}
        self._version = library.version

    def knows(self, world: World, name: str) -> bool:
        return name in self._library or name in world.store[UPLOADED]

    def names(self, world: World) -> list[str]:
        """Return the names of the scenarios that a world can use. Shipped scenarios are first."""
        return list(dict.fromkeys([*self._library, *(name for name, _ in world.store[UPLOADED].items())]))

    def file(self, world: World, name: str) -> ScenarioFile:
        """Return a scenario by name, uploaded ones first. Raise `UnknownScenario` if there is none."""
        return self.get(world, name).file

    def get(self, world: World, name: str) -> PreparedScenario:
        """Return an indexed scenario, cached until it is replaced. Raise `UnknownScenario` if there is none."""
        try:
            row = world.store[UPLOADED].get(name) or self._library[name]
        except KeyError:
            raise UnknownScenario(name, self.names(world)) from None
        cache = self._shipped if isinstance(row, ScenarioFile) else self._uploaded[world]
        ready = cache.get(name)
        if ready is None or ready.row is not row:
            file = row if isinstance(row, ScenarioFile) else file_of(row)
            rules: dict[str, list[PreparedRule]] = {}
            for index, rule in enumerate(file.script.rules):
                part = f"rules[{index}]"
                prepared = PreparedRule(index, part, file.place(part), rule, frozenset())
                for event in rule.events:
                    on_request = event == REQUEST
                    rules.setdefault(event, []).append(replace(prepared, globs=_PATH) if on_request else prepared)
            indexed: dict[tuple[str, str | None], tuple[PreparedRule, ...]] = {}
            for event, listening in rules.items():
                field = "method" if event == REQUEST else "type"
                tested = [(prepared, strings_of(prepared.rule.where.get(field))) for prepared in listening]
                for value in {None, *(value for _, strings in tested for value in strings or ())}:
                    some = (prepared for prepared, strings in tested if strings is None or value in strings)
                    indexed[event, value] = tuple(some)
            ready = cache[name] = PreparedScenario(row, file, indexed)
        return ready

    def listening(self, world: World, names: Sequence[str], event: str, value: object) -> Listening:
        """Return the scenarios in `names` that have rules about an event or request, in reverse order of `names`.
        `value` is as for `PreparedScenario.rules_about`. The result is cached for shipped scenarios, because this runs
        for every event and API call. Raise `UnknownScenario` if a name is unknown.
        """
        if world.store[UPLOADED].rows or not isinstance(value, str):
            return self._with_rules(world, names, event, value)
        if self._version != self._library.version or len(self._listening) >= _LISTENING_KEPT:
            self._listening.clear()
            self._version = self._library.version
        asked = (*names, event, value)
        found = self._listening.get(asked)
        if found is None:
            found = self._listening[asked] = tuple(self._with_rules(world, names, event, value))
        return found

    def _with_rules(self, world: World, names: Sequence[str], event: str, value: object) -> Listening:
        for name in reversed(names):
            scenario = self.get(world, name)
            rules = scenario.rules_about(event, value)
            if rules:
                yield scenario, rules


@dataclass(frozen=True)
class Context:
    """The parts of the simulated service that the scenario engine uses: actions, scenarios and network status."""

    actions: ActionTable
    catalogue: Catalogue
    outages: Outages


def row_of(file: ScenarioFile) -> Uploaded:
    """Convert an uploaded scenario to a table row."""
    return {"document": file.document, "source": file.source, "lines": dict(file.lines)}


def file_of(row: Uploaded) -> ScenarioFile:
    """Convert a table row to a scenario."""
    return ScenarioFile(row["document"], row["source"], row["lines"])
