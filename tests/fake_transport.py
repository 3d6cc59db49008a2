"""A webhook transport that returns scripted outcomes."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import replace

from simulator.engine.clients.exchange import Headers
from simulator.engine.webhooks import Outcome


class FakeTransport:
    """A transport that returns the outcomes of a script: statuses, Outcomes or exceptions. After its end, 200.

    `answer` computes the outcome of a request instead. `sent` has the requests.
    """

    def __init__(self, script: Iterable[int | Outcome | BaseException] = ()) -> None:
        self.script: deque[int | Outcome | BaseException] = deque(script)
        self.sent: list[tuple[str, dict[str, str], bytes]] = []
        self.policies: list[str] = []
        self.answer: Callable[[str, bytes], int | Outcome | BaseException] | None = None
        self.gate: asyncio.Event | None = None
        self.closed = False

    async def post(self, url: str, headers: Headers, body: bytes, timeout_seconds: float, policy: str) -> Outcome:
        self.sent.append((url, dict(headers), body))
        self.policies.append(policy)
        await (asyncio.sleep(0) if self.gate is None else self.gate.wait())
        answer: int | Outcome | BaseException
        answer = self.answer(url, body) if self.answer else self.script.popleft() if self.script else 200
        if isinstance(answer, BaseException):
            raise answer
        if isinstance(answer, int):
            return Outcome(answer, None, 1, headers)
        return replace(answer, request_headers=answer.request_headers or headers)

    async def close(self) -> None:
        self.closed = True
