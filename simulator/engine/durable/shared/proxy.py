"""Forwards a request to another replica, and streams its response to the client."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

from starlette.types import Receive, Scope, Send

from simulator.engine.clients.asynchronous import NotConnected, Stream, open_stream
from simulator.engine.durable.shared.ownership import Outcome
from simulator.engine.durable.shared.proof import FORWARDED, PROOF, path_of, proof_of
from simulator.engine.server.http.messages import drop

REFUSED = "x-rampsim-refused"
"""A response header that states why a forwarded request was not processed."""
_CONNECT_SECONDS = 1.0
_CHECK_SECONDS = 1.0
"""The interval between ownership checks while the owner does not respond."""
_HOP_BY_HOP = frozenset(
    b"connection keep-alive proxy-connection te trailer transfer-encoding upgrade expect date".split()
)
"""Headers that apply to one connection only."""


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
