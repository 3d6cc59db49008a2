"""`rampsim record`: what was done by hand in a running server, as a scenario file."""

from __future__ import annotations

from pathlib import Path

import click

from simulator.cli.ending import write_file
from simulator.cli.output import say
from simulator.cli.remote import remote
from simulator.engine.clients import control as clients


@click.command()
@click.option("--out", metavar="FILE", type=click.Path(path_type=Path), help="Write it there instead of printing it.")
@click.option("--name", metavar="NAME", help="Name of the scenario; else the file's, or `recording`.")
@click.option("--since", metavar="TIMESTAMP|ID", help="Begin there: a simulated moment, or a request or control call.")
@remote
def record(client: clients.ControlClient, out: Path | None, name: str | None, since: str | None) -> None:
    """Write what was done by hand as a scenario that repeats it.

    It has the calls, the actions and the time that passed.

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
