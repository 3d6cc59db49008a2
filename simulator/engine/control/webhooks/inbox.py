"""A built-in webhook receiver, server-wide by name: it keeps what it gets and answers the statuses set for it.

On a server with tokens for some worlds every world has inboxes of its own under the same names, so that nobody sees,
empties or fills another's; what is no delivery of a world then needs a token that reaches it.

Every message belongs to a world, and goes when that world ends. Inboxes are open to everybody who reaches the server,
so what they keep is bounded in number and bytes.
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
from simulator.engine.control.history.queries import wait_seconds
from simulator.engine.control.operation import LIMIT, SECONDS, WHOLE, Raw, calls_under
from simulator.engine.control.refusals import wrong
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
"""About what a message takes beside its texts."""
Status = Annotated[int, Field(ge=200, le=599)]


class InboxMessage(TypedDict):
    at: Timestamp
    """When it came, by the wall clock."""
    headers: dict[str, str]
    """Its headers, by their names in small letters."""
    body: str
    """Its body as text."""
    status: Count
    """The status that the inbox answered."""
    truncated: bool
    """Whether only the beginning of the body was kept."""


class InboxList(TypedDict):
    data: list[InboxMessage]
    """The messages that are kept, oldest first."""
    dropped: Count
    """How many older ones were dropped for lack of room."""


class InboxEntry(TypedDict):
    name: str
    """The name of the inbox."""
    url: str
    """The address at which it takes webhooks of the world. It names the world."""
    messages: Count
    """How many messages of the world it keeps."""
    last_at: Timestamp | None
    """When the newest of them came, by the wall clock; null when there is none."""
    respond: list[Count]
    """The statuses that it answers from now on, one after another; the last one stays."""


class InboxNames(TypedDict):
    data: list[InboxEntry]
    """The inboxes that keep something, were set up, or are the address of an endpoint of the world; by name."""


class InboxStatuses(TypedDict):
    respond: list[Count]
    """The statuses that the inbox answers, one after another; the last one stays."""


class InboxReceipt(TypedDict):
    received: Literal[True]
    """Always true: the message is kept."""


class Statuses(Body):
    """The statuses to answer, one after another; the last one stays."""

    respond: Annotated[list[Status], Field(min_length=1)]
    """The statuses to answer, one after another; the last one stays."""


@dataclass(frozen=True)
class ReceivedMessage:
    """A message as shown, the world it belongs to, and about how many bytes it takes."""

    world_id: str
    shown: InboxMessage
    size: int


@dataclass
class Inbox:
    """What one inbox has received, and the statuses it will answer; `set_in` is the world they were set in."""

    messages: deque[ReceivedMessage] = field(default_factory=deque)
    size: int = 0
    dropped: int = 0
    statuses: list[int] = field(default_factory=lambda: [200])
    set_in: str = ""
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    waiting: int = 0

    def next_status(self) -> int:
        """The status to answer now; the last one that was set stays."""
        return self.statuses.pop(0) if len(self.statuses) > 1 else self.statuses[0]

    def of(self, world_id: str | None) -> list[InboxMessage]:
        """The messages of a world, or all."""
        return [message.shown for message in self.messages if world_id in (None, message.world_id)]

    def keep(self, message: ReceivedMessage) -> None:
        """Add a message; the oldest go where there are too many."""
        self.messages.append(message)
        self.size += message.size
        while len(self.messages) > MESSAGES_KEPT or self.size > BYTES_KEPT:
            self.drop_oldest()
        self.changed.set()

    def drop_oldest(self) -> None:
        """Forget the oldest message, and count it as dropped."""
        self.size -= self.messages.popleft().size
        self.dropped += 1

    def clear(self, world_id: str | None) -> None:
        """Forget the messages of a world, or all, and the statuses that were set in it."""
        kept = [message for message in self.messages if world_id not in (None, message.world_id)]
        self.messages = deque(kept)
        self.size = sum(message.size for message in kept)
        if world_id in (None, self.set_in):
            self.statuses, self.set_in = [200], ""
        if world_id is None:
            self.dropped = 0

    @property
    def is_of_use(self) -> bool:
        """Whether anything would be lost if it was forgotten."""
        return bool(self.messages or self.set_in or self.waiting or self.dropped)


def _name_in(url: str, origin: str) -> str:
    """The name of the inbox that a URL of this server is of, with or without its world; "" if it is of none."""
    path = url.partition("#")[0].partition("?")[0].removeprefix(origin)
    if path.startswith(WORLD_BASE):
        path = path[path.index("/", len(WORLD_BASE)) :] if "/" in path[len(WORLD_BASE) :] else ""
    name = path.removeprefix(f"{CONTROL_BASE}/inbox/")
    return "" if "/" in name else unquote(name)


class Inboxes(Watcher):
    """All inboxes of a server. One that nobody has sent to or set up is as good as empty, and is not kept."""

    def __init__(self) -> None:
        self._inboxes: dict[tuple[str, str], Inbox] = {}

    def _of(self, call: ControlCall, sender: World | None = None) -> Inbox:
        """The inbox of a call, and of who sent it; with the header of a world that there is not: 404."""
        if sender is None and (call.are_apart or WORLD_HEADER in call.headers):
            _ = call.world
        call.runtime.watch(self)
        return self._inboxes.get(self._place(call, sender)) or Inbox()

    @staticmethod
    def _place(call: ControlCall, sender: World | None = None) -> tuple[str, str]:
        """The name of an inbox; of which world it is, too, where they are apart."""
        world_id = call.world_id if sender is None else sender.id
        return (world_id if call.are_apart else "", call.path["name"])

    def _enter(self, call: ControlCall, inbox: Inbox, sender: World | None = None) -> None:
        self._inboxes[self._place(call, sender)] = inbox

    def _tidy(self) -> None:
        self._inboxes = {name: inbox for name, inbox in self._inboxes.items() if inbox.is_of_use}

    def ended(self, world: World) -> None:
        """A world ended: its messages and the statuses set in it go."""
        for inbox in self._inboxes.values():
            inbox.clear(world.id)
        self._tidy()

    @operation(
        "POST /inbox/{name}",
        "Receive",
        takes="bytes",
        open=True,
        query=None,
        max_bytes=LONGEST_BODY,
        cuts=True,
        takes_webhooks=True,
    )
    async def inbox_receive(self, call: ControlCall) -> Raw[InboxReceipt]:
        """Keep a message, and answer with the status that is due; 403 for a page of another origin."""
        origin = call.headers.get("origin")
        own = "/".join(call.origin.split("/", 3)[:3])
        is_foreign = call.headers.get("sec-fetch-site") in ("cross-site", "same-site") if origin is None else False
        if is_foreign or (origin is not None and origin.lower() != own.lower()):
            raise ControlError(403, "forbidden", "An inbox takes webhooks, and nothing from pages of other origins.")
        header = call.simulator.provider.signing.signature.signature_header.lower()
        was_sent, sender = call.runtime.courier.sender_of(call.headers.get(header, ""))
        if not was_sent and call.are_apart and call.access is NOBODY:
            why = "Here an inbox takes deliveries of its worlds; for anything else send a control token along."
            raise ControlError(401, "unauthorized", why)
        apart = sender if call.are_apart else None
        inbox = self._of(call, apart)
        status = inbox.next_status()
        if inbox.set_in:
            self._enter(call, inbox, apart)
        living = sender.id if sender is not None and call.simulator.lives(sender) else None
        world_id = living if was_sent else call.world_id
        if world_id is not None:
            self._enter(call, inbox, apart)
            inbox.keep(self._message(call, world_id, status))
            self._fit()
            self._fit_world(call, world_id)
        return Raw(b"" if status in WITHOUT_BODY else b'{"received":true}', status=status)

    @staticmethod
    def _message(call: ControlCall, world_id: str, status: int) -> ReceivedMessage:
        masker = call.runtime.masker
        headers = masker.headers(call.headers)
        body = masker.raw(call.raw).decode("utf-8", "replace")
        shown: InboxMessage = {
            "at": format_timestamp(wall_clock_ms()),
            "headers": headers,
            "body": body,
            "status": status,
            "truncated": not call.is_whole,
        }
        size = _ROW_BYTES + len(body) + sum(len(name) + len(value) for name, value in headers.items())
        return ReceivedMessage(world_id, shown, size)

    def _fit(self) -> None:
        """Make room where all inboxes together take too much: the largest one loses its oldest messages."""
        total = sum(inbox.size for inbox in self._inboxes.values())
        while total > BYTES_KEPT_IN_ALL:
            largest = max(self._inboxes.values(), key=lambda inbox: inbox.size)
            total -= largest.messages[0].size
            largest.drop_oldest()

    def _fit_world(self, call: ControlCall, world_id: str) -> None:
        """Drop the oldest messages of a world whose inboxes take more than its quota of journals."""
        world = call.simulator.worlds.get(world_id)
        most = None if world is None else settings_of(world)["quota_journal_bytes"]
        if most is None:
            return
        kept = [(inbox, one) for inbox in self._inboxes.values() for one in inbox.messages if one.world_id == world_id]
        size = sum(message.size for _, message in kept)
        for inbox, message in sorted(kept, key=lambda pair: pair[1].shown["at"]):
            if size <= most:
                break
            inbox.messages.remove(message)
            inbox.size -= message.size
            inbox.dropped += 1
            size -= message.size

    @operation("GET /inbox", "The inboxes", query=LIMIT)
    async def list_inboxes(self, call: ControlCall) -> InboxNames:
        """The inboxes of the server, with what they keep of the world of the header."""
        world = call.world
        own = {name for at, name in self._inboxes if not call.are_apart or at == world.id}
        urls = [
            row.url for environment in world.environments for row in world.store[ENDPOINTS.of(environment)].values()
        ]
        own |= {name for url in urls if (name := _name_in(url, call.origin))}
        found = [self._show(call, name) for name in sorted(own)]
        return {"data": newest(found, call.limit())}

    def _show(self, call: ControlCall, name: str) -> InboxEntry:
        inbox = self._inboxes.get((call.world_id if call.are_apart else "", name)) or Inbox()
        messages = inbox.of(call.world_id)
        return {
            "name": name,
            "url": f"{call.origin}{inbox_path(call.world_id, name)}",
            "messages": len(messages),
            "last_at": messages[-1]["at"] if messages else None,
            "respond": list(inbox.statuses),
        }

    @operation("GET /inbox/{name}", "What an inbox received", query=LIMIT)
    async def inbox_read(self, call: ControlCall) -> InboxList:
        """What an inbox keeps, or what of it belongs to the world of the header; oldest first."""
        inbox = self._of(call)
        return {"data": newest(inbox.of(call.headers.get(WORLD_HEADER)), call.limit()), "dropped": inbox.dropped}

    @operation(
        "GET /inbox/{name}/wait",
        "Wait for messages in an inbox",
        query={
            "count": {**WHOLE, "description": "How many messages to wait for; 1 unless given."},
            "timeout": {**SECONDS, "description": "How many real seconds to wait."},
            **LIMIT,
        },
    )
    async def inbox_wait(self, call: ControlCall) -> InboxList:
        """All messages as soon as there are `count` (default 1); 408 when the real time passes."""
        timeout = wait_seconds(call)
        limit, wanted = call.limit(), call.whole("count")
        wanted = 1 if wanted is None else wanted
        if wanted > MESSAGES_KEPT:
            raise wrong("count", f"an inbox keeps {MESSAGES_KEPT} messages")
        inbox, world_id = self._of(call), call.headers.get(WORLD_HEADER)
        self._enter(call, inbox)

        async def enough() -> None:
            while len(inbox.of(world_id)) < wanted:
                inbox.changed.clear()
                await inbox.changed.wait()

        inbox.waiting += 1
        try:
            await call.while_here(enough(), timeout)
        except TimeoutError:
            here = len(inbox.of(world_id))
            raise ControlError(408, "timeout", f"{here} of {wanted} messages came within {timeout:g} s.") from None
        finally:
            inbox.waiting -= 1
            self._tidy()
        return {"data": newest(inbox.of(world_id), limit), "dropped": inbox.dropped}

    @operation("PUT /inbox/{name}", "What an inbox answers", body=Statuses)
    async def inbox_answer(self, call: ControlCall) -> InboxStatuses:
        """Set what it answers from now on: the statuses one after another, then always the last.

        507 simulator_quota_exceeded for more inboxes than the world may have objects.
        """
        inbox = self._of(call)
        world, place = call.world, self._place(call)
        most = settings_of(world)["quota_objects"]
        others = sum(one.set_in == world.id for at, one in self._inboxes.items() if at != place)
        if most is not None and others >= most:
            raise quotas.too_much("quota_objects", most, "inboxes that were set up")
        inbox.statuses, inbox.set_in = list(call.body.respond), call.world_id
        self._enter(call, inbox)
        return {"respond": list(call.body.respond)}

    @operation("DELETE /inbox/{name}", "Empty an inbox", status=204)
    async def inbox_clear(self, call: ControlCall) -> None:
        """Forget the messages, or with the header of a world those of that world."""
        self._of(call).clear(call.headers.get(WORLD_HEADER))
        self._tidy()
