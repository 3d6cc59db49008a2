"""One hop: a call that another replica is to answer, and its answer on the way back as it comes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

import aiohttp
from starlette.types import Receive, Scope, Send
from yarl import URL

from simulator.engine.durable.shared.ownership import Outcome
from simulator.engine.durable.shared.proof import FORWARDED, PROOF, path_of, proof_of
from simulator.engine.server.http.messages import drop

REFUSED = "x-rampsim-refused"
"""The header of an answer that tells why such a call was not carried out."""
_CONNECT_SECONDS = 1.0
_LOOK_SECONDS = 1.0
"""How often it is asked whether the owner still is one, while it does not answer."""
_OF_A_HOP = frozenset(
    ("connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade", "expect", "date")
)


class Hops:
    """The connections of a replica to others. `secret`: what they prove by that a call comes from one of them."""

    def __init__(self, secret: Callable[[], bytes]) -> None:
        self._secret = secret
        self._session: aiohttp.ClientSession | None = None

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def send(
        self,
        address: str,
        world: str,
        scope: Scope,
        receive: Receive,
        send: Send,
        body: bytes,
        is_owner: Callable[[], Awaitable[bool]],
    ) -> Outcome:
        """Have a call answered elsewhere; `is_owner` asks whether who was asked still owns what is called.

        `refused` where nothing was done; `broken` where the owner is none any more and its answer did not come. An
        owner that drops the connection means the client's.
        """
        asking = asyncio.create_task(self._ask(address, world, scope, body))
        gone = asyncio.create_task(_gone(receive))
        try:
            while not asking.done():
                await asyncio.wait({asking, gone}, timeout=_LOOK_SECONDS, return_when=asyncio.FIRST_COMPLETED)
                if gone.done():
                    return "answered"
                if not asking.done() and not await is_owner():
                    return "broken"
            try:
                answer = asking.result()
            except aiohttp.ClientConnectorError:
                return "refused"
            except (aiohttp.ClientError, TimeoutError, OSError):
                if not await is_owner():
                    return "broken"
                drop(scope)
                await gone
                return "answered"
            reason = answer.headers.get(REFUSED)
            if reason is not None:
                answer.release()
                return "broken" if reason == "unknown" else "refused"
            passing = asyncio.create_task(_pass_on(answer, scope, send))
            await asyncio.wait({passing, gone}, return_when=asyncio.FIRST_COMPLETED)
            if not passing.done():
                passing.cancel()
                answer.close()
            with suppress(asyncio.CancelledError):
                await passing
            return "answered"
        finally:
            for task in (asking, gone):
                task.cancel()

    async def _ask(self, address: str, world: str, scope: Scope, body: bytes) -> aiohttp.ClientResponse:
        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=15),
                cookie_jar=aiohttp.DummyCookieJar(),
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=_CONNECT_SECONDS),
                auto_decompress=False,
                skip_auto_headers=("User-Agent", "Accept", "Accept-Encoding", "Content-Type"),
            )
            # A call whose connection broke may have been carried out; aiohttp would make it again.
            self._session._retry_connection = False
        query = scope["query_string"]
        url = f"{address}{path_of(scope).decode('latin-1')}{'?' if query else ''}{query.decode('latin-1')}"
        headers = [
            (name.decode("latin-1"), value.decode("latin-1"))
            for name, value in scope["headers"]
            if name.decode("latin-1") not in _OF_A_HOP and name != b"content-length"
        ]
        proof = proof_of(self._secret(), address, world, scope, body)
        return await self._session.request(
            scope["method"],
            URL(url, encoded=True),
            headers=[*headers, (FORWARDED.decode(), world), (PROOF.decode(), proof)],
            data=body or None,
            allow_redirects=False,
        )


async def _gone(receive: Receive) -> None:
    """Return when the client has gone; its body was read before."""
    while (await receive())["type"] != "http.disconnect":
        pass


async def _pass_on(answer: aiohttp.ClientResponse, scope: Scope, send: Send) -> None:
    headers = [(name.lower(), value) for name, value in answer.raw_headers]
    headers = [(name, value) for name, value in headers if name.decode("latin-1") not in _OF_A_HOP]
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    try:
        async for piece in answer.content.iter_any():
            await send({"type": "http.response.body", "body": piece, "more_body": True})
    except (aiohttp.ClientError, OSError):
        drop(scope)  # so that nobody takes it for whole
        return
    await send({"type": "http.response.body", "body": b""})
