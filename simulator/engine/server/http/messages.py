"""HTTP messages: functions that read requests from ASGI, headers first, and write responses to ASGI."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from functools import cache, lru_cache
from typing import Any, Generic

from starlette.requests import ClientDisconnect
from starlette.types import Receive, Scope, Send
from typing_extensions import TypeVar

from simulator.engine.clients.address import CONTROL_BASE, WORLD_BASE
from simulator.engine.rows.error import ApiError
from simulator.engine.server.running.chunks import Content, send_in_pieces
from simulator.engine.text.json import MAX_BYTES, JsonObject, loads
from simulator.kernel.dataclass import dataclass

CUT = "simulator.cut"
"""The ASGI extension that the HTTP server provides for dropping the connection."""

OPENED_AT = "simulator.opened_at"
"""The ASGI extension that contains the time when the connection was opened, in seconds of the event loop's clock."""

WITHOUT_BODY = frozenset({204, 205, 304})
"""Statuses whose responses have no content (RFC 9110)."""


class NoCut(ConnectionError):
    """Raised if a fault must drop the connection, but the ASGI server of this application does not support this."""


@dataclass
class Incoming:
    """An HTTP request."""

    method: str
    path: str
    query: bytes
    headers: Mapping[str, str]
    """The headers, by lower-case name."""
    body: bytes | None = b""
    """The body, or None if it was larger than allowed."""


ContentT = TypeVar("ContentT", bound=Content, covariant=True, default=bytes)


@dataclass
class Outgoing(Generic[ContentT]):
    """An HTTP response."""

    status: int
    body: ContentT
    headers: dict[str, str] = field(default_factory=dict)
    cut: bool = False
    """True if the connection is dropped instead."""
    media_type: str = "application/json"


class Headers(dict[str, str]):
    """Header values by lower-case name. If a header is repeated, only the last value is used."""

    __slots__ = ("accepted_by", "hosts")

    hosts: list[bytes]
    """The value of every `Host` header, as sent."""
    accepted_by: object
    """The `Hosts` that accept every API call with these headers, or None if each call must be checked."""


PARSED = "simulator.headers"
"""The scope key of the parsed headers. They are cached because every call needs them three times."""


def headers_of(scope: Scope) -> Headers:
    """Return the headers of a request. Do not modify the result, because several requests can share it."""
    found: Headers | None = scope.get(PARSED)
    if found is None:
        found = scope[PARSED] = parsed_headers(tuple(scope["headers"]))
    return found


@lru_cache(maxsize=256)  # Clients send the same headers with every call.
def parsed_headers(raw: tuple[tuple[bytes, bytes], ...]) -> Headers:
    """Return the headers of a request as strings."""
    headers = Headers((name.decode("latin-1").lower(), value.decode("latin-1")) for name, value in raw)
    headers.accepted_by = None
    headers.hosts = [value for name, value in raw if name.lower() == b"host"]
    return headers


def head_of(scope: Scope, body: bytes | None = b"") -> Incoming:
    """Return the request with the method, path, query and headers in an ASGI scope, and with this body."""
    return Incoming(scope["method"], route_path(scope), scope["query_string"], headers_of(scope), body)


def token_of(incoming: Incoming) -> str | None:
    """Return the bearer token of a request, or None if there is no token."""
    credentials = incoming.headers.get("authorization")
    return None if credentials is None else _bearer(credentials)


@lru_cache(maxsize=256)
def _bearer(credentials: str) -> str | None:
    scheme, _, token = credentials.partition(" ")
    return token.strip() or None if scheme.lower() == "bearer" else None


def public_key_of(incoming: Incoming) -> str | None:
    """Return the public key in the body of a token exchange, or None. It identifies the world (decision S26)."""
    if not incoming.body:
        return None
    try:
        body: Any = loads(incoming.body)
    except ValueError:
        return None
    key = body.get("public_key") if isinstance(body, dict) else None
    return key if isinstance(key, str) else None


def body_of(incoming: Incoming, other_types: int | None = 400) -> JsonObject:
    """Return the JSON object in the body of a request. An empty body counts as {} (decisions H4, H12, H13).

    Raise `ApiError` 400 if the body is too large or not a JSON object. If the content type is not JSON, raise
    `ApiError` with the status `other_types`. If `other_types` is None, ignore the content type.
    """
    if incoming.body is None:
        raise ApiError("invalid_request", f"The body is larger than {MAX_BYTES} bytes.")
    if not incoming.body:
        return {}
    if other_types is not None and not _is_json(incoming.headers.get("content-type", "")):
        raise ApiError("invalid_request", "Send the body with Content-Type: application/json.", status=other_types)
    return json_object(incoming.body)


@lru_cache(maxsize=256)
def _is_json(content_type: str) -> bool:
    kind = content_type.partition(";")[0].strip().lower()
    return kind == "application/json" or (kind.startswith("application/") and kind.endswith("+json"))


