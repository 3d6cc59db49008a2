"""`rampsim find`: anything of a running server by what is known of it."""

from __future__ import annotations

import click

from simulator.cli.ending import EXIT_REFUSED, fail
from simulator.cli.output import say, show
from simulator.cli.remote import remote
from simulator.engine.clients import control as clients
from simulator.engine.text.terminal import plain_line


@click.command()
@click.argument("text", nargs=-1, required=True)
@click.option("--limit", type=click.IntRange(0), help="How many at most, the best first.  [default: 20]")
@click.option("--json", "as_json", is_flag=True, help="What the server answers, as JSON.")
@remote
def find(client: clients.ControlClient, text: tuple[str, ...], limit: int | None, as_json: bool) -> None:
    """Find anything by your reference, an id, amount or phone.

    It finds resources, calls, events and deliveries.

    Exit code 1 when nothing is found.

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
        say("rampsim: there is older still that was not looked at", err=True)
    if not rows:
        fail([f"nothing in this world has {words!r}"], EXIT_REFUSED)
