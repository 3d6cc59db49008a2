"""Built-in webhook receivers. All worlds of a server share its inboxes, unless some tokens are limited to certain
worlds. Then each world has its own, which refuse messages that the world did not send, unless the request contains a
token for the world. Anyone who can connect can post to an inbox, so the number of messages and their bytes are limited.
"""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import field
from typing import Annotated, Literal
from urllib.parse import unquote

from pydantic import Field
from typing_extensions import TypedDict

from simulator.engine.clients.address import CONTROL_BASE, WORLD_BASE, inbox_path
from simulator.engine.control.access import NOBODY
from simulator.engine.control.call import WORLD_HEADER, ControlCall
from simulator.engine.control.history.events import wait_seconds, wait_until
from simulator.engine.control.operation import LIMIT, SECONDS, WHOLE, Raw, calls_under
from simulator.engine.control.refusals import invalid_parameter
from simulator.engine.rows.error import ControlError
from simulator.engine.server.http.messages import WITHOUT_BODY
from simulator.engine.server.runtime import Watcher
from simulator.engine.text.fields import Body
from simulator.engine.text.shapes import Count, Timestamp
from simulator.engine.webhooks import ENDPOINTS
from simulator.engine.webhooks.courier.courier import wall_clock_ms
from simulator.engine.worlds import quotas
from simulator.engine.worlds.settings import settings_of
from simulator.kernel.clock import format_timestamp
from simulator.kernel.dataclass import dataclass
from simulator.kernel.journal import newest
from simulator.kernel.world import World

operation = calls_under("Seeing")

MESSAGES_KEPT = 10_000
BYTES_KEPT = 32 * 1024 * 1024
BYTES_KEPT_IN_ALL = 128 * 1024 * 1024
LONGEST_BODY = 1024 * 1024
_ROW_BYTES = 1_000
"""The approximate memory overhead of a message in bytes, not including its headers and body."""
Status = Annotated[int, Field(ge=200, le=599)]


class InboxMessage(TypedDict):
    at: Timestamp
    """The real time at which the message arrived."""
    headers: dict[str, str]
    """The headers, by lower-case name, with secrets masked."""
    body: str
    """The body as a string, with secrets masked."""
    status: Count
    """The status that the inbox responded with."""
    truncated: bool
    """Whether the body was truncated because it was too long."""


class InboxList(TypedDict):
    data: list[InboxMessage]
    """The stored messages, oldest first."""
    dropped: Count
    """The number of older messages that were dropped because the inbox was full."""


class InboxEntry(TypedDict):
    name: str
    """The name of the inbox."""
    url: str
    """The URL for a webhook endpoint of the world."""
    messages: Count
    """The number of stored messages of the world."""
    last_at: Timestamp | None
    """The real time at which the newest message arrived; null if there is none."""
    respond: list[Count]
    """The next response statuses, in order. The last one repeats."""


class InboxNames(TypedDict):
    data: list[InboxEntry]
    """The inboxes that contain messages, have configured statuses, or receive webhooks of the world, sorted by name."""


class InboxStatuses(TypedDict):
    respond: list[Count]
    """The next response statuses, in order. The last one repeats."""


class InboxReceipt(TypedDict):
    received: Literal[True]
    """Always true."""


class Statuses(Body):
    """The configured response statuses of an inbox."""

    respond: Annotated[list[Status], Field(min_length=1)]
    """The next response statuses, in order. The last one repeats."""


@dataclass(frozen=True)
class ReceivedMessage:
    """A message that belongs to a world."""

    world_id: str
    shown: InboxMessage
    size: int
    """The approximate memory use of the message in bytes."""


@dataclass
class Inbox:
    """The messages and response statuses of one inbox."""

    messages: deque[ReceivedMessage] = field(default_factory=deque)
    size: int = 0
    dropped: int = 0
    statuses: list[int] = field(default_factory=lambda: [200])
    set_in: str = ""
    """The id of the world in which the statuses were set, or "" if none were set."""
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    waiting: int = 0
    """The number of control calls that are waiting for messages."""

    def of(self, world_id: str | None) -> list[InboxMessage]:
        """Return the messages of a world, or all messages if `world_id` is None."""
        return [message.shown for message in self.messages if world_id in (None, message.world_id)]

    def add(self, message: ReceivedMessage) -> None:
        """Add a message. Drop the oldest messages if the inbox is full."""
        self.messages.append(message)
        self.size += message.size
        while len(self.messages) > MESSAGES_KEPT or self.size > BYTES_KEPT:
            self.drop(self.messages[0])
        self.changed.set()

    def drop(self, message: ReceivedMessage) -> None:
        """Delete a message and count it as dropped. Finding the oldest one takes constant time."""
        self.messages.remove(message)
        self.size -= message.size
        self.dropped += 1

    def clear(self, world_id: str | None) -> None:
        """Delete the messages of a world and the statuses set in it, or everything if `world_id` is None."""
        kept = [message for message in self.messages if world_id not in (None, message.world_id)]
        self.messages = deque(kept)
        self.size = sum(message.size for message in kept)
        if world_id in (None, self.set_in):
            self.statuses, self.set_in = [200], ""
        if world_id is None:
            self.dropped = 0

    @property
    def is_used(self) -> bool:
        """True if deleting the inbox would lose data."""
        return bool(self.messages or self.set_in or self.waiting or self.dropped)