def json_object(raw: bytes) -> JsonObject:
    """Return the JSON object in a body. Raise `ApiError` 400 if the body is not a JSON object."""
    try:
        value: Any = loads(raw)
    except ValueError as error:
        raise ApiError("invalid_request", f"The body is not valid JSON: {error}.") from None
    if not isinstance(value, dict):
        raise ApiError("invalid_request", "The body must be a JSON object.")
    return value


WORLD_HEADER = b"x-simulator-world"


BELOW = "simulator.below"
"""The scope key of the world's base path, if the call has one (`/_worlds/ID`)."""


def enter_world(scope: Scope, bases: tuple[str, ...]) -> str:
    """Remove the prefix `/_worlds/ID` from the path of a request, and add a header with the world's id. Return the new
    path.

    `bases` are the base paths of the environments. If the rest of the path belongs neither to the service's API nor to
    the control API, it is treated as a path in the first environment. `/_worlds/ID` therefore works both as an origin
    and as a base URL.
    """
    path = route_path(scope)
    if not path.startswith(WORLD_BASE):
        return path
    world, _, rest = path.removeprefix(WORLD_BASE).partition("/")
    below = f"/{rest}"
    if not below.startswith((*bases, CONTROL_BASE)):
        below = f"{bases[0]}{rest}"
    scope["path"] = f"{scope.get('root_path', '')}{below}"
    scope[BELOW] = f"{WORLD_BASE}{world}"
    if not any(name == WORLD_HEADER for name, _ in scope["headers"]):
        scope["headers"] = [*scope["headers"], (WORLD_HEADER, world.encode("latin-1", "replace"))]
        scope.pop(PARSED, None)
    return below


def route_path(scope: Scope) -> str:
    """Return the path relative to the prefix where this application is mounted."""
    path: str = scope["path"]
    prefix: str = scope.get("root_path", "")
    return path[len(prefix) :] if prefix and path.startswith(f"{prefix}/") else path


async def read_body(receive: Receive, limit: int) -> tuple[bytes, bool]:
    """Return up to `limit` bytes of a body, and True if this is the whole body. Raise `ClientDisconnect`."""
    chunks: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        chunk: bytes = message.get("body", b"")
        if size < limit:
            chunks.append(chunk[: limit - size])
        size += len(chunk)
        if not message.get("more_body", False):
            return b"".join(chunks), size <= limit


async def write(scope: Scope, receive: Receive, send: Send, outgoing: Outgoing[Content]) -> None:
    """Write a response, or drop the connection without sending any bytes."""
    if outgoing.cut:
        drop(scope)
        while (await receive())["type"] != "http.disconnect":
            pass
        return
    await _send(scope, send, outgoing.status, outgoing.body, raw_headers(outgoing))


def raw_headers(outgoing: Outgoing[Content]) -> list[tuple[bytes, bytes]]:
    """Return all headers of a response in the form in which they are sent."""
    raw = [(_raw_name(name), value.encode("latin-1")) for name, value in outgoing.headers.items()]
    return raw + _content_headers(outgoing.status, outgoing.body, outgoing.media_type)


def header_lines(outgoing: Outgoing[Content]) -> str | None:
    """Return the headers of a response as bytes with one header per line, or None if a value would have to be escaped.

    This takes a third of the time of `raw_headers`.
    """
    lines = ""
    for name, value in outgoing.headers.items():
        if not (value.isascii() and value.isprintable()):
            return None
        lines += f"{_lower(name)}: {value}\r\n"
    if outgoing.status in WITHOUT_BODY:
        return f"{lines}content-length: 0\r\n" if outgoing.status == 205 else lines
    return f"{lines}content-type: {outgoing.media_type}\r\ncontent-length: {len(outgoing.body)}\r\n"


@cache  # The argument takes only seven values.
def _raw_name(name: str) -> bytes:
    return name.lower().encode("latin-1")


_lower = cache(str.lower)


def _content_headers(status: int, body: Content, media_type: str) -> list[tuple[bytes, bytes]]:
    if status in WITHOUT_BODY:
        return [(b"content-length", b"0")] if status == 205 else []
    return [(b"content-type", media_type.encode()), (b"content-length", b"%d" % len(body))]


async def write_raw(
    scope: Scope, send: Send, status: int, body: Content, media_type: str, headers: list[tuple[bytes, bytes]]
) -> None:
    """Send a response. The body is omitted if the status does not allow a body or if the method is HEAD."""
    await _send(scope, send, status, body, headers + _content_headers(status, body, media_type))


async def _send(scope: Scope, send: Send, status: int, body: Content, headers: list[tuple[bytes, bytes]]) -> None:
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send_in_pieces(send, b"" if scope["method"] == "HEAD" or status in WITHOUT_BODY else body)


def drop(scope: Scope) -> None:
    """Drop the connection. Raise `NoCut` if the ASGI server does not support this."""
    cut = scope.get("extensions", {}).get(CUT)
    if cut is None:
        raise NoCut("the connection was cut by a fault")
    cut()
