"""Commands that show what happened in a running server."""

from __future__ import annotations

import json

import click

from simulator.cli.output import show
from simulator.cli.remote import remote
from simulator.cli.tools import completing
from simulator.engine.clients import control as clients

_limit = click.option("--limit", type=click.IntRange(0), help="The newest that many, oldest first.")


@click.group(invoke_without_command=True)
@click.option(
    "--type", "event_type", metavar="EVENT", shell_complete=completing.events, help="Only events of this type."
)
@click.option("--object-id", metavar="ID", help="Only events about this object.")
@_limit
@click.option("--follow", is_flag=True, help="Go on printing events as they come, one per line, until interrupted.")
@remote
def events(
    client: clients.ControlClient, event_type: str | None, object_id: str | None,
    limit: int | None, follow: bool,
) -> None:  # fmt: skip
    """Show the events emitted; `wait` for one, `resend` one."""
    if not follow:
        show(client.get("/events", type=event_type, object_id=object_id, limit=limit)["data"])
        return
    for name, data in client.stream():
        if name != "event":
            continue
        event = json.loads(data)
        subject = event.get("data", {}).get("object", {})
        if event_type in (None, event.get("type")) and object_id in (None, subject.get("id")):
            show(event, indent=None)


@events.command()
@click.option("--type", "event_type", metavar="EVENT", shell_complete=completing.events, help="Of this type.")
@click.option("--object-id", metavar="ID", help="About this object.")
@click.option("--timeout", type=float, metavar="SECONDS", help="Real seconds to wait at most.  [default: 30]")
@remote
def wait(client: clients.ControlClient, event_type: str | None, object_id: str | None, timeout: float | None) -> None:
    """Wait for an event; one already emitted counts. Exit code 1 when the time passes."""
    show(client.get("/events/wait", type=event_type, object_id=object_id, timeout=timeout))


@events.command()
@click.argument("event_id", metavar="ID")
@remote
def resend(client: clients.ControlClient, event_id: str) -> None:
    """Send an event again to every endpoint that is subscribed."""
    show(client.post(f"/events/{clients.segment(event_id)}/resend?wait=true"))


@click.command()
@click.argument("resource_id", metavar="[ID]", required=False, shell_complete=completing.resources)
@click.option("--type", "resource_type", metavar="TYPE", help="Only resources of this type.")
@_limit
@remote
def resources(
    client: clients.ControlClient, resource_id: str | None, resource_type: str | None, limit: int | None
) -> None:
    """Show all resources, or one with its history and actions.

    The actions are those that are possible now.
    """
    if resource_id is not None:
        show(client.get(f"/resources/{clients.segment(resource_id)}"))
        return
    show(client.get("/resources", type=resource_type, limit=limit)["data"])


@click.command()
@click.option("--event-id", metavar="ID", help="Only attempts of this event.")
@click.option("--endpoint-id", metavar="ID", help="Only attempts to this endpoint.")
@click.option("--status", type=click.Choice(["succeeded", "failed"]), help="Only attempts that ended so.")
@_limit
@remote
def deliveries(
    client: clients.ControlClient, event_id: str | None, endpoint_id: str | None, status: str | None, limit: int | None
) -> None:
    """Show webhook deliveries: what was sent and what came back."""
    show(client.get("/deliveries", event_id=event_id, endpoint_id=endpoint_id, status=status, limit=limit)["data"])


@click.command()
@click.option("--method", help="Only calls with this method.")
@click.option("--path", help="Only calls of this full path; * stands for anything.")
@click.option("--status", help="Only calls answered with this status.")
@_limit
@remote
def requests(
    client: clients.ControlClient, method: str | None, path: str | None, status: str | None, limit: int | None
) -> None:
    """Show the calls the server got, with answers and advice."""
    show(client.get("/requests", method=method, path=path, status=status, limit=limit)["data"])
