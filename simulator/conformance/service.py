"""The service under test, as a client of it sees it: calls by their row in the contract, answers that remember them."""

from __future__ import annotations

import json
import re
import shlex
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from decimal import Decimal
from types import MappingProxyType
from urllib.parse import quote, urlencode

from simulator.engine.clients.synchronous import NoResponse, SyncClient
from simulator.engine.clients.tool_mark import marked
from simulator.engine.text.json import JsonObject, Shown
from simulator.kernel.dataclass import dataclass

TIMEOUT_SECONDS = 30
MOST_WAITS = 5
"""How often a 429 is waited for before it counts as the answer."""

FRESH_KEY = "$(date +%s)-$RANDOM"
"""An Idempotency-Key that nothing was sent under: of what every shell has."""

TOKEN = "POST /auth/token"
"""The operation that gives a token for a key pair."""

_FOLD = re.compile(r"\{([a-z_]+)\}")


class Unread(Exception):
    """An answer has not what a law has to read in it; `place` is where."""

    def __init__(self, answer: Answer, place: str) -> None:
        super().__init__(f"the answer has no {place}")
        self.answer, self.place = answer, place


class NoAnswer(Exception):
    """The connection broke, or nothing came in time."""


@dataclass(frozen=True)
class Sent:
    """One request as it was sent; `operation` is its row in the contract, `POST /quotes`."""

    operation: str
    url: str
    headers: Mapping[str, str]
    body: bytes | None

    @property
    def method(self) -> str:
        return self.operation.partition(" ")[0]

    def curl(self, variables: Mapping[str, str] = MappingProxyType({})) -> str:
        """The line that repeats the call, with a token in $TOKEN and a fresh Idempotency-Key.

        `variables`: ids and keys, each with the variable of the shell that stands in its place.
        """
        url = _filled(shlex.quote(self.url), variables)
        parts = ["curl", "-sS", "-i", *(["-X", self.method] if self.method != "GET" else []), url]
        for name, value in self.headers.items():
            shown = f"{name}: {value}"
            if name == "Authorization" and value != "Bearer made-up":
                shown = "Authorization: Bearer $TOKEN"
            elif name == "Idempotency-Key" and value:
                shown = f"Idempotency-Key: {f'${variables[value]}' if value in variables else FRESH_KEY}"
            parts += ["-H", f'"{shown}"' if "$" in shown else shlex.quote(shown)]
        if self.body is not None:
            parts += ["-d", _filled(shlex.quote(self.body.decode(errors="replace")), variables)]
        return " ".join(parts)

    def names(self, value: str) -> bool:
        return value in self.url or (self.body is not None and value.encode() in self.body)


def _filled(word: str, variables: Mapping[str, str]) -> str:
    """A quoted word of the shell with variables in it, which single quotes would hide."""
    for value, variable in variables.items():
        word = word.replace(value, f"'\"${variable}\"'" if word.startswith("'") else f'"${variable}"')
    return word


@dataclass(frozen=True)
class Answer:
    """What came back. Members are read by index; one that is not there raises Unread, which becomes a finding."""

    sent: Sent
    status: int
    headers: Mapping[str, str]
    """Names in lower case."""
    raw: bytes
    body: Shown = field(default_factory=dict)
    """The JSON object; empty when there is none."""

    @property
    def operation(self) -> str:
        return self.sent.operation

    @property
    def ok(self) -> bool:
        return 200 <= self.status < 300

    @property
    def code(self) -> str | None:
        error = self.body.get("error")
        code = error.get("code") if isinstance(error, Mapping) else None
        return code if isinstance(code, str) else None

    @property
    def param(self) -> str | None:
        error = self.body.get("error")
        return error.get("param") if isinstance(error, Mapping) else None

    def text(self, place: str) -> str:
        """The string at a dotted place."""
        value = self.at(place)
        if not isinstance(value, str):
            raise Unread(self, place)
        return value

    def part(self, place: str) -> Shown:
        """The object at a dotted place."""
        value = self.at(place)
        if not isinstance(value, Mapping):
            raise Unread(self, place)
        return value

    def number(self, place: str) -> Decimal:
        """The amount at a dotted place, a string or a number."""
        try:
            return Decimal(str(self.at(place)))
        except ArithmeticError:
            raise Unread(self, place) from None

    def at(self, place: str) -> object:
        value: object = self.body
        for name in place.split("."):
            if not isinstance(value, Mapping) or name not in value:
                raise Unread(self, place)
            value = value[name]
        return value

    @property
    def items(self) -> list[Shown]:
        """The rows of a list."""
        rows = self.body.get("data")
        if not isinstance(rows, list) or not all(isinstance(row, Mapping) for row in rows):
            raise Unread(self, "data")
        return rows

    @property
    def short(self) -> str:
        code = f" {self.code}" if self.code else ""
        return f"{self.status}{code}"


