"""`rampsim scenario upload` and `activate`: scenarios of a running server."""

from __future__ import annotations

from pathlib import Path

import click

from simulator.cli.ending import EXIT_REFUSED, fail, read_file
from simulator.cli.output import say
from simulator.cli.remote import remote
from simulator.cli.tools import completing
from simulator.engine.clients import control as clients


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=click.Path(path_type=Path))
@click.option("--activate", "is_activated", is_flag=True, help="Put them above the scenarios that are active.")
@remote
def upload(client: clients.ControlClient, files: tuple[Path, ...], is_activated: bool) -> None:
    """Give scenario files to the world of a running server.

    One of the same name is replaced.

    \b
    rampsim scenario upload flaky-receiver.yaml --activate
    """
    names, count = [], 0
    for path in files:
        try:
            made = client.send("POST", "/scenarios", read_file(path), "application/yaml")
        except clients.CallRefused as refusal:
            errors = refusal.error.get("errors")
            if not isinstance(errors, list):
                raise
            count += len(errors)
            for problem in errors:
                where = f"{problem['path']}: " if problem["path"] else ""
                say(f"{path}:{problem['line']}:{problem['column']}: {where}{problem['message']}")
            continue
        names.append(str(made["name"]))
        say(f"{made['name']} is there{'' if is_activated else '; make it active with --activate'}.")
        for warning in made.get("warnings", ()):
            say(f"{path}:{warning['line']}:{warning['column']}: warning: {warning['message']}")
    if count:
        fail(
            [f"{count} {'problem' if count == 1 else 'problems'} found; what is not valid was not taken"], EXIT_REFUSED
        )
    if is_activated:
        active = [row["name"] for row in client.get("/scenarios")["data"] if row["active"]]
        _activate(client, [*(name for name in active if name not in names), *names])


@click.command()
@click.argument("names", nargs=-1, metavar="NAME...", shell_complete=completing.scenarios)
@click.option("--none", "is_none", is_flag=True, help="None: nothing happens but by timers and calls.")
@remote
def activate(client: clients.ControlClient, names: tuple[str, ...], is_none: bool) -> None:
    """Make exactly these scenarios active in a running server.

    Later ones win.

    \b
    rampsim scenario activate autopilot payout-fails-and-refunds
    rampsim scenario activate --none
    """
    if bool(names) == is_none:
        raise click.UsageError("name the scenarios that are to be active, or say --none")
    _activate(client, list(names))


def _activate(client: clients.ControlClient, names: list[str]) -> None:
    active = client.put("/scenarios/active", {"names": names})["names"]
    say(f"Active: {', '.join(active) or 'none'}.")
