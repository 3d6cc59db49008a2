"""Replays a recording: makes its calls again, either in a simulator world or against a real service.

The clock follows the recording. Recorded ids are replaced with the ids that the target returns in the same field.
Outside events are derived from recorded statuses. If a recorded response or webhook shows a new status, the replay
first performs the actions that move the object to this status.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from urllib.parse import quote, unquote, urlencode

from simulator.engine.clients.exchange import Headers
from simulator.engine.text.json import Shown, dumps, with_texts
from simulator.evidence.corpus import Exchange, Pseudonyms, Recording, Traffic, read_line, sanitise
from simulator.evidence.corpus.har import UNKNOWN_TYPE
from simulator.evidence.corpus.known import known
from simulator.evidence.corpus.pseudonyms import REMOVED
from simulator.evidence.replay.schedule import Replayed, Schedule, moment_of, pairs_of
from simulator.kernel.clock import parse_timestamp
from simulator.kernel.dataclass import dataclass
from simulator.service import TOKEN_EXCHANGE

_LARGE = b'"' + b"x" * 2_000_000 + b'"'
_NOT_JSON = b"{"
_SENT = ("content-type", "idempotency-key", "accept")
_SHORTEST_ID = 6
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_LONG_MS = 10 * 60_000
"""The maximum age of a recording's resources that are requested from a service."""


@dataclass(frozen=True)
class Answered:
    """The status, headers and body of a response, as received."""

    status: int
    headers: Headers
    body: bytes


class Player:
    """A service to which a recording is replayed. By default, its clock and outside events cannot be controlled."""

    base_ms: int
    """The start time of the replay at the service."""
    is_real_time = True
    """True if the clock cannot be advanced, so the recorded waits are omitted."""
    run = ""
    """The prefix of idempotency keys. A repeated replay uses another prefix."""
    strangers: Sequence[str] = ()
    """The ids of other accounts' resources that the account can refer to."""
    keys: Mapping[str, str]
    """The account's key pair."""

    def send(self, method: str, path: str, raw: bytes, headers: Mapping[str, str], *, signed: bool) -> Answered:
        raise NotImplementedError

    def cause(self, event: str) -> bool:
        """Cause an event that reports on the account. Return False if this is impossible."""
        return False

    def renew(self) -> None:
        """Discard the access token, so that the next call gets a new token."""

    def hook(self) -> str:
        """Return the URL that replaces recorded webhook URLs, or "" if webhooks cannot be registered."""
        return ""

    @property
    def now_ms(self) -> int:
        """The target's time."""
        return time.time_ns() // 1_000_000

    def wait_until(self, at_ms: int) -> None:
        """Advance the clock to this time, if possible."""

    def bring(self, identifier: str, status: str, fields: Mapping[str, object]) -> bool:
        """Change a resource's status with outside events, such as a payment. Return False if that is impossible.
        `fields` contains the recorded values from enumerations, such as the `failure_code` of a failed payout.
        """
        return False

    def events(self) -> list[Shown]:
        """Return the envelopes of events since the last call."""
        return []


def replay(recording: Recording, player: Player, schedule: Schedule) -> list[Replayed]:
    """Replay a recording. In the result, each exchange that could not be replayed contains the reason."""
    return [*_Replay(recording, player, schedule)]