def _name_in(url: str, origin: str) -> str:
    """Return the name of the inbox with this URL, or "" if none of this server has it. It may contain a world id."""
    path = url.partition("#")[0].partition("?")[0].removeprefix(origin)
    if path.startswith(WORLD_BASE):
        path = path[path.index("/", len(WORLD_BASE)) :] if "/" in path[len(WORLD_BASE) :] else ""
    name = path.removeprefix(f"{CONTROL_BASE}/inbox/")
    return "" if "/" in name else unquote(name)


class Inboxes(Watcher):
    """All inboxes of a server. An inbox is created on first use, and deleted when it is empty."""

    def __init__(self) -> None:
        self._inboxes: dict[tuple[str, str], Inbox] = {}
        """The inboxes by world id and inbox name. The world id is "" if worlds share their inboxes."""

    def _inbox_of(self, call: ControlCall, sender: World | None = None) -> Inbox:
        """Return the inbox in a world: `sender`, or the world of the call, which must exist."""
        if sender is None and (call.has_scoped_tokens or WORLD_HEADER in call.headers):
            _ = call.world
        call.runtime.watch(self)
        self._delete_unused()
        world_id = call.world_id if sender is None else sender.id
        return self._inboxes.setdefault((world_id if call.has_scoped_tokens else "", call.path["name"]), Inbox())

    def _delete_unused(self) -> None:
        self._inboxes = {key: inbox for key, inbox in self._inboxes.items() if inbox.is_used}

    def ended(self, world: World) -> None:
        for inbox in self._inboxes.values():
            inbox.clear(world.id)

    @operation(
        "POST /inbox/{name}",
        "Receive a webhook",
        takes="bytes",
        open=True,
        query=None,
        max_bytes=LONGEST_BODY,
        cuts=True,
        takes_webhooks=True,
    )
    async def inbox_receive(self, call: ControlCall) -> Raw[InboxReceipt]:
        """Store a message, and respond with the inbox's next status. A request from a page of another origin is refused
        with 403. If you have no receiver yet, use the URL of an inbox as a webhook endpoint.
        """
        origin = call.headers.get("origin")
        own = "/".join(call.origin.split("/", 3)[:3])
        is_embedded = origin is None and call.headers.get("sec-fetch-site") in ("cross-site", "same-site")
        if is_embedded or (origin is not None and origin.lower() != own.lower()):
            why = "An inbox accepts webhooks, but not requests from web pages of other origins."
            raise ControlError(403, "forbidden", why)
        header = call.simulator.provider.signing.signature.signature_header.lower()
        was_sent, sender = call.runtime.courier.sender_of(call.headers.get(header, ""))
        if not was_sent and call.has_scoped_tokens and call.access is NOBODY:
            why = "This inbox accepts deliveries of its worlds. For other requests, send a control token."
            raise ControlError(401, "unauthorized", why)
        inbox = self._inbox_of(call, sender if call.has_scoped_tokens else None)
        status = inbox.statuses.pop(0) if len(inbox.statuses) > 1 else inbox.statuses[0]
        living = sender.id if sender is not None and call.simulator.lives(sender) else None
        world_id = living if was_sent else call.world_id
        if world_id is not None:
            inbox.add(self._message(call, world_id, status))
            self._limit_all()
            self._limit_world(call, world_id)
        return Raw(b"" if status in WITHOUT_BODY else b'{"received":true}', status=status)

    @staticmethod
    def _message(call: ControlCall, world_id: str, status: int) -> ReceivedMessage:
        headers = call.runtime.masker.headers(call.headers)
        body = call.runtime.masker.raw(call.raw).decode("utf-8", "replace")
        shown: InboxMessage = {
            "at": format_timestamp(wall_clock_ms()),
            "headers": headers,
            "body": body,
            "status": status,
            "truncated": not call.is_whole,
        }
        size = _ROW_BYTES + len(body) + sum(len(name) + len(value) for name, value in headers.items())
        return ReceivedMessage(world_id, shown, size)

    def _limit_all(self) -> None:
        """Drop the oldest messages of the largest inbox until the total size of all inboxes is within the limit."""
        while sum(inbox.size for inbox in self._inboxes.values()) > BYTES_KEPT_IN_ALL:
            largest = max(self._inboxes.values(), key=lambda inbox: inbox.size)
            largest.drop(largest.messages[0])

    def _limit_world(self, call: ControlCall, world_id: str) -> None:
        world = call.simulator.worlds.get(world_id)
        most = None if world is None else settings_of(world)["quota_journal_bytes"]
        if most is None:
            return
        kept = [(inbox, one) for inbox in self._inboxes.values() for one in inbox.messages if one.world_id == world_id]
        size = sum(message.size for _, message in kept)
        for inbox, message in sorted(kept, key=lambda pair: pair[1].shown["at"]):
            if size <= most:
                break
            inbox.drop(message)
            size -= message.size

    @operation("GET /inbox", "List the inboxes", query=LIMIT)
    async def list_inboxes(self, call: ControlCall) -> InboxNames:
        """List the inboxes. Each one contains its URL and the number of the world's messages."""
        world = call.world
        self._delete_unused()
        own = {name for world_id, name in self._inboxes if not call.has_scoped_tokens or world_id == world.id}
        tables = [world.store[ENDPOINTS.of(environment)] for environment in world.environments]
        own |= {name for table in tables for row in table.values() if (name := _name_in(row.url, call.origin))}
        return {"data": call.newest([self._show(call, name) for name in sorted(own)])}

    def _show(self, call: ControlCall, name: str) -> InboxEntry:
        inbox = self._inboxes.get((call.world_id if call.has_scoped_tokens else "", name)) or Inbox()
        messages = inbox.of(call.world_id)
        return {
            "name": name,
            "url": f"{call.origin}{inbox_path(call.world_id, name)}",
            "messages": len(messages),
            "last_at": messages[-1]["at"] if messages else None,
            "respond": list(inbox.statuses),
        }

    @operation("GET /inbox/{name}", "List the messages of an inbox", query=LIMIT)
    async def inbox_read(self, call: ControlCall) -> InboxList:
        """List the messages of an inbox, oldest first. With a world header, only that world's messages are listed."""
        inbox = self._inbox_of(call)
        return {"data": call.newest(inbox.of(call.headers.get(WORLD_HEADER))), "dropped": inbox.dropped}

    @operation(
        "GET /inbox/{name}/wait",
        "Wait for messages in an inbox",
        query={
            "count": {**WHOLE, "description": "The number of messages to wait for. The default is 1."},
            "timeout": {**SECONDS, "description": "The number of real seconds to wait."},
            **LIMIT,
        },
    )
    async def inbox_wait(self, call: ControlCall) -> InboxList:
        """Wait until an inbox contains `count` messages, and list all its messages. Use this call in tests that run
        against a real or scaled clock. Fails with 408 after `timeout` seconds of real time.
        """
        timeout = wait_seconds(call)
        limit, count = call.limit(), call.whole("count")
        wanted = 1 if count is None else count
        if wanted > MESSAGES_KEPT:
            raise invalid_parameter("count", f"an inbox stores at most {MESSAGES_KEPT} messages")
        inbox, world_id = self._inbox_of(call), call.headers.get(WORLD_HEADER)

        def find() -> list[InboxMessage] | None:
            messages = inbox.of(world_id)
            return messages if len(messages) >= wanted else None

        inbox.waiting += 1
        try:
            found = await wait_until(call, find, inbox.changed, timeout)
        finally:
            inbox.waiting -= 1
        if found is None:
            here = len(inbox.of(world_id))
            raise ControlError(408, "timeout", f"{here} of {wanted} messages arrived within {timeout:g} s.")
        return {"data": newest(found, limit), "dropped": inbox.dropped}

    @operation("PUT /inbox/{name}", "Set the response statuses of an inbox", body=Statuses)
    async def inbox_answer(self, call: ControlCall) -> InboxStatuses:
        """Set the statuses of an inbox's next responses, in order. The last status repeats. Use this call to test
        retries. Fails with 507 simulator_quota_exceeded if the world already has statuses set for as many inboxes as
        `quota_objects` allows.
        """
        inbox, world = self._inbox_of(call), call.world
        most = settings_of(world)["quota_objects"]
        others = sum(one.set_in == world.id for one in self._inboxes.values() if one is not inbox)
        if most is not None and others >= most:
            raise quotas.too_much("quota_objects", most, "inboxes that were set up")
        inbox.statuses, inbox.set_in = list(call.body.respond), call.world_id
        return {"respond": list(call.body.respond)}

    @operation("DELETE /inbox/{name}", "Empty an inbox", status=204)
    async def inbox_clear(self, call: ControlCall) -> None:
        """Delete the messages of an inbox. With a world header, only that world's messages are deleted."""
        self._inbox_of(call).clear(call.headers.get(WORLD_HEADER))
