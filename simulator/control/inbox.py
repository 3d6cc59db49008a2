"""A built-in webhook receiver, server-wide by name: it keeps what it gets and answers what it is told to."""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass, field
from typing import Annotated

from pydantic import Field

from simulator.control.operation import LIMIT, SECONDS, WHOLE, ControlCall, ControlOperation, Raw, wrong
from simulator.control.seeing import wait_seconds
from simulator.kernel.clock import format_timestamp
from simulator.kernel.journal import newest
from simulator.server.driver import wall_now_ms
from simulator.wire.errors import ControlError
from simulator.wire.fields import Body
from simulator.wire.json import JsonObject

MESSAGES_KEPT = 10_000
Status = Annotated[int, Field(ge=200, le=599)]


class Statuses(Body):
    """The statuses to answer, one after another; the last one stays."""

    respond: Annotated[list[Status], Field(min_length=1)]


@dataclass
class Inbox:
    """What one inbox has received, and the statuses it will answer."""

    messages: deque[JsonObject] = field(default_factory=lambda: deque(maxlen=MESSAGES_KEPT))
    statuses: list[int] = field(default_factory=lambda: [200])
    arrived: asyncio.Event = field(default_factory=asyncio.Event)

    def next_status(self) -> int:
        return self.statuses.pop(0) if len(self.statuses) > 1 else self.statuses[0]


class Inboxes:
    """All inboxes of a server."""

    def __init__(self) -> None:
        self._inboxes: dict[str, Inbox] = {}

    def of(self, name: str) -> Inbox:
        return self._inboxes.setdefault(name, Inbox())

    async def receive(self, call: ControlCall) -> Raw:
        inbox = self.of(call.path["name"])
        status = inbox.next_status()
        inbox.messages.append(
            {
                "at": format_timestamp(wall_now_ms()),
                "headers": dict(call.headers),
                "body": call.raw.decode("utf-8", "replace"),
                "status": status,
            }
        )
        inbox.arrived.set()
        return Raw(b"" if status == 204 else b'{"received":true}', status=status)

    async def read(self, call: ControlCall) -> JsonObject:
        return {"data": newest(list(self.of(call.path["name"]).messages), call.limit())}

    async def wait(self, call: ControlCall) -> JsonObject:
        """All messages as soon as there are `count` (default 1); 408 when the real time passes."""
        timeout = wait_seconds(call)
        limit, wanted = call.limit(), call.whole("count", minimum=0)
        wanted = 1 if wanted is None else wanted
        if wanted > MESSAGES_KEPT:
            raise wrong("count", f"an inbox keeps {MESSAGES_KEPT} messages")
        inbox = self.of(call.path["name"])
        try:
            async with asyncio.timeout(timeout):
                while len(inbox.messages) < wanted:
                    inbox.arrived.clear()
                    await inbox.arrived.wait()
        except TimeoutError:
            here = len(inbox.messages)
            raise ControlError(408, "timeout", f"{here} of {wanted} messages came within {timeout:g} s.") from None
        return {"data": newest(list(inbox.messages), limit)}

    async def set_statuses(self, call: ControlCall) -> JsonObject:
        self.of(call.path["name"]).statuses = list(call.body.respond)
        return {"respond": list(call.body.respond)}

    async def clear(self, call: ControlCall) -> None:
        inbox = self.of(call.path["name"])
        inbox.messages.clear()
        inbox.statuses = [200]

    def rows(self) -> tuple[ControlOperation, ...]:
        path = "/inbox/{name}"
        return (
            ControlOperation(
                "POST", path, "inbox_receive", "Receive", self.receive, takes="bytes", open=True, query=None
            ),
            ControlOperation("GET", path, "inbox_read", "What an inbox received", self.read, query=LIMIT),
            ControlOperation(
                "GET",
                f"{path}/wait",
                "inbox_wait",
                "Wait for messages in an inbox",
                self.wait,
                query={"count": WHOLE, "timeout": SECONDS, **LIMIT},
            ),
            ControlOperation("PUT", path, "inbox_answer", "What an inbox answers", self.set_statuses, 200, Statuses),
            ControlOperation("DELETE", path, "inbox_clear", "Empty an inbox", self.clear, 204),
        )
