"""Commands that inspect a running server: resources, API requests, events, deliveries, search, coverage, recording."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import click

from simulator.cli.options import option
from simulator.cli.output import Exit, Row, fail, say, show, write_file
from simulator.cli.remote import remote
from simulator.cli.tools import completing
from simulator.engine.clients import control as clients
from simulator.engine.insight import page
from simulator.engine.text.terminal import plain_line

_limit = click.option(
    "--limit", metavar="N", type=click.IntRange(0), help="Number of newest items to show, oldest first."
)


@click.group(invoke_without_command=True)
@option("--type", metavar="EVENT", shell_complete=completing.events, help="Only events of this type.")
@option("--object-id", metavar="ID", help="Only events about this object.")
@_limit
@option("--follow", is_flag=True, help="Keep printing new events, one per line, until interrupted.")
@remote
def events(client: clients.ControlClient, follow: bool, **query: Any) -> None:
    """Show events. `wait` for one, or `resend` one."""
    if not follow:
        show(client.get("/events", **query)["data"])
        return
    for name, data in client.stream():
        if name != "event":
            continue
        event = json.loads(data)
        subject = event.get("data", {}).get("object", {})
        if query["type"] in (None, event.get("type")) and query["object_id"] in (None, subject.get("id")):
            show(event, indent=None)


@events.command()
@option("--type", metavar="EVENT", shell_complete=completing.events, help="Wait for an event of this type.")
@option("--object-id", metavar="ID", help="Wait for an event of this object.")
@option("--timeout", type=float, metavar="SECONDS", help="Maximum wait in real seconds.  [default: 30]")
@remote
def wait(client: clients.ControlClient, **query: Any) -> None:
    """Wait for an event. Earlier events count. Exits with 1 after the timeout."""
    show(client.get("/events/wait", **query))


@events.command()
@click.argument("event_id", metavar="ID")
@remote
def resend(client: clients.ControlClient, event_id: str) -> None:
    """Send an event again to every subscribed endpoint."""
    show(client.post(f"/events/{clients.segment(event_id)}/resend?wait=true"))


@click.command()
@click.argument("resource_id", metavar="[ID]", required=False, shell_complete=completing.resources)
@option("--type", metavar="TYPE", help="Only resources of this type.")
@_limit
@remote
def resources(client: clients.ControlClient, resource_id: str | None, **query: Any) -> None:
    """Show all resources, or one with its history.

    One resource is shown with the actions that are possible now.
    """
    if resource_id is not None:
        show(client.get(f"/resources/{clients.segment(resource_id)}"))
    else:
        show(client.get("/resources", **query)["data"])


@click.command()
@option("--event-id", metavar="ID", help="Only attempts of this event.")
@option("--endpoint-id", metavar="ID", help="Only attempts to this endpoint.")
@option("--status", type=click.Choice(["succeeded", "failed"]), help="Only attempts with this result.")
@_limit
@remote
def deliveries(client: clients.ControlClient, **query: Any) -> None:
    """Show webhook deliveries with requests and responses."""
    show(client.get("/deliveries", **query)["data"])


@click.command()
@option("--method", help="Only calls with this method.")
@option("--path", metavar="GLOB", help="Only calls with this full path; * matches anything.")
@option("--status", help="Only calls with this response status.")
@_limit
@remote
def requests(client: clients.ControlClient, **query: Any) -> None:
    """Show calls with their responses and advice."""
    show(client.get("/requests", **query)["data"])


@click.command()
@click.argument("text", nargs=-1, required=True)
@option("--limit", metavar="N", type=click.IntRange(0), help="Maximum number of results, best first.  [default: 20]")
@option("--json", "as_json", is_flag=True, help="Print the server's response as JSON.")
@remote
def find(client: clients.ControlClient, text: tuple[str, ...], limit: int | None, as_json: bool) -> None:
    """Find anything by reference, id, amount or phone number.

    It searches resources, calls, events and deliveries. Exits with 1 if nothing is found.

    \b
    rampsim find order-5000
    rampsim find +254712345678
    """
    words = " ".join(text)
    answer = client.get("/search", q=words, limit=limit)
    rows = answer["data"]
    if as_json:
        show(answer)
    else:
        for row in rows:
            named = "" if row["title"] == row["id"] else f"  {row['title']}"
            line = f"{row['sort']:10}  {row['id']}{named}  {row['kind']}  {row['status'] or ''}"
            say(plain_line(line).rstrip())
    if answer["truncated"]:
        say("rampsim: the oldest objects were not searched; use a more specific search string", err=True)
    if not rows:
        fail(f"nothing in this world matches {words!r}", code=Exit.REFUSED)


@click.command()
@option("--out", metavar="FILE", type=click.Path(path_type=Path), help="Write to this file instead of printing.")
@option("--name", metavar="NAME", help="Name of the scenario.  [default: the file name, or `recording`]")
@option(
    "--since",
    metavar="TIMESTAMP|ID",
    help="Start at this simulated time, or at the request or control call with this id.",
)
@remote
def record(client: clients.ControlClient, out: Path | None, name: str | None, since: str | None) -> None:
    """Write manual steps as a scenario that repeats them.

    The scenario contains calls, actions and advances of the clock.

    \b
    rampsim record --out tests/scenarios/payout-bounces.yaml
    rampsim scenario run tests/scenarios/payout-bounces.yaml
    """
    text = client.text("/recording", name=name or (None if out is None else out.stem), since=since)
    if out is None:
        say(text, nl=False)
        return
    write_file(out, text)
    say(f"Wrote {out}. Repeat it with `rampsim scenario run {out}`.")


@click.command()
@option("--all-worlds", is_flag=True, help="Include all worlds of this server, even deleted ones.")
@option("--json", "as_json", is_flag=True, help="Print the whole report as JSON.")
@option("--html", type=click.Path(dir_okay=False, path_type=Path), help="Write the report as one HTML page.")
@option("--missing", is_flag=True, help="Also list items that are not covered.")
@option(
    "--fail-under",
    type=click.FloatRange(0, 100),
    metavar="PERCENT",
    help="Exit with 1 if the total coverage in percent is lower.",
)
@remote
def coverage(
    client: clients.ControlClient, all_worlds: bool, as_json: bool, html: Path | None, missing: bool,
    fail_under: float | None,
) -> None:  # fmt: skip
    """Show how much of the contract the traffic covers.

    \b
    rampsim coverage --missing
    rampsim coverage --all-worlds --html coverage.html --fail-under 60
    """
    report = client.get("/coverage", world="*" if all_worlds else None)
    if html is not None:
        try:
            html.write_text(page.render_page(report), "utf-8")
        except OSError as error:
            raise click.FileError(str(html), error.strerror) from None
    if as_json:
        show(report)
    else:
        _print(report, missing)
    if fail_under is not None and not report["percent"] >= fail_under:
        say(f"rampsim: coverage {report['percent']} % is below {fail_under:g} %", err=True)
        sys.exit(Exit.REFUSED)


def _print(report: Row, missing: bool) -> None:
    parts = report["dimensions"].values()
    width = max(len(part["title"]) for part in parts)
    for part in parts:
        say(_line(part["title"], part, width))
        for row in part["items"]:
            if missing and not row["covered"]:
                say(f"  - {row['item']}")
    say(_line("Total", report, width))


def _line(title: str, part: Row, width: int) -> str:
    return f"{title:{width}}  {part['covered']:5} of {part['total']:5}  {part['percent']:5} %"
