"""`rampsim inbox`: the built-in webhook receivers."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import click

from simulator.cli.options import option
from simulator.cli.output import Row, say, show
from simulator.cli.remote import remote
from simulator.cli.tools import completing
from simulator.cli.worlds.worlds import OrShown
from simulator.engine.clients import control as clients
from simulator.engine.text.terminal import plain_line

_json = click.option("--json", "as_json", is_flag=True, help="Print whole messages as JSON.")


@click.group("inbox", cls=OrShown, invoke_without_command=True, subcommand_metavar="[NAME | COMMAND]")
@remote
def inbox(client: clients.ControlClient) -> None:
    """Show the built-in inboxes, or the messages of one.

    \b
    rampsim inbox
    rampsim inbox subscribe demo
    rampsim inbox demo
    rampsim inbox wait demo --count 2
    rampsim inbox respond demo 500 500 200
    """
    show(client.get("/inbox")["data"])


@inbox.command("show", hidden=True)
@click.argument("name", shell_complete=completing.inboxes)
@option("--limit", metavar="N", type=click.IntRange(0), help="Number of newest messages to show, oldest first.")
@_json
@remote
def show_inbox(client: clients.ControlClient, name: str, limit: int | None, as_json: bool) -> None:
    """Show the messages of an inbox."""
    messages = client.get(_path(name), limit=limit)["data"]
    _print(messages, as_json)
    if not messages and limit != 0:
        say(f"rampsim: the inbox {name!r} is empty; `rampsim inbox` lists all inboxes", err=True)


@inbox.command()
@click.argument("name", shell_complete=completing.inboxes)
@option("--count", type=click.IntRange(1), default=1, help="Number of messages to wait for.")
@option("--timeout", type=float, metavar="SECONDS", help="Maximum wait in real seconds.  [default: 30]")
@_json
@remote
def wait(client: clients.ControlClient, name: str, as_json: bool, **query: Any) -> None:
    """Wait until an inbox has at least --count messages.

    Messages that are already in the inbox count. Exits with 1 after the timeout.
    """
    _print(client.get(f"{_path(name)}/wait", **query)["data"], as_json)


@inbox.command()
@click.argument("name", shell_complete=completing.inboxes)
@option("--event", "events", multiple=True, metavar="EVENT", help="Only this event; repeatable.  [default: all]")
@remote
def subscribe(client: clients.ControlClient, name: str, events: tuple[str, ...]) -> None:
    """Register an inbox as a webhook endpoint of the world."""
    show(client.post(f"{_path(name)}/subscribe", {"events": list(events)} if events else {}))


@inbox.command()
@click.argument("name", shell_complete=completing.inboxes)
@click.argument("statuses", metavar="STATUS...", nargs=-1, required=True, type=click.IntRange(200, 599))
@remote
def respond(client: clients.ControlClient, name: str, statuses: tuple[int, ...]) -> None:
    """Set the response statuses of an inbox.

    The statuses are used in order. The last one repeats.
    """
    show(client.put(_path(name), {"respond": list(statuses)}))


@inbox.command()
@click.argument("name", shell_complete=completing.inboxes)
@remote
def clear(client: clients.ControlClient, name: str) -> None:
    """Empty an inbox, and reset its response to 200."""
    client.delete(_path(name))


def _path(name: str) -> str:
    return f"/inbox/{clients.segment(name)}"


def _print(messages: Iterable[Row], as_json: bool) -> None:
    if as_json:
        show(messages)
        return
    for message in messages:
        try:
            event = json.loads(message["body"])
            about = f"{event['type']}  {event['data']['object'].get('id', '')}"
        except (ValueError, KeyError, TypeError, AttributeError):
            about = message["body"][:80]
        say(plain_line(f"{message['at']}  {message['status']}  {about}").rstrip())
