"""`rampsim tail`: shows API requests, events, deliveries and the clock of a running server as they happen."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from fnmatch import fnmatchcase
from typing import NamedTuple

import click

from simulator.cli.options import option
from simulator.cli.output import Fields, Row, say, say_painted, show
from simulator.cli.remote import remote
from simulator.cli.tools import completing
from simulator.engine.clients import control as clients
from simulator.engine.text import reports
from simulator.engine.text.terminal import plain_line

_SHOWN = ("request", "event", "delivery", "clock")
_ALL = (*_SHOWN, "state")
_TYPE = {"event": "type", "delivery": "event_type"}
_AGAIN_SECONDS = 1.0
_SLACK_SECONDS = 2.0
"""The number of seconds by which simulated time can exceed elapsed real time. A larger difference counts as an advance.
"""
_COLOURS = {"request": "cyan", "event": "magenta", "delivery": "blue", "clock": "yellow", "state": "white"}


class Wanted(NamedTuple):
    """A filter for messages from the stream. None matches every value."""

    sorts: tuple[str, ...]
    event_type: str | None = None
    object_id: str | None = None
    path: str | None = None
    failed: bool = False

    def has(self, sort: str, message: Row) -> bool:
        """Return True if a message is of a wanted kind and matches all conditions."""
        return (
            sort in self.sorts
            and (self.event_type is None or fnmatchcase(str(message.get(_TYPE.get(sort, ""), "")), self.event_type))
            and (self.object_id is None or self.object_id in _about(sort, message))
            and (self.path is None or fnmatchcase(str(message.get("path", "")), self.path))
            and (not self.failed or _has_failed(sort, message))
        )


@click.command()
@option("--only", "sorts", multiple=True, type=click.Choice(_ALL),
        help=f"Kind of message to show; repeatable.  [default: {', '.join(_SHOWN)}]")  # fmt: skip
@option(
    "--type",
    "event_type",
    metavar="EVENT",
    shell_complete=completing.events,
    help="Only events of this type and their deliveries; * matches anything.",
)
@option("--object-id", metavar="ID", help="Only messages about this object.")
@option("--path", metavar="GLOB", help="Only calls with this full path; * matches anything.")
@option("--failed", is_flag=True, help="Only refused calls and failed deliveries.")
@option("--json", "as_json", is_flag=True, help="One JSON object per line, with the kind of message in `stream`.")
@remote
def tail(
    client: clients.ControlClient, sorts: tuple[str, ...], event_type: str | None, object_id: str | None,
    path: str | None, failed: bool, as_json: bool,
) -> None:  # fmt: skip
    """Show calls, events, deliveries and the clock live.

    It runs until it is interrupted, and waits for a server that restarts. Output at a terminal is coloured unless
    NO_COLOR is set.

    \b
    rampsim tail
    rampsim tail --type 'transaction.*'
    rampsim tail --failed --json | jq .status
    """
    wanted = Wanted(sorts or _SHOWN, event_type, object_id, path, failed)
    ticks = bool(sorts)  # `--only clock` also shows the regular clock messages
    coloured = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # like Ctrl-C
    try:
        for sort, message, at in dated(_messages(client), ticks=ticks):
            if not wanted.has(sort, message):
                continue
            if as_json:
                show({"stream": sort, **message}, indent=None)
            elif coloured:
                say_painted(*_painted(sort, message, line_of(sort, message, at)))
            else:
                say(line_of(sort, message, at))
    except KeyboardInterrupt:
        sys.exit(0)


def _messages(client: clients.ControlClient) -> Iterator[tuple[str, str]]:
    """Yield the messages from the stream, and reconnect if the connection breaks. Raise `Unreachable` if the first
    attempt fails.
    """
    connected, lost = False, False
    while True:
        try:
            client.get("/clock")  # fails if the server is unreachable, which is fatal only at the first attempt
            if lost:
                say("rampsim: reconnected", err=True)
            connected, lost = True, False
            after = f"?last_event_id={client.last_event_id}" if client.last_event_id else ""
            for sort, data in client.stream(f"/stream{after}"):
                if sort == "missed":
                    say("rampsim: some messages were lost because the connection was too slow", err=True)
                else:
                    yield sort, data
        except (clients.Unreachable, OSError) as error:
            if not connected:
                raise
            if not lost:
                say(f"rampsim: lost the connection to {client.url} ({error}); waiting for the server", err=True)
            lost = True
        time.sleep(_AGAIN_SECONDS)


def dated(
    messages: Iterable[tuple[str, str]], *, ticks: bool, wall: Callable[[], float] = time.monotonic
) -> Iterator[tuple[str, Fields, str]]:
    """Yield each message with the simulated time at which it arrived.

    Requests and deliveries contain only their start times. If `ticks` is False, clock messages of a running clock are
    dropped, except the first message, changes of mode or rate, and advances. An advance is detected by comparison with
    `wall()`, the real time in seconds.
    """
    now, pace, heard = "", None, 0.0
    for sort, data in messages:
        message = json.loads(data)
        if sort == "clock":
            before, pace = (now, pace, heard), (message["mode"], message.get("rate"))
            now, heard = message["now"], wall()
            if message["mode"] != "manual" and pace == before[1] and not ticks:
                rate = float(message["rate"]) if message["mode"] == "scaled" else 1.0
                passed = datetime.fromisoformat(now) - datetime.fromisoformat(before[0])
                if passed.total_seconds() <= (heard - before[2] + _SLACK_SECONDS) * rate:
                    continue
        yield sort, message, now


def _about(sort: str, message: Row) -> tuple[str, ...]:
    """Return the ids that a message about an event, a request or a delivery contains."""
    if sort == "event":
        return str(message["id"]), str(message.get("data", {}).get("object", {}).get("id", ""))
    if sort == "request":
        return tuple(str(message["path"]).split("/"))
    return tuple(str(message.get(name, "")) for name in ("id", "event_id", "endpoint_id"))


def _has_failed(sort: str, message: Row) -> bool:
    if sort == "request":
        return int(message.get("status") or 0) >= 400
    return sort == "delivery" and message.get("status") != "succeeded"


def line_of(sort: str, message: Row, at: str = "") -> str:
    """Return a message as one line: simulated time (`at`, or the message's own time), kind and content."""
    if sort == "request":
        advice = f"  {', '.join(message['advice'])}" if message.get("advice") else ""
        answered = message["status"] if message["status"] is not None else "cut"
        said = f"{message['method']:6} {message['path']}  {answered}{advice}"
    elif sort == "event":
        thing = message.get("data", {}).get("object", {})
        said = f"{message['type']}  {thing.get('id', '')}  {thing.get('status', '')}"
    elif sort == "delivery":
        answer = message["response_status"] or message["error"] or "no response"
        again = f"  again at {message['next_attempt_at']}" if message["next_attempt_at"] else ""
        said = f"{message['event_type']}  to {message['url']}  attempt {message['attempt']}: {answer}{again}"
    elif sort == "state":
        said = f"{message['id']}  {message['from'] or 'new'} -> {message['state']}  ({message['trigger']})"
    else:
        said = f"{message['mode']}, {reports.counted(message['timers'], 'timer')}"
    at = at or next((message[name] for name in ("at", "created_at", "attempted_at", "now") if message.get(name)), "")
    return plain_line(f"{at:24}  {sort:8}  {said}").rstrip()


def _painted(sort: str, message: Row, line: str) -> Iterator[tuple[str, Fields]]:
    """Yield the parts of a line with their styles. A failed message is red. In other messages, only the kind is
    coloured.
    """
    if _has_failed(sort, message):
        yield line, {"fg": "red"}
        return
    yield from ((line[:26], {"dim": True}), (line[26:34], {"fg": _COLOURS[sort]}), (line[34:], {}))
