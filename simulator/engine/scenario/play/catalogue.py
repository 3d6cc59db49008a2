"""Which scenarios a world has: those that ship, and those uploaded to it, made ready for the engine."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from fnmatch import translate
from functools import cached_property

from pydantic import with_config
from typing_extensions import TypedDict

from simulator.engine.records.saved import STRICT, SavedCount
from simulator.engine.rows.action import ActionTable
from simulator.engine.rows.error import ControlError, sentence
from simulator.engine.rows.outages import Outages
from simulator.engine.scenario.files.library import Library, ScenarioFile
from simulator.engine.scenario.play.matching import ABSENT, Condition, conditions, strings_of
from simulator.engine.scenario.play.script import REQUEST, Rule
from simulator.engine.text import strict
from simulator.engine.text.json import JsonObject, Shown, dumps
from simulator.engine.worlds.quotas import UPLOADED_SCENARIOS
from simulator.kernel.dataclass import dataclass
from simulator.kernel.per_world import PerWorld
from simulator.kernel.store import TableKey
from simulator.kernel.world import World


@with_config(STRICT)
class Uploaded(TypedDict):
    """A scenario that belongs to its world: the document, where it came from, the line of each of its parts."""

    document: JsonObject
    source: str
    lines: dict[str, SavedCount]


_PATH = frozenset({"path"})
"""What rules on requests compare as a glob."""

UPLOADED = TableKey(UPLOADED_SCENARIOS, Uploaded)
"""The scenarios of a world by name."""


class UnknownScenario(ControlError, KeyError):
    """No scenario of that name ships or was uploaded to the world: 404."""

    def __init__(self, name: str, known: Iterable[str], param: str | None = None) -> None:
        hint = strict.did_you_mean(name, known)
        super().__init__(404, "not_found", sentence(f"There is no scenario {name!r}{hint}"), param)


class CannotActivate(ControlError):
    """The state that a scenario sets up cannot be, so it cannot become active: 400.

    `scenario` is its name, `path` the entry (`world.balances[0]`, with the parameter that is wrong), `problem` what is
    wrong with it.
    """

    def __init__(self, file: ScenarioFile, entry: str, refusal: ControlError) -> None:
        self.scenario = file.name
        self.path = f"{entry}.{refusal.param}" if refusal.param else entry
        self.problem = f"{file.place(entry)}: {self.path}: {refusal.message}"
        message = f"The scenario {file.name} cannot become active: {self.problem}"
        super().__init__(400, "invalid_scenario", message, "names")


@dataclass(frozen=True)
class PreparedRule:
    """A rule with its number, its path in the document, its file and line; its `where` is made ready when it is asked.

    `globs`: the paths whose values are compared as globs.
    """

    index: int
    part: str
    place: str
    rule: Rule
    globs: frozenset[str]

    @cached_property
    def conditions(self) -> tuple[Condition, ...]:
        return conditions(self.rule.where, self.globs)

    @cached_property
    def carried(self) -> bytes:
        """The name, as JSON, of a member that the request of an object must have carried; empty where none must."""
        for condition in self.conditions:
            head, _, rest = condition.path.partition(".")
            if head == "request" and rest and not condition.passes(ABSENT, {}, lambda name: False):
                return dumps(rest.partition(".")[0])
        return b""


@dataclass(frozen=True)
class EventRules:
    """The rules of a scenario on one event, in their order: those that may be about an object of a type, by its name.

    Nearly every rule asks for a type, so most events of most objects are passed over at once.
    """

    of_type: Mapping[str, tuple[PreparedRule, ...]]
    of_others: tuple[PreparedRule, ...]

    @classmethod
    def of(cls, rules: Iterable[PreparedRule]) -> EventRules:
        rules = tuple(rules)
        types = [(rule, strings_of(rule.rule.where.get("type"))) for rule in rules]
        named = frozenset[str]().union(*(wanted for _, wanted in types if wanted is not None))
        return cls(
            {name: tuple(rule for rule, wanted in types if wanted is None or name in wanted) for name in named},
            tuple(rule for rule, wanted in types if wanted is None),
        )

    def about(self, subject: Shown) -> tuple[PreparedRule, ...]:
        """Those that may be about this object."""
        name = subject.get("type")
        return self.of_type.get(name, self.of_others) if isinstance(name, str) else self.of_others


@dataclass(frozen=True)
class RequestRule(PreparedRule):
    """A rule on requests, with the method and the paths that it names; None for what it leaves open."""

    method: str | None
    path: re.Pattern[str] | None

    @classmethod
    def of(cls, given: PreparedRule) -> RequestRule:
        rule = given.rule
        method, path = rule.where.get("method"), rule.where.get("path")
        globs = strings_of(path)
        pattern = None if globs is None else re.compile("|".join(map(translate, sorted(globs))))
        named = method if isinstance(method, str) else None
        return cls(given.index, given.part, given.place, rule, _PATH, named, pattern)


@dataclass(frozen=True)
class PreparedScenario:
    """A scenario file with its rules sorted by what they listen to.

    `asked` are those on requests, by the methods that they name, with those of any method. Every call is held against
    them and hardly any is meant, so they are sorted out by method and path alone: that makes a read a fifth cheaper.
    """

    row: ScenarioFile | Uploaded
    file: ScenarioFile
    rules: Mapping[str, EventRules]
    asked: Mapping[str, tuple[RequestRule, ...]]
    asked_of_others: tuple[RequestRule, ...]

    def asked_by(self, method: str, path: str) -> list[RequestRule]:
        """The rules that may be about a request, in their order."""
        rules = self.asked.get(method, self.asked_of_others)
        if not rules:  # as for every read
            return []
        return [rule for rule in rules if rule.path is None or rule.path.match(path) is not None]

    def rules_about(self, event: str, subject: Shown) -> tuple[PreparedRule, ...]:
        """The rules that may take an event of an object, in their order."""
        listening = self.rules.get(event)
        return () if listening is None else listening.about(subject)


class Catalogue:
    """The scenarios of a process; uploaded ones lie in their world's store as plain data."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._shipped: dict[str, PreparedScenario] = {}
        self._uploaded: PerWorld[dict[str, PreparedScenario]] = PerWorld(dict)

    def knows(self, world: World, name: str) -> bool:
        return name in self._library or name in world.store[UPLOADED]

    @staticmethod
    def is_uploaded(world: World, name: str) -> bool:
        return name in world.store[UPLOADED]

    def names(self, world: World) -> list[str]:
        """Every scenario of a world, those that ship first."""
        return list(dict.fromkeys([*self._library, *(name for name, _ in world.store[UPLOADED].items())]))

    def file(self, world: World, name: str) -> ScenarioFile:
        """A scenario by name; an uploaded one hides the one that ships. UnknownScenario."""
        return self.get(world, name).file

    def get(self, world: World, name: str) -> PreparedScenario:
        """A scenario made ready; kept as long as its row is the same, and no longer than its world."""
        try:
            row = world.store[UPLOADED].get(name) or self._library[name]
        except KeyError:
            raise UnknownScenario(name, self.names(world)) from None
        kept = self._shipped if isinstance(row, ScenarioFile) else self._uploaded[world]
        ready = kept.get(name)
        if ready is None or ready.row is not row:
            file = row if isinstance(row, ScenarioFile) else file_of(row)
            rules: dict[str, list[PreparedRule]] = {}
            for index, rule in enumerate(file.script.rules):
                part = f"rules[{index}]"
                prepared = PreparedRule(index, part, file.place(part), rule, frozenset())
                for event in rule.events:
                    rules.setdefault(event, []).append(prepared)
            asked = tuple(RequestRule.of(one) for one in rules.pop(REQUEST, ()))
            by_event = {event: EventRules.of(listening) for event, listening in rules.items()}
            methods = {rule.method for rule in asked if rule.method is not None}
            by_method = {one: tuple(rule for rule in asked if rule.method in (None, one)) for one in sorted(methods)}
            of_others = tuple(rule for rule in asked if rule.method is None)
            ready = kept[name] = PreparedScenario(row, file, by_event, by_method, of_others)
        return ready

    @staticmethod
    def keep(world: World, file: ScenarioFile) -> None:
        """Keep an uploaded scenario in its world; inside a change."""
        world.store[UPLOADED].put(file.name, row_of(file))


@dataclass(frozen=True)
class Context:
    """What scenarios work with: the actions that their steps do, the files they are, and how networks stand."""

    actions: ActionTable
    catalogue: Catalogue
    outages: Outages


def row_of(file: ScenarioFile) -> Uploaded:
    """A scenario as the plain data that a world keeps of it."""
    return {"document": file.document, "source": file.source, "lines": dict(file.lines)}


def file_of(row: Uploaded) -> ScenarioFile:
    """The scenario that a world keeps as this data."""
    return ScenarioFile(row["document"], row["source"], row["lines"])
