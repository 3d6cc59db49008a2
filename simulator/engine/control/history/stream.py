"""Server-sent events about the changes in a world. A feed derives them from the writes to the world's tables and from
the journal of API requests. A feed without clients is deleted when it lacks messages that a returning client would
need.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from starlette.responses import Response

from simulator.engine.control.call import ControlCall
from simulator.engine.control.operation import any_text, calls_under
from simulator.engine.control.refusals import invalid_parameter
from simulator.engine.control.time.clock import show_clock
from simulator.engine.records.records import find_moved
from simulator.engine.records.requests import JournalEntry, requests_of
from simulator.engine.server.running.advance import Progress
from simulator.engine.server.running.publisher import Channel, Numbers, Reader
from simulator.engine.server.runtime import Runtime, Watcher
from simulator.engine.text.json import JsonObject, dumps
from simulator.engine.text.masking import Masker
from simulator.engine.webhooks import Delivery
from simulator.engine.webhooks import shapes as webhooks
from simulator.engine.webhooks.courier.courier import wall_clock_ms
from simulator.kernel.clock import format_moment, format_timestamp
from simulator.kernel.journal import Event, HistoryEntry, resource_of
from simulator.kernel.table import ABSENT, Write
from simulator.kernel.world import World

operation = calls_under("Seeing")

if TYPE_CHECKING:
    from simulator.engine.scenario.files.folder import FolderProblem

PING_SECONDS = 15
GRACE_SECONDS = 2.0
"""How long a stream may take to end by itself when the server stops."""

_log = logging.getLogger(__name__)


class Feed:
    """The messages about one world. They have the same order as the writes that they report."""

    def __init__(self, world: World, numbers: Numbers, masker: Masker) -> None:
        self.channel = Channel(numbers)
        self._masker = masker
        self.world = world
        self._clock: JsonObject = {}
        self._last_call: JournalEntry | None = None
        self._progress: Progress | None = None
        self.attach(world)

    def attach(self, world: World) -> None:
        """Report the changes of a world from now on. The world has replaced the previous one with the same id."""
        self.detach()
        self.world = world
        self._last_call = next(reversed(requests_of(world).entries), None)
        world.store.listen(self._written)
        self._publish_clock()

    def detach(self) -> None:
        self.world.store.stop_listening(self._written)

    def look(self, progress: Progress | None) -> None:
        """Publish new API requests, any change of the clock, and the progress of an advance."""
        fresh = list(takewhile(lambda call: call is not self._last_call, reversed(requests_of(self.world).entries)))
        self._last_call = fresh[0] if fresh else self._last_call
        self._publish_clock()
        for call in reversed(fresh):
            self._publish("request", dumps(show_call(call)))
        if progress is not None and progress is not self._progress:
            self._publish("progress", dumps(_show_progress(progress)))
        self._progress = progress

    def _publish_clock(self) -> None:
        clock = self.world.clock
        present = {"mode": clock.mode, "rate": clock.rate, "now": clock.now_ms}
        if present != self._clock:
            self._clock = present
            self._publish("clock", dumps(show_clock(self.world)))

    def _written(self, writes: list[Write]) -> None:
        try:
            self._publish_writes(writes)
        except Exception:  # An error in the stream must not undo the transaction.
            _log.exception("the stream of the world %s lost messages", self.world.id)

    def _publish_writes(self, writes: list[Write]) -> None:
        self._publish_clock()
        for table, key, old in writes:
            row = table.rows.get(key)
            if table.name == "histories" and row is not None:
                self._publish("state", dumps(_show_move(self.world, key, row, 0 if old is ABSENT else len(old))))
            elif old is not ABSENT:
                continue
            elif isinstance(row, Event):
                self._publish("event", row.raw)
            elif isinstance(row, Delivery):
                self._publish("delivery", dumps(webhooks.render_delivery(self.world, row)))

    def publish_scenarios(self, names: Sequence[str], problems: Sequence[FolderProblem]) -> None:
        self._publish("scenarios", dumps({"names": names, "problems": problems}))

    def _publish(self, name: str, data: bytes) -> None:
        data = self._masker.answer(data)
        self.channel.publish(lambda number: b"id: %d\r\nevent: %b\r\ndata: %b\r\n\r\n" % (number, name.encode(), data))


def _show_progress(progress: Progress) -> JsonObject:
    return {
        "from": format_timestamp(progress.from_ms),
        "now": format_timestamp(progress.now_ms),
        "to": format_moment(progress.to_ms),
        "fired": progress.fired,
        "events": progress.events,
        "deliveries": progress.deliveries,
    }


def show_call(call: JournalEntry) -> JsonObject:
    """Render an API request without headers and bodies. Clients can read headers and bodies from the journal."""
    return {
        "id": call.id,
        "at": format_timestamp(call.at_ms),
        "environment": call.environment,
        "method": call.method,
        "path": call.path,
        "status": call.status,
        "duration_ms": call.duration_ms,
        "operation": call.operation or None,
        "advice": [f"unknown_field:{name}" for name in call.unknown_fields],
    }


def _show_move(world: World, row: str, moves: tuple[HistoryEntry, ...], index: int) -> JsonObject:
    resource_id = resource_of(row)
    step, record = moves[index], find_moved(world, resource_id)
    before = moves[index - 1] if index else world.journal.last_before(row)
    return {
        "id": resource_id,
        "kind": "" if record is None else record.kind,
        "from": None if before is None else before.state,
        "state": step.state,
        "trigger": step.on,
        "at": format_timestamp(step.at_ms),
        "cause": {"kind": step.cause.kind, "name": step.cause.name},
    }


class EventStreams(Watcher):
    """The feeds of all worlds that clients are reading or have recently read."""

    def __init__(self) -> None:
        self._feeds: dict[str, Feed] = {}
        self._numbers = Numbers.of_start(wall_clock_ms())
        self._runtime: Runtime | None = None

    @operation(
        "GET /stream",
        "Stream what happens",
        query={
            "world": any_text("The world to follow, for clients that cannot send the header."),
            "last_event_id": any_text("Continue after the message with this id."),
        },
        media_type="text/event-stream",
    )
    async def stream(self, call: ControlCall) -> Response:
        """Stream the changes in a world as server-sent events.

        A browser can name the world in `?world=` instead of the header. Message names are `request`, `state`, `event`,
        `delivery` and `clock`. During an advance, a `progress` message is sent four times a second. The message
        contains the times `from`, `now` and `to` (null with `until`) and the numbers of timers fired, events emitted
        and delivery attempts made. When files in a directory of scenarios change, a `scenarios` message lists the
        changed names and the problems in all files.

        Message ids increase, even after a restart of the server. With the header Last-Event-ID, the stream continues
        after that message. If later messages are no longer available, a `missed` message with that id is sent first.
        """
        from sse_starlette.sse import EventSourceResponse  # This import is slow, and the module is rarely needed.

        world_id, after = call.query.get("world") or call.world_id, _last_id(call)
        await call.wake(world_id)
        world = call.world_called(world_id)
        messages = _messages(call.runtime, self._feed_of(call.runtime, world), Reader(drop=call.cut), after)
        return EventSourceResponse(messages, ping=PING_SECONDS, shutdown_grace_period=GRACE_SECONDS)

    def _feed_of(self, runtime: Runtime, world: World) -> Feed:
        if self._runtime is None:
            self._runtime = runtime
            runtime.watch(self)
        feed = self._feeds.get(world.id)
        if feed is None:
            feed = self._feeds[world.id] = Feed(world, self._numbers, runtime.masker)
        return feed

    def changed(self, world: World) -> None:
        feed = self._feeds.get(world.id)
        if feed is None or self._runtime is None:
            return
        present = self._runtime.simulator.worlds.get(world.id)
        if present is None or not feed.channel.is_of_use:
            self._feeds.pop(world.id)
            feed.detach()
            feed.channel.close()
        elif present is not feed.world:
            feed.attach(present)
        else:
            feed.look(self._runtime.driver.progress(world))

    def scenarios_read(self, names: Sequence[str], problems: Sequence[FolderProblem]) -> None:
        for feed in self._feeds.values():
            feed.publish_scenarios(names, problems)

    def stopping(self) -> None:
        for feed in self._feeds.values():
            feed.channel.close()


async def _messages(runtime: Runtime, feed: Feed, reader: Reader, after: int | None) -> AsyncIterator[bytes]:
    """Yield the messages after number `after`. If `after` is None, yield the state of the clock, then all new messages.
    `reader` is registered at the first iteration. If nobody iterates over the messages, it therefore does not need to
    be removed.
    """
    is_whole = after is None or feed.channel.has_all_since(after)
    feed.channel.join(reader, after)
    try:
        with runtime.holding(feed.world.id):
            if not is_whole:
                yield b"event: missed\r\ndata: %b\r\n\r\n" % dumps({"after": after})
            if after is None:
                yield b"event: clock\r\ndata: %b\r\n\r\n" % dumps(show_clock(feed.world))
            while (message := await reader.take()) is not None:
                yield message.raw
    finally:
        feed.channel.leave(reader)


def _last_id(call: ControlCall) -> int | None:
    """Return the id after which the stream continues, or None. Raise `ControlError` 400 if it is not valid."""
    text: Any = call.headers.get("last-event-id") or call.given("last_event_id")
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 19):
        raise invalid_parameter("Last-Event-ID", "it must be the id of a message of this stream")
    return int(text)
