"""Recording: calls, actions and the passing of time, as they were done by hand, written down as a scenario.

What is recorded becomes the `drive` of the scenario, in its order and at its moments; ids that an answer brought are
put in as `${step.path}`, so that it can be repeated in another world. What came of it becomes `expect`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field
from typing import Any, TypeAlias
from urllib.parse import quote

from simulator.engine.scenario.run.drive import METHODS, UNNAMED_STEPS
from simulator.engine.text.json import JsonObject, with_texts
from simulator.engine.text.yaml import yaml_text
from simulator.kernel.clock import format_duration, parse_timestamp
from simulator.kernel.dataclass import dataclass

FIRST_LINE = "# yaml-language-server: $schema=../contracts/scenario.schema.json"
RUN_STARTS_MS = parse_timestamp("2026-01-05T08:00:00.000Z")
"""Where the clock of a run stands at first; a recording that began later begins by advancing to its own start."""

_NAMED_BY_SERVICE = frozenset({"id", "address", "memo", "payment_request", "lnurl", "public_key", "account_number"})
_RESERVED = frozenset({"world", "receiver", *METHODS, *UNNAMED_STEPS})
_ID = re.compile(r"(?:[a-z]{2,4}_[0-9a-z]{20}|ORD-[0-9]{8,})")
_PLACEHOLDER = "${"
_IN_PATH = "-._~!$&'()*+,;=:@"
_IN_QUERY = f"{_IN_PATH}/?%"
"""What stands for itself in a path, which was read already, and in a query, which was not."""

Locate: TypeAlias = "Callable[[str], tuple[str, str] | None]"
"""For an id that no answer brought: the query of a look-up of resources, and the path to the id in what it answers."""


@dataclass(frozen=True, slots=True)
class Done:
    """Something that was done: a call of the interface or of the control interface, or an action.

    `path` is below the base, or begins with /_simulator. `action` is the name of an action, whose `body` then holds its
    parameters. `environment`: "" for the first one. `until_ms`: where the clock stood when it had ended.
    """

    at_ms: int
    until_ms: int
    method: str = ""
    path: str = ""
    environment: str = ""
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    status: int = 0
    code: str | None = None
    answer: Any = None
    action: str = ""
    target: str | None = None


@dataclass(frozen=True, slots=True)
class Recording:
    """All that a recording is made of.

    `notes`: what could not be recorded; `states`: those of objects at the end; `kinds`: what resources are called, by
    the beginning of their ids ("" where their `type` says it); `environment`: that of calls which name none.
    """

    name: str
    description: str
    seed: int
    environment: str
    start_ms: int
    end_ms: int
    scenarios: tuple[str, ...]
    done: tuple[Done, ...]
    known: Mapping[str, str]
    events: tuple[str, ...]
    states: Mapping[str, str]
    notes: tuple[str, ...] = ()
    kinds: Mapping[str, str] = field(default_factory=dict)


@dataclass
class _Entry:
    """A step of the drive while it is made: it gets a name when something refers to it."""

    step: JsonObject
    answer: Any = None
    hint: str = ""
    name: str = ""


def record(recording: Recording, locate: Locate) -> str:
    """The text of the scenario file."""
    return _Recorder(recording, locate).text()


class _Recorder:
    def __init__(self, recording: Recording, locate: Locate) -> None:
        self._recording = recording
        self._locate = locate
        self._entries: list[_Entry] = []
        self._known: dict[str, tuple[_Entry | None, str]] = {
            value: (None, path) for value, path in recording.known.items()
        }
        self._names: Counter[str] = Counter()
        self._notes = list(recording.notes)

    def text(self) -> str:
        recording = self._recording
        self._drive()
        expect = list(self._expectations())
        document: JsonObject = {"name": recording.name, "description": recording.description}
        if recording.scenarios and recording.start_ms == RUN_STARTS_MS:
            document["with"] = list(recording.scenarios)
        document["retry"] = False
        document["drive"] = [{entry.name: entry.step} if entry.name else entry.step for entry in self._entries]
        document["expect"] = expect
        heading = [FIRST_LINE, f"# Recorded with the seed {recording.seed}; run it with --seed {recording.seed}."]
        heading += [f"# Not recorded: {_line(note)}" for note in dict.fromkeys(self._notes)]
        return "\n".join(heading) + "\n" + yaml_text({key: value for key, value in document.items() if value != []})

    # The drive

    def _drive(self) -> None:
        recording, now_ms = self._recording, RUN_STARTS_MS
        if recording.start_ms < now_ms:
            self._notes.append("the moment at which it began, before a run's clock starts")
            now_ms = recording.start_ms
        now_ms = self._advance(now_ms, recording.start_ms)
        if recording.scenarios and recording.start_ms != RUN_STARTS_MS:
            names = {"names": list(recording.scenarios)}
            self._entries.append(_Entry({"put": "/_simulator/scenarios/active", "body": names, "status": 200}))
        for done in recording.done:
            if _PLACEHOLDER in str((done.path, done.body, done.headers, done.target)):
                self._notes.append(f"{done.method} {done.path}, because it contains the characters ${{")
                continue
            now_ms = self._advance(now_ms, done.at_ms)
            if done.method or done.action:
                self._add(done)
                now_ms = max(now_ms, done.until_ms)
        self._advance(now_ms, recording.end_ms)

    def _advance(self, from_ms: int, to_ms: int) -> int:
        if to_ms > from_ms:
            self._entries.append(_Entry({"advance": format_duration(to_ms - from_ms)}))
        return max(from_ms, to_ms)

    def _add(self, done: Done) -> None:
        step = self._action(done) if done.action else self._call(done)
        entry = _Entry(step, done.answer, _hint(done, self._recording.kinds))
        self._entries.append(entry)
        if not 200 <= (done.status or 200) < 300:
            return
        for value, path in _brought(done.answer):
            if not _contains((done.path, done.body, done.target), value):
                self._known.setdefault(value, (entry, path))
        made = done.answer.get("id") if isinstance(done.answer, dict) else None
        if isinstance(made, str) and made in self._recording.states and self._known[made][0] is entry:
            self._name(entry)

    def _action(self, done: Done) -> JsonObject:
        target = {} if done.target is None else {"target": self._put_in(done.target)}
        elsewhere = {"environment": done.environment} if self._is_elsewhere(done) else {}
        return {"action": done.action, **target, **elsewhere, **self._put_in(done.body or {})}

    def _is_elsewhere(self, done: Done) -> bool:
        return done.environment not in ("", self._recording.environment)

    def _call(self, done: Done) -> JsonObject:
        path, mark, query = done.path.partition("?")
        segments = "/".join(self._put_in(quote(segment, _IN_PATH)) for segment in path.split("/"))
        step: JsonObject = {done.method.lower(): segments + mark + self._in_query(quote(query, _IN_QUERY))}
        if done.body is not None:
            step["body"] = self._put_in(done.body)
        if done.headers:
            step["headers"] = dict(done.headers)
        if self._is_elsewhere(done):
            step["environment"] = done.environment
        step["status"] = done.status
        if done.code is not None:
            step["code"] = done.code
        return step

    def _in_query(self, query: str) -> str:
        pairs = (pair.partition("=") for pair in query.split("&"))
        return "&".join(f"{name}{equals}{self._put_in(value)}" for name, equals, value in pairs)

    def _put_in(self, value: object) -> Any:
        """A value with every id that an earlier answer brought replaced by a reference to it."""
        return with_texts(value, self._reference)

    def _reference(self, text: str) -> str:
        if text not in self._known and _ID.fullmatch(text):
            self._look_up(text)
        if text not in self._known:
            return text
        entry, path = self._known[text]
        return f"${{{path}}}" if entry is None else f"${{{self._name(entry)}.{path}}}"

    def _look_up(self, identifier: str) -> None:
        """A step that finds an object which no answer named: by its place among its kind."""
        found = self._locate(identifier)
        if found is not None:
            query, path = found
            entry = _Entry({"get": f"/_simulator/resources?{query}", "status": 200}, hint="found")
            self._entries.append(entry)
            self._known[identifier] = (entry, path)

    def _name(self, entry: _Entry) -> str:
        if not entry.name:
            hint = f"{entry.hint}_made" if entry.hint in _RESERVED else entry.hint
            self._names[hint] += 1
            entry.name = hint if self._names[hint] == 1 else f"{hint}_{self._names[hint]}"
        return entry.name

    # What came of it

    def _expectations(self) -> Iterator[JsonObject]:
        for event, count in Counter(self._recording.events).items():
            yield {"event": event, "times": count}
        for identifier, status in self._recording.states.items():
            if identifier in self._known:
                yield {"resource": self._reference(identifier), "where": {"status": status}}


def _line(note: str) -> str:
    """A note as a comment: paths may hold anything."""
    return "".join(character if character.isprintable() else "·" for character in note)


def _hint(done: Done, kinds: Mapping[str, str]) -> str:
    """What a step would be called: by what it made."""
    answer = done.answer if isinstance(done.answer, dict) else {}
    prefix = str(answer.get("id", "")).partition("_")[0] + "_"
    kind = kinds.get(prefix, "") or (str(answer.get("type") or "") if prefix in kinds else "")
    if kind:
        return kind
    words = re.findall(r"[a-z_]+", done.action or done.path.partition("?")[0])
    return words[-1] if words else "step"


def _brought(answer: object, path: str = "", key: str = "") -> Iterable[tuple[str, str]]:
    """The values in an answer that the service chose: ids, addresses, memos and the like, with their paths."""
    if isinstance(answer, dict):
        for name, item in answer.items():
            yield from _brought(item, f"{path}.{name}" if path else name, name)
    elif isinstance(answer, list):
        for index, item in enumerate(answer):
            yield from _brought(item, f"{path}.{index}" if path else str(index), key)
    elif (
        isinstance(answer, str)
        and answer
        and (key in _NAMED_BY_SERVICE or key.endswith("_id") or _ID.fullmatch(answer))
    ):
        yield answer, path


def _contains(value: object, text: str) -> bool:
    """Whether the call itself carried a text."""
    if isinstance(value, dict):
        return any(_contains(item, text) for item in value.values())
    if isinstance(value, list | tuple):
        return any(_contains(item, text) for item in value)
    return isinstance(value, str) and text in value
