"""A client for the service under test. Calls are identified by operation, and a response contains its request."""

from __future__ import annotations

import json
import re
import shlex
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from decimal import Decimal
from types import MappingProxyType
from urllib.parse import quote, urlencode

from simulator.engine.clients.synchronous import NoResponse, SyncClient
from simulator.engine.clients.tool_mark import marked
from simulator.engine.rows.token_exchange import TokenExchange
from simulator.engine.text.json import JsonObject, Shown
from simulator.kernel.dataclass import dataclass

TIMEOUT_SECONDS = 30
MOST_WAITS = 5
"""The maximum number of waits after a 429. After that, a 429 counts as the response."""

FRESH_KEY = "$(date +%s)-$RANDOM"
"""A shell expression for a fresh Idempotency-Key that works in any shell."""

_FOLD = re.compile(r"\{([a-z_]+)\}")


class MissingField(Exception):
    """A response lacks a field that a rule reads."""

    def __init__(self, answer: Answer, place: str) -> None:
        super().__init__(f"the response has no {place}")
        self.answer, self.place = answer, place


class NoAnswer(Exception):
    """The connection failed, or the call timed out."""


@dataclass(frozen=True)
class Sent:
    """One request, as it was sent to the service."""

    operation: str
    """The operation's name in the contract: `POST /quotes`."""
    url: str
    headers: Mapping[str, str]
    body: bytes | None

    @property
    def method(self) -> str:
        return self.operation.partition(" ")[0]

    def curl(self, variables: Mapping[str, str] = MappingProxyType({})) -> str:
        """Return a shell command that repeats the call, with a token in $TOKEN and a fresh Idempotency-Key.

        `variables` maps ids and keys in the call to the names of the shell variables that replace them.
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
    """Return a quoted shell word in which variables replace values. A variable ends the single quotes."""
    for value, variable in variables.items():
        word = word.replace(value, f"'\"${variable}\"'" if word.startswith("'") else f'"${variable}"')
    return word


@dataclass(frozen=True)
class Answer:
    """A response. Reading a missing field raises `MissingField`, which is reported as a finding."""

    sent: Sent
    status: int
    headers: Mapping[str, str]
    """The response headers, by lowercase name."""
    raw: bytes
    body: Shown = field(default_factory=dict)
    """The body as a JSON object, or an empty object if the body is not one."""

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
        """Return the string at a dotted path."""
        value = self.at(place)
        if not isinstance(value, str):
            raise MissingField(self, place)
        return value

    def part(self, place: str) -> Shown:
        """Return the object at a dotted path."""
        value = self.at(place)
        if not isinstance(value, Mapping):
            raise MissingField(self, place)
        return value

    def number(self, place: str) -> Decimal:
        """Return the amount at a dotted path. The response may contain it as a string or as a number."""
        try:
            return Decimal(str(self.at(place)))
        except ArithmeticError:
            raise MissingField(self, place) from None

    def at(self, place: str) -> object:
        value: object = self.body
        for name in place.split("."):
            if not isinstance(value, Mapping) or name not in value:
                raise MissingField(self, place)
            value = value[name]
        return value

    @property
    def items(self) -> list[Shown]:
        """The items in the response of a list operation."""
        rows = self.body.get("data")
        if not isinstance(rows, list) or not all(isinstance(row, Mapping) for row in rows):
            raise MissingField(self, "data")
        return rows

    @property
    def short(self) -> str:
        return f"{self.status} {self.code}" if self.code else str(self.status)


class Service:
    """A client for one base URL with one key pair. It renews its token when needed, and waits after a 429."""

    def __init__(
        self, base_url: str, public_key: str, secret_key: str, exchange: TokenExchange,
        on_answer: Callable[[Answer], None] = lambda answer: None,
    ) -> None:  # fmt: skip
        self.base_url, self.public_key, self.secret_key = base_url.rstrip("/"), public_key, secret_key
        self._exchange, self._on_answer = exchange, on_answer
        self.patient = True
        """Whether to wait after a 429."""
        # Any service may be under test, such as the provider's sandbox. `running.run` has checked the key pair.
        self._client = SyncClient(self.base_url, any_host=True, reuses=True)
        self._token: str | None = None

    def another(self, base_url: str | None = None, keys: Mapping[str, str] | None = None) -> Service:
        """Return another client, for a different base URL, key pair or thread."""
        pair = keys or {"public_key": self.public_key, "secret_key": self.secret_key}
        return Service(base_url or self.base_url, exchange=self._exchange, on_answer=self._on_answer, **pair)

    def close(self) -> None:
        self._client.close()

    def call(
        self, operation: str, body: object = None, *, query: Mapping[str, object] | None = None,
        key: str | None = None, token: str | None = None, raw: bytes | None = None,
        path: Mapping[str, str] | None = None, **ids: str,
    ) -> Answer:  # fmt: skip
        """Make one call: `call("GET /quotes/{id}", id="qt_...")`. Raise `NoAnswer` if there is no response.

        `token` replaces the client's token. "" sends no token. `raw` is sent in place of `body`.
        """
        given = {**(path or {}), **ids}
        target = _FOLD.sub(lambda found: quote(given[found[1]], safe=""), operation.partition(" ")[2])
        asked = f"?{urlencode({name: str(value) for name, value in query.items()})}" if query else ""
        data = raw if raw is not None else (None if body is None else json.dumps(body).encode())
        headers = {} if data is None else {"Content-Type": "application/json"}
        if key is not None:
            headers["Idempotency-Key"] = key
        answer = self._send(operation, f"{self.base_url}{target}{asked}", headers, data, token)
        if answer.status == 401 and token is None and self._token is not None and operation != self._exchange.operation:
            self._token = None
            answer = self._send(operation, answer.sent.url, headers, data, token)
        self._on_answer(answer)
        return answer

    def sign_in(self) -> str:
        """Return a fresh token. Raise `MissingField` if the response has none."""
        keys = self._exchange.body({"public_key": self.public_key, "secret_key": self.secret_key})
        return self.call(self._exchange.operation, keys, token="").text(self._exchange.token_field)

    def _send(
        self, operation: str, url: str, headers: Mapping[str, str], data: bytes | None, token: str | None
    ) -> Answer:
        if token is None and operation != self._exchange.operation:
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
                # The server may have closed an idle connection since it was last used, so try once more. Do not retry
                # after a timeout, because the server may have processed the request.
                if not first or error.timed_out:
                    raise NoAnswer(f"{sent.operation}: {error}") from None
        return Answer(sent, status, received, raw, parsed(raw))


def parsed(raw: bytes) -> JsonObject:
    """Return a JSON object with exact numbers, or an empty object for any other body."""
    try:
        value = json.loads(raw, parse_float=Decimal)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def pages(service: Service, operation: str, query: Mapping[str, object] | None = None, **ids: str) -> Iterator[Answer]:
    """Yield the pages of a list. Stop after an empty page, or when `total_pages` is reached."""
    number = 1
    while True:
        answer = service.call(operation, query={"size": 100, **(query or {}), "page": number}, path=ids)
        yield answer
        if not answer.ok or not answer.items or number >= answer.number("pagination.total_pages"):
            return
        number += 1
