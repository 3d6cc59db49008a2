"""Replays recorded calls against a new simulator, which has different ids, tokens and times. The clock follows the
recording. Scenarios replace outside events, which are not recorded. If a returned object does not have its recorded
status, actions change the status and the call is repeated.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, field

import orjson

from simulator.compare.differences import Difference, compare_answers, differing, error_of, is_id
from simulator.compare.verdicts import CHANGES, MEANINGS, meaning_of, place_of
from simulator.engine.clients.asynchronous import AsgiClient, Reply
from simulator.engine.scenario.run.paths import move_to_status
from simulator.engine.server.app import Application
from simulator.engine.server.config import Config
from simulator.engine.text.json import JsonObject, with_texts
from simulator.engine.text.reports import counted
from simulator.engine.vocabulary.vocabulary import identity_of
from simulator.evidence.corpus.har import LIVE, UNKNOWN_TYPE, RecordedCall
from simulator.host import PROVIDER, create_app
from simulator.kernel.dataclass import dataclass
from simulator.kernel.journal import Cause
from simulator.kernel.world import DEFAULT_WORLD
from simulator.service import TOKEN_EXCHANGE

KEPT_HEADERS = ("content-type", "idempotency-key")


@dataclass
class Comparison:
    """The result of a replay: the differences, and the calls that were not replayed."""

    replayed: int = 0
    differences: list[Difference] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    """Calls that were not replayed, with the reason for each."""
    is_service: bool = False
    """True if the calls were replayed at the service, so that a difference is a change of the service."""

    def readable(self) -> str:
        lines = [difference.readable(is_service=self.is_service) for difference in self.differences]
        lines += [f"not replayed: {reason}" for reason in self.skipped]
        lines.append(f"{self.replayed} calls replayed, {counted(len(self.differences), 'difference')}")
        means = Counter(difference.meaning for difference in self.differences)
        phrases = {one: words for one, (_, words) in CHANGES.items()} if self.is_service else MEANINGS
        lines += [f"  {means[meaning]} {words}" for meaning, words in phrases.items() if means[meaning]]
        if self.is_service and means.keys() - {"world"}:
            lines.append("The service has changed since the recording.")
        return "\n".join(lines)

    def as_json(self) -> JsonObject:
        return asdict(self)


async def compare(
    entries: Sequence[RecordedCall], *, scenarios: tuple[str, ...] = ("autopilot",), values: bool = False
) -> Comparison:
    """Replay calls and compare the responses. If `values` is True, also compare amounts, rates and other strings."""
    application = create_app(Config(clock="manual", now_ms=entries[0].at_ms, scenarios=scenarios))
    replay = _Replay(application, values)
    try:
        for entry in entries:
            await replay.step(entry)
    finally:
        await application.runtime.close()
    return replay.result


class _Replay:
    """The state of a replay, which maps recorded ids and tokens to the simulator's ids and tokens."""

    def __init__(self, application: Application, values: bool) -> None:
        self.result = Comparison()
        self._application = application
        self._client = AsgiClient(application)
        self._values = values
        self._world = application.runtime.simulator.worlds[DEFAULT_WORLD]
        self._names: dict[str, str] = {}
        self._environment = self._world.environments[0]
        self._tokens: dict[str, str] = {}

    async def step(self, entry: RecordedCall) -> None:
        if entry.method == "POST" and entry.path == "/webhooks":
            self.result.skipped.append(f"#{entry.n} POST /webhooks: the receiver does not exist during a replay")
            return
        unknown = [name for name in _ids(entry) if name not in self._names]
        if unknown and entry.status != 404:
            what = f"#{entry.n} {entry.method} {entry.path}"
            self.result.skipped.append(f"{what}: {unknown[0]} is older than the recording")
            return
        if entry.at_ms > self._world.now_ms:
            await self._application.runtime.driver.advance(self._world, entry.at_ms)
        reply = await self._call(entry)
        if self._bring(entry, reply):
            reply = await self._call(entry)
        self._learn(entry.answer, reply.body)
        self._report(entry, reply.status, reply.body)

    async def _call(self, entry: RecordedCall) -> Reply:
        path = "/".join(self._names.get(part, part) for part in entry.path.split("/"))
        pairs = [pair.partition("=") for pair in entry.query.split("&")]
        query = "&".join(f"{name}{equals}{self._names.get(value, value)}" for name, equals, value in pairs)
        recorded = dict(entry.headers)
        headers = {name: recorded[name] for name in KEPT_HEADERS if name in recorded}
        if headers.get("content-type") == "":
            headers["content-type"] = UNKNOWN_TYPE
        body = entry.body or b""
        if entry.path == TOKEN_EXCHANGE.path and isinstance(entry.sent, dict):
            body = orjson.dumps(self._own_keys(entry.sent, entry.status))
        elif isinstance(entry.sent, dict | list):
            body = orjson.dumps(with_texts(entry.sent, lambda text: self._names.get(text, text)))
        if "authorization" in recorded:
            scheme, _, token = recorded["authorization"].partition(" ")
            headers["authorization"] = f"{scheme} {await self._token(token, entry.status)}"
        path = PROVIDER.environments[self._environment] + path + (f"?{query}" if query else "")
        reply = await self._client.send(entry.method, path, body, headers)
        self.result.replayed += 1
        return reply

    def _own_keys(self, body: JsonObject, status: int) -> JsonObject:
        """Return the body of a token request with the simulator's key pair, or unchanged if the service refused it."""
        given = body.get("public_key")
        if isinstance(given, str):
            self._environment = self._world.environments[-1 if given.startswith(LIVE) else 0]
        if status != 200:
            return body
        return {**body, **identity_of(self._world).credentials(self._world)[self._environment]}

    async def _token(self, recorded: str, status: int) -> str:
        """Return the simulator's token that corresponds to a recorded token. A refused token is returned unchanged."""
        if status == 401:
            return recorded
        if recorded not in self._tokens:
            keys = identity_of(self._world).credentials(self._world)[self._environment]
            path = PROVIDER.environments[self._environment] + TOKEN_EXCHANGE.path
            reply = await self._client.request("POST", path, keys)
            self._tokens[recorded] = reply.body[TOKEN_EXCHANGE.token_field]
        return self._tokens[recorded]

    def _bring(self, entry: RecordedCall, reply: Reply) -> bool:
        """Perform actions that change an object to its recorded status. Return True if the status changed."""
        shown, recorded = reply.body, entry.answer
        if (entry.method, reply.status) != ("GET", 200) or not (isinstance(shown, dict) and isinstance(recorded, dict)):
            return False
        wanted, target = recorded.get("status"), shown.get("id")
        if not isinstance(target, str) or wanted == shown.get("status"):
            return False
        actions, cause = self._application.runtime.simulator.actions, Cause("action", "compare", "recording")
        return move_to_status(self._world, actions, target, wanted, self._environment, cause)

    def _learn(self, recorded: object, simulated: object) -> None:
        """Map recorded ids and tokens to the values at the same paths in the simulated response."""
        if isinstance(recorded, dict) and isinstance(simulated, dict):
            for name in recorded:
                if name == TOKEN_EXCHANGE.token_field and isinstance(simulated.get(name), str):
                    self._tokens[str(recorded[name])] = simulated[name]
                elif name in simulated:
                    self._learn(recorded[name], simulated[name])
        elif isinstance(recorded, list) and isinstance(simulated, list):
            for theirs, ours in zip(recorded, simulated, strict=False):
                self._learn(theirs, ours)
        elif is_id(recorded) and is_id(simulated):
            self._names.setdefault(recorded, simulated)

    def _report(self, entry: RecordedCall, status: int, simulated: object) -> None:
        place = place_of(entry.method, entry.path, status)
        differ = differing(place, values=self._values)
        found = compare_answers(entry.answer, simulated, values=self._values, differ=differ)
        if status != entry.status:
            found = iter([("status", "", with_code(entry.status, entry.answer), with_code(status, simulated))])
        for kind, pointer, theirs, ours in found:
            meaning, what = meaning_of(place, kind, pointer, theirs), f"{entry.method} {entry.path}"
            self.result.differences.append(Difference(entry.n, what, kind, pointer, theirs, ours, meaning))


def with_code(status: int, answer: object) -> str:
    error = error_of(answer)
    return str(status) if error is None else f"{status} {error['code']}"


def _ids(entry: RecordedCall) -> list[str]:
    found = [part for part in entry.path.split("/") if is_id(part)]
    found += [value for pair in entry.query.split("&") if is_id(value := pair.partition("=")[2])]
    return [*found, *_ids_in(entry.sent)]


def _ids_in(value: object) -> list[str]:
    if isinstance(value, dict):
        return [found for name, item in value.items() if name.endswith("_id") for found in _ids_in(item)]
    return [value] if is_id(value) else []
