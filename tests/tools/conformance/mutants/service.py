"""Wrong services: the simulator with one change to its requests or responses, as a layer of ASGI or of its courier.

A mutant is a row: its name, a description of the mistake, the rules of `rampsim conform` of which at least one must
find it, and one function. Three decorators create rows from functions:

`@answer` changes the responses to successful calls of some operations. `@service` replaces these operations. The
function gets the call and the real service, and may call that service once, several times or not at all. `@delivery`
changes webhooks between the courier and the receivers.
"""

from __future__ import annotations

import copy
import hmac
import json
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import parse_qsl, urlencode

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from simulator.engine.clients.exchange import Headers
from simulator.engine.webhooks import Outcome, webhook_key
from simulator.engine.webhooks.courier.transport import Transport
from simulator.engine.worlds.simulator import Simulator as AnySimulator
from simulator.host import Simulator

BASES = ("/production/v1", "/v1")


@dataclass
class Answer:
    """A response. `body`: parsed JSON, or None without a body."""

    status: int
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)


@dataclass
class Call:
    """A call of the API. `operation`: method and path template. `memory`: state of the mutant."""

    operation: str
    method: str
    base: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: Any
    memory: dict[Any, Any] = field(compare=False)

    @property
    def id(self) -> str:
        """The first id of the path."""
        return self.path.split("/")[2]

    def but(self, **changes: Any) -> Call:
        """Return a copy with other fields."""
        return replace(self, **changes)

    def to(self, method: str, path: str, body: Any = None, **query: str) -> Call:
        """Return another call by the same caller, without an idempotency key."""
        headers = {name: value for name, value in self.headers.items() if name != "idempotency-key"}
        return self.but(method=method, path=path, body=body, query=query, headers=headers)


@dataclass
class Post:
    """One webhook request. `key`: the webhook key of its signature."""

    url: str
    headers: dict[str, str]
    raw: bytes
    key: str
    memory: dict[Any, Any] = field(compare=False)

    @property
    def event(self) -> Any:
        return json.loads(self.raw)

    def carrying(self, event: Any) -> Post:
        """Return the request with another event, validly signed."""
        raw = json.dumps(event, separators=(",", ":"), ensure_ascii=False).encode()
        return replace(self, raw=raw).signed(self.headers["X-Timestamp"])

    def signed(self, stamp: str, key: str | None = None) -> Post:
        """Return the request with another timestamp or key, validly signed."""
        mac = hmac.digest((key or self.key).encode(), stamp.encode() + b"." + self.raw, "sha256").hex()
        return replace(self, headers={**self.headers, "X-Timestamp": stamp, "X-Signature": mac})


Service = Callable[[Call], Awaitable[Answer]]
Wrong = Callable[[Call, Service], Awaitable[Answer]]
Sender = Callable[[Post], Awaitable[Outcome]]
WrongSender = Callable[[Post, Sender], Awaitable[Outcome]]


@dataclass(frozen=True)
class Mutant:
    """One wrong service. `on`: the operations it is about, none for all; either of `service` and `sender` is set."""

    name: str
    wrong: str
    found_by: tuple[str, ...]
    on: tuple[str, ...] = ()
    service: Wrong | None = None
    sender: WrongSender | None = None


MUTANTS: dict[str, Mutant] = {}


def _add(function: Any, wrong: str, found_by: tuple[str, ...], **more: Any) -> None:
    name = function.__name__.replace("_", "-")
    assert name not in MUTANTS, name
    MUTANTS[name] = Mutant(name, wrong, found_by, **more)


def service(wrong: str, *on: str, found_by: str) -> Callable[[Wrong], Wrong]:
    """A mutant that stands in the place of these operations. `found_by`: names of rules between blanks."""

    def add(function: Wrong) -> Wrong:
        _add(function, wrong, tuple(found_by.split()), on=on, service=function)
        return function

    return add


