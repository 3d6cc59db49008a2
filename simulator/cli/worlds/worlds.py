"""`rampsim worlds`: lists, creates and deletes worlds."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import click

from simulator.cli.options import option
from simulator.cli.output import Fields, fail, say, show
from simulator.cli.remote import remote
from simulator.cli.server import settings
from simulator.cli.tools import completing
from simulator.cli.worlds import snapshots
from simulator.engine.clients import control as clients
from simulator.engine.scenario.language import document


class OrShown(click.Group):
    """A command group. An argument that is not a command is treated as the name of an object to show."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        return super().resolve_command(ctx, args if args[0] in self.commands else ["show", *args])


@click.group(cls=OrShown, invoke_without_command=True, subcommand_metavar="[ID | COMMAND]")
@remote
def worlds(client: clients.ControlClient) -> None:
    """Show all worlds, or one. `create` or `end` them.

    If you name a world, the command shows its keys, clock, scenarios and settings.
    """
    show(client.get("/worlds")["data"])


@worlds.command("show", hidden=True)
@click.argument("world_id", metavar="ID", shell_complete=completing.worlds)
@remote
def show_world(client: clients.ControlClient, world_id: str) -> None:
    """Show one world."""
    show(client.get(f"/worlds/{clients.segment(world_id)}"))


@worlds.command("list")
@option("--json", "as_json", is_flag=True, help="Print JSON.")
@remote
def list_worlds(client: clients.ControlClient, as_json: bool) -> None:
    """List worlds with their size and last use."""
    rows = client.get("/usage")["data"]
    if as_json:
        show(rows)
        return
    unreadable = {row["id"]: row["why"] for row in client.get("/worlds")["unreadable"]}
    for row in rows:
        note = "  unreadable: " + unreadable[row["id"]] if row["id"] in unreadable else ""
        kept = row["journal_bytes"] + row.get("bytes", 0)
        say(f"{row['last_used_at']}  {row['objects']:>8} objects  {kept:>10} bytes  {row['id']}{note}")


@worlds.command()
@option(
    "--idle",
    required=True,
    metavar="DURATION",
    help="Delete worlds that received no calls for this long, such as 7d or 12h.",
)
@option("--dry-run", is_flag=True, help="Only list them.")
@remote
def prune(client: clients.ControlClient, idle: str, dry_run: bool) -> None:
    """Delete unused worlds, except the world `default`.

    Their snapshots are deleted, too. Calls count as use; a world's own timers do not.

    \b
    rampsim worlds prune --idle 7d --dry-run
    """
    ended = client.post("/prune", {"idle": idle, "dry_run": dry_run})["ended"]
    for world_id in ended:
        say(world_id)
    say(f"{len(ended)} worlds {'would be deleted' if dry_run else 'deleted'}.", err=True)


def _of_world(command: Any) -> Any:
    """Add options for a world's settings. The server provides the values of omitted settings."""
    for row in reversed(settings.SERVE[_FIRST_OF_WORLDS:]):
        is_switch, is_list = row.sort == "switch", row.sort == "list"
        more: Fields = {"default": None} if is_switch else {"metavar": row.metavar, "multiple": is_list}
        if row.keyed:
            command = click.option(row.flag, help=row.meaning, **more)(command)
    return command


_KEYS = ("public_key", "secret_key", "webhook_key")
_FIRST_OF_WORLDS = next(at for at, row in enumerate(settings.SERVE) if row.name == "strict")


@worlds.command()
@click.argument("world_id", metavar="[ID]", required=False)
@option("--seed", metavar="N", type=click.IntRange(0), help="Seed for all random values.  [default: random]")
@option(
    "--scenario",
    metavar="NAME|FILE",
    shell_complete=completing.scenarios,
    multiple=True,
    help="Scenario to activate; repeatable. `none` activates no scenario.",
)
@option("--clock", type=click.Choice(["manual", "real", "scaled"]), help="Mode of the clock.  [default: manual]")
@option("--now", metavar="TIMESTAMP", help="Start time.")
@option("--rate", metavar="FACTOR", type=float, help="Speed of a scaled clock.")
@option("--from-snapshot", metavar="ID|NAME", help="Start from a snapshot.")
@option("--replace", is_flag=True, help="First delete a world with this id.")
@option("--env", "as_env", is_flag=True, help="Print shell commands: `eval $(rampsim worlds create --env)`.")
@_of_world
@remote
def create(
    client: clients.ControlClient, world_id: str | None, seed: int | None, scenario: tuple[str, ...],
    clock: str | None, now: str | None, rate: float | None, from_snapshot: str | None, replace: bool, as_env: bool,
    **of_world: Any,
) -> None:  # fmt: skip
    """Create a world and show it.

    Settings that you omit come from the server, except the clock, which is manual.

    \b
    rampsim worlds create my-test --seed 7 --scenario autopilot --replace
    eval "$(rampsim worlds create --env)"
    """
    body = {
        "id": world_id,
        "seed": seed,
        "replace": replace or None,
        "scenarios": None if not scenario else [] if scenario == ("none",) else [*map(_scenario, scenario)],
        "clock": _named({"mode": clock, "now": now, "rate": rate}) or None,
        "settings": _settings(of_world) or None,
        "from_snapshot": None if from_snapshot is None else snapshots.id_of(client, from_snapshot),
    }
    made = client.post("/worlds", _named(body))
    if not as_env:
        show(made)
        return
    keys = made["credentials"]["sandbox"]
    lines = {"URL": f"{client.url}/_worlds/{made['id']}", **{name.upper(): keys[name] for name in _KEYS}}
    for name, value in lines.items():
        say(f"export SIMULATOR_{name}={shlex.quote(value)}")


def _named(values: Fields) -> Fields:
    return {name: value for name, value in values.items() if value is not None}


def _settings(given: Fields) -> Fields:
    """Return the given options as the `settings` field for the request body."""
    body: Fields = {}
    for row in settings.SERVE[_FIRST_OF_WORLDS:]:
        value = given.get(row.name)
        if value in (None, ()):
            continue
        if row.name == "assume":
            body["assumptions"] = dict(str(one).partition("=")[::2] for one in value)
        elif row.sort == "number" and str(value).isdecimal():
            body[row.name] = int(value)
        else:
            body[row.name] = value
    return body


def _scenario(given: str) -> Any:
    """Return a scenario name unchanged, or the whole document for a file."""
    path = Path(given)
    if not path.is_file():
        return given
    try:
        read = document.read(path.read_text("utf-8-sig"))
    except (OSError, ValueError) as error:
        fail(f"--scenario: cannot read {given}: {error}")
    if read.problems:
        fail(*[f"{given}:{one.line}:{one.column}: {one.message}" for one in read.problems])
    return read.value


@worlds.command()
@click.argument("world_ids", metavar="ID...", nargs=-1, required=True, shell_complete=completing.worlds)
@remote
def end(client: clients.ControlClient, world_ids: tuple[str, ...]) -> None:
    """Delete worlds and their snapshots. Their tokens become invalid."""
    for world_id in world_ids:
        client.delete(f"/worlds/{clients.segment(world_id)}")


@worlds.command()
@click.argument("world_id", metavar="ID", shell_complete=completing.worlds)
@remote
def raw(client: clients.ControlClient, world_id: str) -> None:
    """Export the stored data of a world, even if it is unreadable.

    \b
    rampsim worlds raw my-world > my-world.raw.json
    rampsim worlds end my-world
    """
    show(client.get(f"/worlds/{clients.segment(world_id)}/raw"))