class _Replay:
    def __init__(self, recording: Recording, player: Player, schedule: Schedule) -> None:
        self._recording, self._player, self._schedule = recording, player, schedule
        self._names: dict[str, str] = {}
        """Recorded strings, with their counterparts in the replay."""
        self._learned_ms: dict[str, int] = {}
        """The time of the first occurrence of each string in the recording, in milliseconds since the start."""
        first = recording.exchanges[0]
        self._times = Pseudonyms.moving(player.base_ms - parse_timestamp(first.at) if first.at else 0)
        """Shifts recorded times to the target's current time."""
        self._events: list[Shown] = []
        """The events in the replay that no recorded webhook has delivered yet."""
        self._pseudonyms = Pseudonyms.moving(0)

    def __iter__(self) -> Iterator[Replayed]:
        base_ms = self._player.base_ms
        for recorded, after_ms in zip(self._recording.exchanges, self._schedule.after_ms, strict=True):
            self._player.wait_until(base_ms + after_ms)
            one = Replayed(recorded, now_ms=self._player.now_ms)
            if recorded.direction == "webhook":
                one.why_not = self._receive(one)
            else:
                one.why_not = self._obstacle(recorded)
                if not one.why_not:
                    if recorded.method == "GET":
                        self._bring(recorded.response)
                    one.played = self._call(recorded)
                    if recorded.status == 401 and recorded.authenticated and one.played.status != 401:
                        one.played, one.why_not = None, "the recording has no credentials"
            yield one

    def _receive(self, one: Replayed) -> str:
        """Find the event in the replay that corresponds to a recorded webhook. Return "" if it was found, otherwise the
        reason why not.
        """
        envelope = one.recorded.request
        if not isinstance(envelope, dict) or one.recorded.attempt > 1:
            return "it repeats a delivery" if isinstance(envelope, dict) else "its body is not recorded"
        self._bring(envelope.get("data"))
        self._events += self._player.events()
        identifier, kind = self._names.get(_subject(envelope)), envelope.get("type")
        if not any(event.get("type") == kind for event in self._events) and self._player.cause(str(kind)):
            self._events += self._player.events()
        for event in self._events:
            subject = _subject(event)
            fits = subject == identifier if identifier else subject not in self._names.values()
            if event.get("type") == kind and fits:
                self._events.remove(event)
                self._match(envelope, event, one.recorded.after_ms)
                one.played = self._written(
                    Traffic(
                        n=one.recorded.n, direction="webhook", at_ms=self._pseudonyms.start_ms or 0,
                        method="POST", path="/inbox",
                        body=dumps(event), status=one.recorded.status,
                    )
                )  # fmt: skip
                return ""
        return "the replay has no such event"

    def _obstacle(self, recorded: Exchange) -> str:
        """Return the reason why a call cannot be replayed, or ""."""
        if recorded.status is None:
            return "it has no response"
        if recorded.status == 429 or recorded.status >= 500:
            return f"the service returned {recorded.status}"
        if recorded.response_body in ("large", "cut"):
            return "its response is not recorded"
        has_url = isinstance(recorded.request, Mapping) and isinstance(recorded.request.get("url"), str)
        if has_url and not self._player.hook():
            return "webhooks cannot be registered there"
        if recorded.request_body not in ("json", "none") and self._player.is_real_time:
            return "its body is not recorded"
        if recorded.status != 404 and (unknown := next(self._unknown(recorded), "")):
            return f"{unknown} is older than the recording"
        return ""

    def _unknown(self, recorded: Exchange) -> Iterator[str]:
        """Yield the ids in a recorded request that no earlier response in the replay contained."""
        _, template = known().operation(recorded.method, recorded.path)
        segments = [unquote(one) for one in recorded.path.strip("/").split("/")]
        for part, segment in zip(template, segments, strict=False):
            if part.startswith("{") and self._is_unknown(segment, recorded):
                yield segment
        for value in _leaves(recorded.request):
            if isinstance(value, str) and self._is_unknown(value, recorded):
                yield value

    def _is_unknown(self, text: str, recorded: Exchange) -> bool:
        if self._player.is_real_time and recorded.after_ms - self._learned_ms.get(text, recorded.after_ms) > _LONG_MS:
            return True  # the resource may have expired during the wait in the recording
        form = _form_of_id(text)
        if not form or text in self._names:
            return False
        taken = self._names.values()
        for one in self._player.strangers:
            if _form_of_id(one) == form and one not in taken:
                self._names[text] = one
                return False
        return True

    def _bring(self, shown: object) -> None:
        """Move each resource in a recorded response body to its recorded status."""
        for row in _objects(shown):
            identifier, status = row.get("id"), row.get("status")
            if isinstance(identifier, str) and isinstance(status, str) and identifier in self._names:
                known_values = known().values
                fields = {key: one for key, one in row.items() if isinstance(one, str) and one in known_values}
                self._player.bring(self._names[identifier], status, fields)

    def _call(self, recorded: Exchange) -> Exchange:
        path, raw = self._path(recorded), self._body(recorded)
        headers = {name: str(value) for name in _SENT if (value := recorded.headers.get(name))}
        if "idempotency-key" in headers:
            headers["idempotency-key"] = self._player.run + headers["idempotency-key"]
        if raw and recorded.headers.get("content-type") == "":
            headers["content-type"] = UNKNOWN_TYPE
        answer = self._player.send(recorded.method, path, raw, headers, signed=recorded.authenticated)
        if answer.status == 401 and recorded.status != 401 and recorded.authenticated:
            self._player.renew()
            answer = self._player.send(recorded.method, path, raw, headers, signed=True)
        self._learn(recorded, answer)
        lines = [*headers.items(), *([("authorization", "")] if recorded.authenticated else [])]
        sent = raw if recorded.request_body == "json" else b""
        played = Traffic(
            n=recorded.n, at_ms=self._pseudonyms.start_ms or 0, method=recorded.method, path=path.partition("?")[0],
            query=path.partition("?")[2], headers=lines, body=sent, status=answer.status,
            response_headers=list(answer.headers), response=answer.body,
        )  # fmt: skip
        return self._written(played)

    def _written(self, traffic: Traffic) -> Exchange:
        """Return replayed traffic in the format of a recording."""
        exchange = read_line(sanitise(traffic, self._pseudonyms).line())
        assert isinstance(exchange, Exchange)
        return exchange

    def _path(self, recorded: Exchange) -> str:
        parts = [quote(self._named(unquote(one)), safe="") for one in recorded.path.strip("/").split("/")]
        pairs = [
            (name, self._named(str(one)))
            for name, value in recorded.query.items()
            for one in (value if isinstance(value, list) else [value])
        ]
        return "/" + "/".join(parts) + (f"?{urlencode(pairs)}" if pairs else "")

    def _body(self, recorded: Exchange) -> bytes:
        if recorded.request_body != "json":
            return {"none": b"", "large": _LARGE}.get(recorded.request_body, _NOT_JSON)
        body = with_texts(recorded.request, self._named)
        is_accepted = recorded.status is not None and recorded.status < 300
        if recorded.path == TOKEN_EXCHANGE.path and is_accepted and isinstance(body, dict):
            body = {**body, **self._player.keys}
        if is_accepted and isinstance(body, dict) and isinstance(body.get("url"), str):
            body = {**body, "url": self._player.hook()}
        return dumps(body)

    def _named(self, text: str) -> str:
        return self._names.get(text) or self._times.moved(text)

    def _learn(self, recorded: Exchange, answer: Answered) -> None:
        try:
            played = json.loads(answer.body)
        except ValueError:
            return
        if recorded.status is None or recorded.status >= 400 or answer.status >= 400:
            return
        self._match(recorded.response, played, recorded.after_ms)

    def _match(self, recorded: object, played: object, after_ms: int) -> None:
        """Record which id in the replay corresponds to each recorded id."""
        for theirs, ours in pairs_of(recorded, played):
            if (
                isinstance(theirs, str) and isinstance(ours, str) and theirs != ours
                and len(theirs) >= _SHORTEST_ID and theirs not in known().values and moment_of(theirs) is None
                and not theirs.replace(".", "").isdecimal()
            ):  # fmt: skip
                self._names.setdefault(theirs, ours)
                self._learned_ms.setdefault(theirs, after_ms)


def _form_of_id(text: str) -> str:
    """Return the prefix of an id, or `uuid`. Return "" for other strings and for ids of catalogue entries."""
    if _UUID.fullmatch(text):
        return "uuid"
    prefix = known().prefix_of(text)
    rest = text[len(prefix) :]
    is_listed = text in known().values or all(word in known().words for word in rest.split("_"))
    return "" if is_listed or text.endswith(REMOVED) or len(text) <= _SHORTEST_ID else prefix


def _subject(envelope: Shown) -> str:
    """Return the id of the resource that an event reports, or ""."""
    data = envelope.get("data")
    shown = data.get("object") if isinstance(data, Mapping) else None
    return str(shown.get("id", "")) if isinstance(shown, Mapping) else ""


def _leaves(value: object) -> Iterator[object]:
    if isinstance(value, Mapping | list):
        for one in value.values() if isinstance(value, Mapping) else value:
            yield from _leaves(one)
    else:
        yield value


def _objects(value: object) -> Iterator[Shown]:
    if isinstance(value, Mapping):
        yield value
    if isinstance(value, Mapping | list):
        for one in value.values() if isinstance(value, Mapping) else value:
            yield from _objects(one)
