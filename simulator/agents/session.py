"""The state that an agent's tools share between calls: server, current world, and tokens."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import count
from typing import NamedTuple
from urllib.parse import urlencode

from simulator.engine.clients.control import ControlClient, Unreachable, segment
from simulator.engine.clients.synchronous import NoResponse, SyncClient
from simulator.engine.clients.tool_mark import marked
from simulator.engine.text.json import JsonObject, Shown
from simulator.kernel.dataclass import dataclass
from simulator.kernel.world import DEFAULT_WORLD
from simulator.service import LIVE_KEYS, TOKEN_EXCHANGE

DOCS = "/_simulator/docs/"
_SECONDS = 60.0


class ToolRefused(Exception):
    """A tool was used incorrectly, or a call was refused. Contains all that a model needs to correct the call."""

    def __init__(
        self, code: str, message: str, *, param: str | None = None, allowed: object = None, status: int | None = None
    ) -> None:
        super().__init__(message)
        self.code, self.message, self.param, self.allowed, self.status = code, message, param, allowed, status


def invalid(param: str, why: str) -> ToolRefused:
    return ToolRefused("invalid_parameter", f"The parameter `{param}` is invalid: {why}", param=param)


def lacking(param: str, message: str) -> ToolRefused:
    return ToolRefused("missing_parameter", message, param=param)


@dataclass(frozen=True)
class Reply:
    """The response to an API call."""

    status: int
    headers: Mapping[str, str]
    body: object


class Session:
    """The session of one agent with one server. `world` is the id of the world that calls use by default."""

    def __init__(self, url: str, token: str | None = None) -> None:
        self.url = ControlClient(url).url
        self.world = DEFAULT_WORLD
        self.token = token
        self._signed_in: dict[tuple[str, str], _SignedIn] = {}

    def control(self, world: str | None = None, environment: str | None = None) -> ControlClient:
        return ControlClient(
            self.url, world or self.world, environment=environment, token=self.token, timeout_seconds=_SECONDS
        )

    def world_object(self, world: str | None = None) -> JsonObject:
        found: JsonObject = self.control().get(f"/worlds/{segment(world or self.world)}")
        return found

    def call(
        self,
        method: str,
        path: str,
        body: Shown | None = None,
        *,
        query: Mapping[str, object] | None = None,
        headers: Mapping[str, str] | None = None,
        world: str | None = None,
        environment: str | None = None,
    ) -> Reply:
        """Make an API call with a token. If the token has expired, get a new token and repeat the call once. A POST
        without an Idempotency-Key gets a new key.
        """
        place = (world or self.world, environment or "sandbox")
        signed_in = self._signed_in.get(place) or self._sign_in(*place)
        sent = dict(headers or {})
        if method == "POST" and not any(name.lower() == "idempotency-key" for name in sent):
            sent["Idempotency-Key"] = next(signed_in.keys)
        reply = self._ask(method, signed_in.base_url, path, body, {**signed_in.header, **sent}, query or {})
        if reply.status == 401:
            signed_in = self._sign_in(*place)
            reply = self._ask(method, signed_in.base_url, path, body, {**signed_in.header, **sent}, query or {})
        return reply

    def _sign_in(self, world: str, environment: str) -> _SignedIn:
        keys = self.world_object(world)["credentials"][environment]
        pair = TOKEN_EXCHANGE.body(keys)
        reply = self._ask("POST", keys["base_url"], TOKEN_EXCHANGE.path, pair, marked("mcp"), {})
        body, token = reply.body, TOKEN_EXCHANGE.token_in(reply.body)
        if token is None:
            error = body.get("error", {}) if isinstance(body, dict) else {}
            raise ToolRefused(
                str(error.get("code", reply.status)),
                f"The token request for the world {world} was refused: {error.get('message', reply.status)}",
                status=reply.status,
            )
        begun_by = reply.headers.get("x-request-id", world)
        own_keys = (f"{begun_by}-{number}" for number in count(1))
        signed_in = _SignedIn(keys["base_url"], {"Authorization": f"Bearer {token}"}, own_keys)
        self._signed_in[world, environment] = signed_in
        return signed_in

    def _ask(
        self, method: str, url: str, path: str, body: Shown | None, headers: Mapping[str, str], query: Shown
    ) -> Reply:
        texts = {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in query.items()}
        asked = f"{path}?{urlencode(texts)}" if texts else path
        data = None if body is None else json.dumps(body).encode()
        sent = dict(headers) if data is None else {"Content-Type": "application/json", **headers}
        # The host in the base URL is not checked, because it comes from a server whose own host was checked.
        client = SyncClient(url, any_host=True, live_keys=LIVE_KEYS)
        try:
            status, received, content = client.request(method, asked, data, sent, _SECONDS)
        except NoResponse as error:
            raise Unreachable(f"{method} {url}{path} got no response: {error}") from None
        return Reply(status, received, _parsed(content))


class _SignedIn(NamedTuple):
    """A token, and a generator of Idempotency-Keys for calls with this token. The keys are unique and deterministic."""

    base_url: str
    header: Mapping[str, str]
    keys: Iterator[str]


def _parsed(raw: bytes) -> object:
    try:
        return json.loads(raw) if raw else None
    except ValueError:
        return raw.decode("utf-8", "replace")