def answer(wrong: str, *on: str, found_by: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A mutant that changes the successful answers of these operations, by a function of body and call."""

    def add(function: Callable[[Any, Call], None]) -> Callable[[Any, Call], None]:
        async def changing(call: Call, ask: Service) -> Answer:
            found = await ask(call)
            if found.status < 300 and found.body is not None:
                function(found.body, call)
            return found

        _add(function, wrong, tuple(found_by.split()), on=on, service=changing)
        return function

    return add


def delivery(wrong: str, *, found_by: str) -> Callable[[WrongSender], WrongSender]:
    """Declare a mutant between the courier and receivers."""

    def add(function: WrongSender) -> WrongSender:
        _add(function, wrong, tuple(found_by.split()), sender=function)
        return function

    return add


def _templates() -> list[tuple[str, re.Pattern[str], str]]:
    rows = [(row.method, row.path) for row in Simulator().operations]
    rows.sort(key=lambda row: row[1].count("{"))
    return [(method, re.compile(re.sub(r"\{\w+\}", "[^/]+", path) + "$"), f"{method} {path}") for method, path in rows]


class WrongService:
    """ASGI middleware that passes calls of the API through a mutant."""

    def __init__(self, app: ASGIApp, mutant: Mutant, tally: Tally) -> None:
        self._app = app
        self._mutant = mutant
        self._tally = tally
        self._templates = _templates()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"] if scope["type"] == "http" else ""
        base = next((base for base in BASES if path.startswith(f"{base}/")), None)
        if base is None or self._mutant.service is None:
            await self._app(scope, receive, send)
            return
        raw = await _body(receive)
        call = self._call(scope, base, raw)
        asked: list[tuple[bool, Answer, bytes]] = []

        async def ask(inner: Call) -> Answer:
            sent = (scope, raw) if inner == original else _request(scope, inner)
            found, content = await _exchange(self._app, *sent)
            asked.append((sent[0] is scope, copy.deepcopy(found), content))
            return found

        concerned = not self._mutant.on or call.operation in self._mutant.on
        original = call.but(query={**call.query}, headers={**call.headers}, body=copy.deepcopy(call.body))
        try:
            result = await (self._mutant.service(call, ask) if concerned else ask(call))
        except Exception as error:
            self._tally.slips.append(f"{call.operation}: {error!r}")
            raise
        untouched = len(asked) == 1 and asked[0][0] and asked[0][1] == result
        self._tally.hits += not untouched
        await _send(send, result, asked[0][2] if untouched else None)

    def _call(self, scope: Scope, base: str, raw: bytes) -> Call:
        path, method = scope["path"].removeprefix(base), scope["method"]
        operation = next(
            (label for known, pattern, label in self._templates if known == method and pattern.match(path)), ""
        )
        try:
            body = json.loads(raw) if raw else None
        except ValueError:
            body = None
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        query = dict(parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True))
        return Call(operation, method, base, path, query, headers, body, self._tally.memory)


@dataclass
class Tally:
    """The changes and the state of a mutant."""

    hits: int = 0
    slips: list[str] = field(default_factory=list)
    """Errors of the mutant itself, which are not its intended mistake."""
    memory: dict[Any, Any] = field(default_factory=dict)


async def _body(receive: Receive) -> bytes:
    raw = b""
    while True:
        message = await receive()
        raw += bytes(message.get("body", b""))
        if not message.get("more_body"):
            return raw


def _request(scope: Scope, call: Call) -> tuple[Scope, bytes]:
    """Return the call as an ASGI scope and its body."""
    raw = b"" if call.body is None else json.dumps(call.body).encode()
    headers = {**call.headers, "content-length": str(len(raw)), "content-type": "application/json"}
    if not raw:
        del headers["content-type"]
    sent = {
        **{name: value for name, value in scope.items() if name != "simulator.headers"},  # of the original call
        "method": call.method,
        "path": call.base + call.path,
        "raw_path": (call.base + call.path).encode(),
        "query_string": urlencode(call.query).encode(),
        "headers": [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()],
    }
    return sent, raw


async def _exchange(app: ASGIApp, scope: Scope, raw: bytes) -> tuple[Answer, bytes]:
    result, chunks = Answer(0), list[bytes]()
    given = False

    async def receive() -> Message:
        nonlocal given
        given = True
        return {"type": "http.request", "body": raw, "more_body": False}

    async def collect(message: Message) -> None:
        if message["type"] == "http.response.start":
            result.status = message["status"]
            result.headers = {name.decode(): value.decode("latin-1") for name, value in message.get("headers", [])}
        else:
            chunks.append(message.get("body", b""))

    await app(scope, receive, collect)
    content = b"".join(chunks)
    if content:
        result.body = json.loads(content)
    return result, content


async def _send(send: Send, result: Answer, raw: bytes | None) -> None:
    if raw is None:
        raw = b"" if result.body is None else json.dumps(result.body, ensure_ascii=False).encode()
        if raw or result.status != 204:
            result.headers = {**result.headers, "content-length": str(len(raw))}
        else:
            result.headers.pop("content-length", None)
            result.headers.pop("content-type", None)
    headers = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in result.headers.items()]
    await send({"type": "http.response.start", "status": result.status, "headers": headers})
    await send({"type": "http.response.body", "body": raw})


class WrongTransport:
    """The courier's transport with a mutant."""

    def __init__(self, inner: Transport, mutant: Mutant, tally: Tally, simulator: AnySimulator) -> None:
        self._inner = inner
        self._mutant = mutant
        self._tally = tally
        self._simulator = simulator

    async def post(self, url: str, headers: Headers, body: bytes, timeout_seconds: float, policy: str) -> Outcome:
        posted, came = list[Post](), list[Outcome]()

        async def send(post: Post) -> Outcome:
            posted.append(post)
            sent = tuple(post.headers.items())
            came.append(await self._inner.post(post.url, sent, post.raw, timeout_seconds, policy))
            return came[-1]

        original = Post(url, dict(headers), body, self._key(dict(headers), body), self._tally.memory)
        assert self._mutant.sender is not None
        try:
            outcome = await self._mutant.sender(original, send)
        except Exception as error:
            self._tally.slips.append(f"{url}: {error!r}")
            raise
        self._tally.hits += posted != [original] or outcome is not came[-1]
        return outcome

    def _key(self, headers: dict[str, str], body: bytes) -> str:
        """Return the webhook key, of any world, with which the request is signed."""
        for world in self._simulator.worlds.values():
            for environment in ("sandbox", "production"):
                key = webhook_key(world, environment)
                signed = hmac.digest(key.encode(), f"{headers['X-Timestamp']}.".encode() + body, "sha256").hex()
                if signed == headers["X-Signature"]:
                    return key
        raise LookupError("no world signs like this")

    async def close(self) -> None:
        await self._inner.close()
