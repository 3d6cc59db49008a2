"""Ways to reach a simulator: over HTTP, or as an ASGI application in this process."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any, Protocol

from simulator.engine.clients.address import CONTROL_BASE
from simulator.engine.clients.trusted_hosts import ForeignHost, check
from simulator.engine.text.json import JsonObject, dumps, loads
from simulator.kernel.dataclass import dataclass

if TYPE_CHECKING:
    import aiohttp


@dataclass(frozen=True)
class Reply:
    """An answer: status, the parsed body (None when there is none, a text when it is no JSON), headers in lower case.

    `raw`: the body as it came.
    """

    status: int
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    raw: bytes = b""


class Client(Protocol):
    """What the runner needs. `origin` is where the simulator can reach itself, "" when it has no address.

    `request` raises ConnectionError when the connection is cut without an answer.
    """

    origin: str

    async def request(
        self, method: str, path: str, json: object = None, headers: Mapping[str, str] | None = None
    ) -> Reply: ...


def _parsed(raw: bytes) -> Any:
    if not raw:
        return None
    try:
        return loads(raw)
    except ValueError:
        return raw.decode("utf-8", "replace")


class HttpClient:
    """A simulator at an address; to be used as an asynchronous context manager."""

    def __init__(self, origin: str, control_token: str = "") -> None:
        try:
            check(origin)
        except ForeignHost as error:
            raise ConnectionError(str(error)) from None
        self.origin = origin.rstrip("/")
        self._headers = {"Authorization": f"Bearer {control_token}"} if control_token else {}
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> HttpClient:
        import aiohttp

        self._session = aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=None, sock_connect=10))
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._session is not None:
            await self._session.close()

    async def request(
        self, method: str, path: str, json: object = None, headers: Mapping[str, str] | None = None
    ) -> Reply:
        """One call; the control token goes with control calls only."""
        import aiohttp

        if self._session is None:
            raise RuntimeError("use the client inside `async with`")
        own = self._headers if path.startswith(CONTROL_BASE) else {}
        body = None if json is None else dumps(json)
        kind = {} if body is None else {"Content-Type": "application/json"}
        try:
            async with self._session.request(
                method, self.origin + path, data=body, headers={**own, **kind, **(headers or {})}
            ) as answer:
                raw = await answer.read()
                return Reply(answer.status, _parsed(raw), {k.lower(): v for k, v in answer.headers.items()}, raw)
        except aiohttp.ClientError as error:
            raise ConnectionError(str(error)) from error


class AsgiClient:
    """A simulator in this process, called without a socket; it has no address, so it cannot send webhooks to itself."""

    def __init__(self, app: Callable[[Any, Any, Any], Awaitable[None]], origin: str = "") -> None:
        self.origin = origin
        self._app = app

    async def request(
        self, method: str, path: str, json: object = None, headers: Mapping[str, str] | None = None
    ) -> Reply:
        """One call; `path` may have a query."""
        kind = {} if json is None else {"Content-Type": "application/json"}
        return await self.send(method, path, b"" if json is None else dumps(json), {**kind, **(headers or {})})

    async def send(self, method: str, path: str, content: bytes, headers: Mapping[str, str]) -> Reply:
        """One call whose body is sent as it is; ConnectionError when the connection would be cut."""
        path, _, query = path.partition("?")
        named = {"host": "127.0.0.1", **{name.lower(): value for name, value in headers.items()}}
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": path,
            "raw_path": path.encode(),
            "query_string": query.encode(),
            "headers": [(name.encode(), value.encode()) for name, value in named.items()],
            "client": ("127.0.0.1", 0),
            "server": ("127.0.0.1", 80),
        }
        messages: list[JsonObject] = []

        async def receive() -> JsonObject:
            return {"type": "http.request", "body": content, "more_body": False}

        async def send(message: JsonObject) -> None:
            messages.append(message)

        await self._app(scope, receive, send)
        if not messages:
            raise ConnectionError("no answer")
        raw = b"".join(message.get("body", b"") for message in messages[1:])
        answered = {name.decode().lower(): value.decode() for name, value in messages[0].get("headers", [])}
        return Reply(messages[0]["status"], _parsed(raw), answered, raw)
