"""Writes recorded calls, actions and clock changes as a scenario file: calls become the `drive` at the same times,
events and final statuses the `expect`, and ids from responses placeholders, because another world has other ids.
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
"""The start time of a scenario run. If a recording began later, its `drive` first advances the clock to that time."""

_CHOSEN_BY_SERVICE = frozenset({"id", "address", "memo", "payment_request", "lnurl", "public_key", "account_number"})
_RESERVED = frozenset({"world", "receiver", *METHODS, *UNNAMED_STEPS})
_ID = re.compile(r"(?:[a-z]{2,4}_[0-9a-z]{20}|ORD-[0-9]{8,})")
_PLACEHOLDER = "${"
_IN_PATH = "-._~!$&'()*+,;=:@"
"""The characters in a decoded path that are not encoded again."""
_IN_QUERY = f"{_IN_PATH}/?%"
"""The characters in a query that are not encoded. A query is not decoded, so these characters include `%`."""

Locate: TypeAlias = "Callable[[str], tuple[str, str] | None]"
"""Returns the query of a resource search and the path in its response for an id that was in no response."""


@dataclass(frozen=True, slots=True)
class Done:
    """A recorded API call, control call or action."""

    at_ms: int
    until_ms: int
    """The clock time at the end of the call or action."""
    method: str = ""
    path: str = ""
    """The path relative to the base path, or a path that starts with `/_simulator`."""
    environment: str = ""
    """The environment, or "" for the service's first environment."""
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    status: int = 0
    code: str | None = None
    answer: Any = None
    action: str = ""
    """The name of the action. `body` then contains its parameters."""
    target: str | None = None


@dataclass(frozen=True, slots=True)
class Recording:
    """The recorded calls and actions, and everything else that is needed to write them as a scenario file."""

    name: str
    description: str
    seed: int
    environment: str
    """The environment of calls that do not specify one."""
    start_ms: int
    end_ms: int
    scenarios: tuple[str, ...]
    """The scenarios that were active at the start of the recording."""
    done: tuple[Done, ...]
    known: Mapping[str, str]
    """Values that are available in every run, such as keys, with the placeholder path for each."""
    events: tuple[str, ...]
    """The types of the emitted events."""
    states: Mapping[str, str]
    """The final status of each object, by id."""
    notes: tuple[str, ...] = ()
    """Descriptions of the calls and actions that could not be recorded."""
    kinds: Mapping[str, str] = field(default_factory=dict)
    """The name of a kind, by id prefix. The name is "" if the object's `type` contains the kind."""


@dataclass
class _Entry:
    """A step in the `drive` section. The step gets a name if another step refers to it."""

    step: JsonObject
    answer: Any = None
    hint: str = ""
    name: str = ""


class Recorder:
    """Writes a recording as the text of a scenario file. `locate` finds ids that are in no response."""

    def __init__(self, recording: Recording, locate: Locate) -> None:
        self._recording = recording
        self._locate = locate
        self._entries: list[_Entry] = []
        known: dict[str, tuple[_Entry | None, str]] = {one: (None, path) for one, path in recording.known.items()}
        self._known = known
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

    # --- the drive ----------------------------------------------------------------------------------------------

    def _drive(self) -> None:
        recording, now_ms = self._recording, RUN_STARTS_MS
        if recording.start_ms < now_ms:
            self._notes.append("the start time, because it is earlier than the start time of runs")
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
        for value, path in _chosen_values(done.answer):
            # The call itself sent this value, so the value is not new here.
            if not _contains((done.path, done.body, done.target), value):
                self._known.setdefault(value, (entry, path))
        created = done.answer.get("id") if isinstance(done.answer, dict) else None
        if isinstance(created, str) and created in self._recording.states and self._known[created][0] is entry:
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
        """Replace every value that is known from an earlier response with a placeholder."""
        return with_texts(value, self._reference)

    def _reference(self, text: str) -> str:
        if text not in self._known and _ID.fullmatch(text):
            self._look_up(text)
        if text not in self._known:
            return text
        entry, path = self._known[text]
        return f"${{{path}}}" if entry is None else f"${{{self._name(entry)}.{path}}}"

    def _look_up(self, identifier: str) -> None:
        """Add a step that finds an object whose id was in no response, by its position in a list of resources."""
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

    # --- the expectations ---------------------------------------------------------------------------------------

    def _expectations(self) -> Iterator[JsonObject]:
        for event, count in Counter(self._recording.events).items():
            yield {"event": event, "times": count}
        for identifier, status in self._recording.states.items():
            if identifier in self._known:
                yield {"resource": self._reference(identifier), "where": {"status": status}}


def _line(note: str) -> str:
    """Replace unprintable characters in a comment line, because recorded paths can contain any character."""
    return "".join(character if character.isprintable() else "·" for character in note)


def _hint(done: Done, kinds: Mapping[str, str]) -> str:
    """Return a name for a step: the kind of object that it created, or the last word in its path."""
    answer = done.answer if isinstance(done.answer, dict) else {}
    prefix = str(answer.get("id", "")).partition("_")[0] + "_"
    kind = kinds.get(prefix, "") or (str(answer.get("type") or "") if prefix in kinds else "")
    if kind:
        return kind
    words = re.findall(r"[a-z_]+", done.action or done.path.partition("?")[0])
    return words[-1] if words else "step"


def _chosen_values(answer: object, path: str = "", key: str = "") -> Iterable[tuple[str, str]]:
    """Yield each value in a response that the service chose (such as an id, an address or a memo), with its path."""
    if isinstance(answer, dict):
        for name, item in answer.items():
            yield from _chosen_values(item, f"{path}.{name}" if path else name, name)
    elif isinstance(answer, list):
        for index, item in enumerate(answer):
            yield from _chosen_values(item, f"{path}.{index}" if path else str(index), key)
    elif (
        isinstance(answer, str)
        and answer
        and (key in _CHOSEN_BY_SERVICE or key.endswith("_id") or _ID.fullmatch(answer))
    ):
        yield answer, path


def _contains(value: object, text: str) -> bool:
    if isinstance(value, dict):
        return any(_contains(item, text) for item in value.values())
    if isinstance(value, list | tuple):
        return any(_contains(item, text) for item in value)
    return isinstance(value, str) and text in value
