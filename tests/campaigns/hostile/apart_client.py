"""Calls to a server in another process, many at a time, with a check of each response."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import aiohttp
import orjson

from tests.campaigns.hostile.apart import Apart
from tests.campaigns.hostile.stopwatch import Stopwatch

WORK_SECONDS = 10.0
"""Calls that may take this long wait for a receiver, so their duration is not judged."""


@dataclass
class Reply:
    """Status 0: there was no answer."""

    status: int
    body: Any
    headers: dict[str, str]
    seconds: float

    @property
    def code(self) -> str:
        error = self.body.get("error") if isinstance(self.body, dict) else None
        return str(error.get("code")) if isinstance(error, dict) else ""


class Client:
    """A client of one world."""

    def __init__(self, subject: Apart, session: aiohttp.ClientSession) -> None:
        self.subject = subject
        self.session = session
        self.world: dict[str, Any] = {}
        self.token = ""

    async def call(
        self,
        method: str,
        path: str,
        body: Any = None,
        headers: dict[str, str] | None = None,
        *,
        limit: float = 1.0,
        timeout: float = 20,
    ) -> Reply:
        """One call; slower than `limit` seconds, or 500, is a failure."""
        sent = {"X-Simulator-World": self.world["id"]} if self.world and path.startswith("/_simulator") else {}
        if path.startswith("/v1"):
            sent["Authorization"] = f"Bearer {self.token}"
        data = body if isinstance(body, bytes) or body is None else orjson.dumps(body)
        if data is not None:
            sent["Content-Type"] = "application/json"
        watch, told = Stopwatch(self.subject.server.pid), f"{method} {path} {(data or b'')[:500]!r}"
        try:
            async with self.session.request(
                method,
                self.subject.origin + path,
                data=data,
                headers=sent | (headers or {}),
                timeout=aiohttp.ClientTimeout(total=timeout),
            ) as answer:
                raw = await answer.read()
                status, got = answer.status, {name.lower(): value for name, value in answer.headers.items()}
        except (aiohttp.ClientError, TimeoutError) as error:
            return Reply(0, repr(error), {}, watch.seconds)
        seconds = watch.seconds
        if status == 500:
            self.subject.fail("500", f"{method} {path.partition('?')[0]}", told, raw[:600].decode("utf-8", "replace"))
        if seconds > limit:
            self.subject.fail("slow", f"{method} {path.partition('?')[0]}", told, f"{seconds:.2f} s")
        elif limit < WORK_SECONDS:
            self.subject.slowest = max(self.subject.slowest, seconds)
        try:
            parsed = orjson.loads(raw) if raw else None
        except ValueError:
            parsed = raw
        return Reply(status, parsed, got, seconds)

    async def many(
        self,
        count: int,
        method: str,
        path: str,
        body: Any = None,
        headers: dict[str, str] | None = None,
        limit: float = 3.0,
    ) -> list[Reply]:
        return list(await asyncio.gather(*(self.call(method, path, body, headers, limit=limit) for _ in range(count))))

    async def act(self, action: str, **body: Any) -> Reply:
        return await self.call("POST", f"/_simulator/actions/{action}", body)


@asynccontextmanager
async def client_of(subject: Apart, **body: Any) -> AsyncIterator[Client]:
    """A client with a fresh world of its own, signed in."""
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
        client = Client(subject, session)
        made = await client.call("POST", "/_simulator/worlds", {"seed": 1, "scenarios": [], **body})
        client.world = made.body
        keys = made.body["credentials"]["sandbox"]
        got = await client.call("POST", "/v1/auth/token", {name: keys[name] for name in ("public_key", "secret_key")})
        client.token = got.body["access_token"]
        try:
            yield client
        finally:
            if not subject.keeps_worlds:
                await client.call("DELETE", f"/_simulator/worlds/{client.world['id']}", limit=12)
