"""Calls as clients make them. The result of a call without a response is unknown."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import aiohttp
from orjson import dumps, loads

PATIENCE_SECONDS = 60.0
CALL_SECONDS = 30.0


class Broken(Exception):
    """No answer came, or one that says that nobody knows: the call was carried out, or it was not."""


class Wrong(AssertionError):
    """An answer that a client must never get."""


@dataclass(frozen=True)
class Answer:
    status: int
    raw: bytes
    headers: dict[str, str]
    origin: str

    @property
    def body(self) -> Any:
        return loads(self.raw)

    @property
    def code(self) -> str:
        body = self.body if self.raw else {}
        return str(body.get("error", {}).get("code", ""))


@dataclass
class Caller:
    """Speaks to any of some servers, whichever it draws. `acknowledged`: answers 2xx to calls that change something."""

    origins: Sequence[str]
    chance: random.Random
    acknowledged: int = 0
    unknown: int = 0
    codes: Counter[str] = field(default_factory=Counter)
    _session: aiohttp.ClientSession | None = None

    async def call(
        self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None, origin: str | None = None
    ) -> Answer:
        """An answer, refusals included; Broken, Wrong."""
        if self._session is None:
            limit = aiohttp.ClientTimeout(total=CALL_SECONDS)
            connector = aiohttp.TCPConnector(limit=0, force_close=False)
            self._session = aiohttp.ClientSession(timeout=limit, connector=connector, auto_decompress=False)
            self._session._retry_connection = False  # what is not answered is not sent again behind one's back
        data = None if body is None else dumps(body)
        sent = {"Content-Type": "application/json", **(headers or {})}
        for place in [origin] if origin else self.chance.sample(self.origins, len(self.origins)):
            try:
                async with self._session.request(method, place + path, data=data, headers=sent) as response:
                    raw = await response.read()
            except aiohttp.ClientConnectorError:
                continue  # nobody there: it was not even sent
            except (aiohttp.ClientError, TimeoutError, OSError) as error:
                self.unknown += 1
                self.codes[type(error).__name__] += 1
                raise Broken(f"{method} {path}: {type(error).__name__} {error}") from error
            answer = Answer(response.status, raw, {k.lower(): v for k, v in response.headers.items()}, place)
            if answer.status == 500:
                raise Wrong(f"{method} {path} was answered 500: {raw[:600]!r}")
            if answer.status > 500:
                self.unknown += 1
                self.codes[f"{answer.status} {answer.code}"] += 1
                raise Broken(f"{method} {path}: {answer.status} {raw[:300]!r}")
            if method != "GET" and answer.status < 300:
                self.acknowledged += 1
            return answer
        raise Broken(f"{method} {path}: nobody listens")

    async def control(
        self, method: str, path: str, body: Any = None, *, world: str | None = None, origin: str | None = None
    ) -> Answer:
        """A control call, of a world or of none."""
        headers = {} if world is None else {"X-Simulator-World": world}
        return await self.call(method, f"/_simulator{path}", body, headers, origin)

    async def surely(self, method: str, path: str, body: Any = None, *, world: str | None = None) -> Answer:
        """A control call that may be repeated, until there is an answer 2xx."""
        end = asyncio.get_running_loop().time() + PATIENCE_SECONDS
        while True:
            try:
                answer = await self.control(method, path, body, world=world)
            except Broken as error:
                if asyncio.get_running_loop().time() > end:
                    raise Wrong(f"no answer in {PATIENCE_SECONDS:.0f} seconds: {error}") from error
                await asyncio.sleep(0.1)
                continue
            if answer.status >= 300:
                raise Wrong(f"{method} {path} of {world} was refused: {answer.status} {answer.raw[:600]!r}")
            return answer

    async def read(self, path: str, world: str | None = None) -> Any:
        """Return the response to a control call."""
        return (await self.surely("GET", path, world=world)).body

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None
