"""`rampsim snapshots`: saves, restores, forks, exports and imports the state of a world."""

from __future__ import annotations

from pathlib import Path

import click

from simulator.cli.options import option
from simulator.cli.output import Exit, Fields, fail, read_file, say, show, write_file
from simulator.cli.remote import remote
from simulator.cli.tools import completing
from simulator.engine.clients import control as clients

_snapshot = click.argument("snapshot", metavar="ID|NAME", shell_complete=completing.snapshots)


@click.group("snapshots", invoke_without_command=True)
@remote
def snapshots(client: clients.ControlClient) -> None:
    """Show the snapshots. `take`, `restore`, `fork` or `export` them."""
    show(client.get("/snapshots")["data"])


@snapshots.command("list")
@remote
def list_snapshots(client: clients.ControlClient) -> None:
    """Show the snapshots of the world, oldest first."""
    show(client.get("/snapshots")["data"])


@snapshots.command()
@click.argument("name", required=False)
@remote
def take(client: clients.ControlClient, name: str | None) -> None:
    """Save the state of the world once no webhook is in flight."""
    show(client.post("/snapshots?wait=true", {} if name is None else {"name": name}))


@snapshots.command()
@_snapshot
@remote
def restore(client: clients.ControlClient, snapshot: str) -> None:
    """Restore the world to a snapshot."""
    show(client.post(f"/snapshots/{clients.segment(id_of(client, snapshot))}/restore"))


@snapshots.command()
@_snapshot
@click.argument("world_id", metavar="[WORLD]", required=False)
@option("--replace", is_flag=True, help="First delete a world with this id.")
@remote
def fork(client: clients.ControlClient, snapshot: str, world_id: str | None, replace: bool) -> None:
    """Create another world from a snapshot. The new world has its own keys."""
    named = {} if world_id is None else {"id": world_id}
    show(client.post("/worlds", {**named, "from_snapshot": id_of(client, snapshot), "replace": replace}))


@snapshots.command()
@click.argument("snapshot", metavar="[ID|NAME]", required=False, shell_complete=completing.snapshots)
@option("--out", metavar="FILE", type=click.Path(path_type=Path), help="Write to this file instead of printing.")
@remote
def export(client: clients.ControlClient, snapshot: str | None, out: Path | None) -> None:
    """Export a snapshot, or the current world, as JSON.

    `rampsim serve --state FILE` starts a server with the exported world.
    """
    path = "/state" if snapshot is None else f"/snapshots/{clients.segment(id_of(client, snapshot))}"
    text = client.text(path)
    if out is None:
        say(text)
        return
    write_file(out, text)
    say(f"Wrote {out}. Use it with `rampsim serve --state {out}`, or here with `rampsim snapshots import {out}`.")


@snapshots.command("import")
@click.argument("file", type=click.Path(path_type=Path))
@remote
def import_state(client: clients.ControlClient, file: Path) -> None:
    """Replace this world with an exported one."""
    show(client.send("PUT", "/state", read_file(file), "application/json"))


@snapshots.command()
@_snapshot
@remote
def forget(client: clients.ControlClient, snapshot: str) -> None:
    """Delete a snapshot. Worlds created from it remain."""
    client.delete(f"/snapshots/{clients.segment(id_of(client, snapshot))}")


def id_of(client: clients.ControlClient, given: str) -> str:
    """Return a snapshot's id, given its id or name. If several snapshots have the name, return the newest one's id."""
    rows: list[Fields] = client.get("/snapshots")["data"]
    if any(given == row["id"] for row in rows):
        return given
    named = [str(row["id"]) for row in rows if row["name"] == given]
    if not named:
        known = ", ".join(row["name"] or row["id"] for row in rows) or "none"
        fail(f"this world has no snapshot {given!r}; its snapshots are: {known}", code=Exit.REFUSED)
    return named[-1]
