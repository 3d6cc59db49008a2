"""Forwards a request to another replica, and streams its response to the client.

A forwarding replica adds a header with the world's id, and a proof that a replica of the same database has sent the
request. Otherwise, any caller could set this header. The proof covers the replica, the world, and the request's method,
path, query, bearer token and body. Replaying the same request gains nothing, because the request is not forwarded again
and its token is checked.
"""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import Awaitable, Callable
from contextlib import suppress
from hashlib import sha256

from starlette.types import Receive, Scope, Send

from simulator.engine.clients.asynchronous import NotConnected, Stream, open_stream
from simulator.engine.durable.shared.ownership import Outcome
from simulator.engine.server.http.messages import drop
from simulator.engine.text.json import dumps

REFUSED = "x-rampsim-refused"
"""A response header that states why a forwarded request was not processed."""
_CONNECT_SECONDS = 1.0
_CHECK_SECONDS = 1.0
"""The interval between ownership checks while the owner does not respond."""
_HOP_BY_HOP = frozenset(
    b"connection keep-alive proxy-connection te trailer transfer-encoding upgrade expect date".split()
)
"""Headers that apply to one connection only."""
FORWARDED = b"x-rampsim-forwarded"
"""A header of forwarded requests. The header contains the id of the world that the forwarding replica found."""
PROOF = b"x-rampsim-proof"
"""The header that contains the proof."""
_BOUND = (b"authorization", b"x-simulator-world")
"""The request headers that determine the world."""


async def forward(
    address: str,
    world: str,
    scope: Scope,
    receive: Receive,
    send: Send,
    body: bytes,
    *,
    secret: bytes,
    is_owner: Callable[[], Awaitable[bool]],
) -> Outcome:
    """Send a request to another replica and stream its response to the client.

    `secret` is the key for the proof that a replica sent the request. `is_owner` returns True while the other replica
    owns the world. Return `refused` if the other replica did not process the request. Return `broken` if the other
    replica lost the world before the response arrived. Otherwise, return `answered`. If the other replica drops the
    connection, drop the client's connection, too, so that the client notices a fault that drops connections.
    """
    opening = asyncio.create_task(_open(address, world, scope, body, secret))
    gone = asyncio.create_task(_gone(receive))
    stream: Stream | None = None
    try:
        while not opening.done():
            await asyncio.wait({opening, gone}, timeout=_CHECK_SECONDS, return_when=asyncio.FIRST_COMPLETED)
            if gone.done():
                return "answered"
            if not opening.done() and not await is_owner():
                return "broken"
        try:
            stream = opening.result()
        except NotConnected:
            return "refused"
        except OSError:
            if not await is_owner():
                return "broken"
            drop(scope)
            await gone
            return "answered"
        reason = next((value for name, value in stream.raw_headers if name.lower() == REFUSED.encode()), None)
        if reason is not None:
            return "broken" if reason == b"unknown" else "refused"
        passing = asyncio.create_task(_pass_on(stream, scope, send))
        await asyncio.wait({passing, gone}, return_when=asyncio.FIRST_COMPLETED)
        if not passing.done():
            passing.cancel()
        with suppress(asyncio.CancelledError):
            await passing
        return "answered"
    finally:
        opening.cancel()
        gone.cancel()
        if stream is not None:
            stream.close()


async def _open(address: str, world: str, scope: Scope, body: bytes, secret: bytes) -> Stream:
    query = scope["query_string"]
    url = f"{address}{path_of(scope).decode('latin-1')}{'?' if query else ''}{query.decode('latin-1')}"
    headers = [pair for pair in scope["headers"] if pair[0] not in _HOP_BY_HOP and pair[0] != b"content-length"]
    proof = proof_of(secret, address, world, scope, body)
    headers += [(FORWARDED, world.encode("latin-1")), (PROOF, proof.encode())]
    return await open_stream(scope["method"], url, headers, body, connect_seconds=_CONNECT_SECONDS)


async def _gone(receive: Receive) -> None:
    """Wait until the client has disconnected. Call this after the request body was read."""
    while (await receive())["type"] != "http.disconnect":
        pass


async def _pass_on(stream: Stream, scope: Scope, send: Send) -> None:
    headers = [(name.lower(), value.rstrip(b" \t")) for name, value in stream.raw_headers]
    headers = [pair for pair in headers if pair[0] not in _HOP_BY_HOP]
    await send({"type": "http.response.start", "status": stream.status, "headers": headers})
    try:
        async for piece in stream.pieces():
            await send({"type": "http.response.body", "body": piece, "more_body": True})
    except OSError:
        drop(scope)  # If the response ended normally, the client would consider it complete.
        return
    await send({"type": "http.response.body", "body": b""})


def proof_of(secret: bytes, address: str, world: str, scope: Scope, body: bytes) -> str:
    """Return the proof (a MAC) for a request that is forwarded to the replica at `address`."""
    said = [
        address,
        world,
        scope["method"],
        path_of(scope).decode("latin-1"),
        scope["query_string"].decode("latin-1"),
        *(f"{name.decode()}: {value.decode('latin-1')}" for name, value in scope["headers"] if name in _BOUND),
        sha256(body).hexdigest(),
    ]
    return hmac.new(secret, dumps(said), sha256).hexdigest()


def path_of(scope: Scope) -> bytes:
    """Return the path of a request exactly as it was sent."""
    path: bytes = scope.get("raw_path") or scope["path"].encode()
    return path


def take_out(scope: Scope) -> tuple[Scope, dict[bytes, bytes]]:
    """Return a request without the headers that a forwarding replica adds, and these headers."""
    headers = [(name, value) for name, value in scope["headers"] if name not in (FORWARDED, PROOF)]
    if len(headers) == len(scope["headers"]):
        return scope, {}
    return {**scope, "headers": headers}, {n: value for n, value in scope["headers"] if n in (FORWARDED, PROOF)}


def proved_world(secret: bytes, address: str, given: dict[bytes, bytes], scope: Scope, body: bytes) -> str | None:
    """Return the id of the world that another replica has found for this request, or None if none has forwarded it."""
    if not given or not secret:  # The store has not been opened yet.
        return None
    world = given.get(FORWARDED, b"").decode("latin-1")
    wanted = proof_of(secret, address, world, scope, body)
    return world if hmac.compare_digest(wanted.encode(), given.get(PROOF, b"")) else None