class Service:
    """Calls of one base URL with one key pair. It signs in by itself, again when a token has lapsed, and obeys 429."""

    def __init__(
        self, base_url: str, public_key: str, secret_key: str, heard: Callable[[Answer], None] = lambda answer: None
    ) -> None:
        self.base_url, self.public_key, self.secret_key = base_url.rstrip("/"), public_key, secret_key
        self._heard = heard
        self.patient = True
        """Whether a 429 is waited for."""
        # The service under test may be any, such as the provider's sandbox. `running.run` has checked the key pair.
        self._client = SyncClient(self.base_url, any_host=True, reuses=True)
        self._token: str | None = None

    def another(self, base_url: str | None = None, keys: Sequence[str] | None = None) -> Service:
        """A client beside this one: of another base, with another pair, or for a thread of its own."""
        public, secret = keys or (self.public_key, self.secret_key)
        return Service(base_url or self.base_url, public, secret, self._heard)

    def close(self) -> None:
        self._client.close()

    def call(
        self, operation: str, body: object = None, *, query: Mapping[str, object] | None = None,
        key: str | None = None, token: str | None = None, raw: bytes | None = None,
        path: Mapping[str, str] | None = None, **ids: str,
    ) -> Answer:  # fmt: skip
        """Send one call: `call("GET /quotes/{id}", id="qt_...")`. NoAnswer.

        `token` replaces the own one, "" sends none. `raw` is sent instead of `body` as it is.
        """
        given = {**(path or {}), **ids}
        target = _FOLD.sub(lambda found: quote(given[found[1]], safe=""), operation.partition(" ")[2])
        asked = f"?{urlencode({name: str(value) for name, value in query.items()})}" if query else ""
        data = raw if raw is not None else (None if body is None else json.dumps(body).encode())
        headers = {} if data is None else {"Content-Type": "application/json"}
        if key is not None:
            headers["Idempotency-Key"] = key
        answer = self._send(operation, f"{self.base_url}{target}{asked}", headers, data, token)
        if answer.status == 401 and token is None and self._token is not None and operation != TOKEN:
            self._token = None
            answer = self._send(operation, answer.sent.url, headers, data, token)
        self._heard(answer)
        return answer

    def sign_in(self) -> str:
        """A fresh token. Unread when the answer is none."""
        keys = {"public_key": self.public_key, "secret_key": self.secret_key}
        return self.call(TOKEN, keys, token="").text("access_token")

    def _send(
        self, operation: str, url: str, headers: Mapping[str, str], data: bytes | None, token: str | None
    ) -> Answer:
        if token is None and operation != TOKEN:
            if self._token is None:
                self._token = self.sign_in()
            token = self._token
        sent = Sent(operation, url, {**({"Authorization": f"Bearer {token}"} if token else {}), **headers}, data)
        for _ in range(MOST_WAITS):
            answer = self._ask(sent)
            wait = answer.headers.get("retry-after", "")
            if answer.status != 429 or not wait.isdecimal() or not self.patient:
                break
            time.sleep(min(int(wait), TIMEOUT_SECONDS))
        return answer

    def _ask(self, sent: Sent) -> Answer:
        path, headers = sent.url.removeprefix(self.base_url), {**sent.headers, **marked("conform")}
        for first in (True, False):
            try:
                status, received, raw = self._client.request(sent.method, path, sent.body, headers, TIMEOUT_SECONDS)
                break
            except NoResponse as error:
                # The server may have closed an idle connection since its last use: one more try. But a request that
                # timed out may have been carried out.
                if not first or error.timed_out:
                    raise NoAnswer(f"{sent.operation}: {error}") from None
        return Answer(sent, status, received, raw, parsed(raw))


def parsed(raw: bytes) -> JsonObject:
    """A JSON object, its numbers exact; empty where there is none."""
    try:
        value = json.loads(raw, parse_float=Decimal)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def pages(service: Service, operation: str, query: Mapping[str, object] | None = None, **ids: str) -> Iterator[Answer]:
    """The pages of a list, one after another, until one is not full or the last that it tells of."""
    number = 1
    while True:
        answer = service.call(operation, query={"size": 100, **(query or {}), "page": number}, path=ids)
        yield answer
        if not answer.ok or not answer.items or number >= answer.number("pagination.total_pages"):
            return
        number += 1
