"""Commands that steer a running server: its clock, what the outside world does, its worlds."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import click

from simulator.cli.output import EXIT_REFUSED, fail, say, say_passing, show
from simulator.cli.remote import remote
from simulator.cli.tools import completing
from simulator.cli.worlds.parameters import parameters_of, split
from simulator.engine.clients import control as clients


@click.group(invoke_without_command=True)
@remote
def clock(client: clients.ControlClient) -> None:
    """Show the clock; `advance` and `set` move it."""
    show(client.get("/clock"))


@clock.command()
@click.argument("by", required=False)
@click.option("--to", metavar="TIMESTAMP", help="Advance to this moment.")
@click.option("--next", "to_next", is_flag=True, help="Advance to the next timer.")
@click.option(
    "--until-event",
    metavar="EVENT",
    shell_complete=completing.events,
    help="Advance until an event of this type is emitted.",
)
@click.option("--object", "object_id", metavar="ID", help="With --until-event: the event's object.")
@click.option("--until", nargs=2, metavar="ID STATUS", help="Advance until a resource has a status.")
@click.option("--horizon", metavar="DURATION", help="With --until or --until-event: how far to look.  [default: 3652d]")
@remote
def advance(
    client: clients.ControlClient, by: str | None, to: str | None, to_next: bool, until_event: str | None,
    object_id: str | None, until: tuple[str, str] | None, horizon: str | None,
) -> None:  # fmt: skip
    """Move the clock and fire what is due on the way.

    BY is a duration: 500ms, 20s, 10m, 2h30m, 3d, or PT10M.

    \b
    rampsim clock advance 10m
    rampsim clock advance --to 2026-01-06T08:00:00Z
    rampsim clock advance --until-event transaction.completed
    rampsim clock advance --until txn_123 completed
    """
    ways: list[dict[str, Any]] = []
    if by is not None:
        ways.append({"by": by})
    if to is not None:
        ways.append({"to": to})
    if to_next:
        ways.append({"to_next_timer": True})
    if until_event is not None:
        goal = {"event": until_event} | ({"object_id": object_id} if object_id is not None else {})
        ways.append({"until": goal})
    if until is not None:
        ways.append({"until": {"resource": until[0], "status": until[1]}})
    if len(ways) != 1:
        raise click.UsageError("say how far in exactly one way: BY, --to, --next, --until-event or --until")
    if object_id is not None and until_event is None:
        raise click.UsageError("--object goes with --until-event")
    waits = "until" in ways[0]
    if horizon is not None and not waits:
        raise click.UsageError("--horizon goes with --until or --until-event")
    limits = ({"partial": True} | ({"horizon": horizon} if horizon is not None else {})) if waits else {}
    with shown(client):
        answer = client.post("/clock/advance?wait=true", {**ways[0], **limits})
    show(answer)
    if answer.get("reached") is False:
        fail([str(answer.get("stopped", "what was waited for did not happen"))], EXIT_REFUSED)


@clock.command("set")
@click.option("--mode", type=click.Choice(["real", "manual", "scaled"]), help="How the clock moves.")
@click.option("--rate", type=float, help="Speed of a scaled clock.")
@click.option("--now", metavar="TIMESTAMP", help="Move ahead to this moment, firing what is due on the way.")
@remote
def set_clock(client: clients.ControlClient, **given: Any) -> None:
    """Change how the clock moves, or the time."""
    body = {name: value for name, value in given.items() if value is not None}
    if not body:
        raise click.UsageError("say what to change: --mode, --rate or --now")
    with shown(client):
        answer = client.put("/clock?wait=true", body)
    show(answer)


@click.command(
    context_settings={"ignore_unknown_options": True},
    options_metavar="[OPTIONS]",
    epilog="`rampsim actions` lists all actions with their targets and parameters.",
)
@click.argument("name", shell_complete=completing.actions)
@click.argument(
    "rest",
    shell_complete=completing.resources,
    nargs=-1,
    type=click.UNPROCESSED,
    metavar="[TARGET] [--PARAMETER VALUE]...",
)
@remote
def action(client: clients.ControlClient, name: str, rest: tuple[str, ...]) -> None:
    """Do what the outside world does: pay, confirm, refuse, refund.

    TARGET is the id of a resource. Every parameter of the action is an option; what is not a string is written as
    JSON.

    \b
    rampsim action payment_arrives txn_123
    rampsim action fail txn_123 --failure-code payout_failed
    rampsim action set_network --network celo --status down
    rampsim action move_rates --percent -2.5
    """
    target, given = split(rest)
    name = name.replace("-", "_")
    known: list[dict[str, Any]] = client.get("/actions")["data"]
    row: dict[str, Any] = next((row for row in known if row["name"] == name), {})
    body: dict[str, Any] = parameters_of(row.get("parameters", {}), given)
    if target is not None:
        body["target"] = target
    show(client.post(f"/actions/{clients.segment(name)}", body))


@click.command()
@click.option("--json", "as_json", is_flag=True, help="The whole list with the JSON Schemas of the parameters.")
@remote
def actions(client: clients.ControlClient, as_json: bool) -> None:
    """List all actions, what they act on, and their parameters."""
    rows = client.get("/actions")["data"]
    if as_json:
        show(rows)
        return
    for row in rows:
        names = " ".join(_options_of(row["parameters"]))
        say(f"{row['name']} {names}".rstrip())
        say(f"    {row.get('does', '')}")
        say(f"    on: {', '.join(row['targets']) or 'the world'}")


def _options_of(schema: dict[str, Any]) -> list[str]:
    """`--amount X` where required, `[--memo X]` where not; in several schemas, required is what all require."""
    schemas = schema.get("anyOf") or [schema]
    names = list(dict.fromkeys(name for one in schemas for name in one.get("properties", {})))
    required = set.intersection(*(set(one.get("required", ())) for one in schemas))
    shown = [(name, f"--{name.replace('_', '-')} X") for name in names]
    return [option if name in required else f"[{option}]" for name, option in shown]


@click.command()
@click.argument("event", shell_complete=completing.events)
@click.option("--target", metavar="ID", help="The object the event is to be about.")
@remote
def trigger(client: clients.ControlClient, event: str, target: str | None) -> None:
    """Make an event happen by calls and actions that lead there."""
    show(client.post("/trigger?wait=true", {"event": event} | ({"target": target} if target is not None else {})))


@click.command()
@remote
def reset(client: clients.ControlClient) -> None:
    """Make the world again as it was at its creation.

    Seed, keys and scenarios stay the same, and nothing is in it.
    """
    show(client.post("/reset"))


@contextmanager
def shown(client: clients.ControlClient) -> Iterator[None]:
    """Tell on standard error, at a terminal, how far the clock is while the body runs; a quick one tells nothing."""
    if not sys.stderr.isatty():
        yield
        return
    over = threading.Event()
    threading.Thread(target=_follow, args=(client, over), daemon=True).start()
    try:
        yield
    finally:
        over.set()
        say_passing()


def _follow(client: clients.ControlClient, over: threading.Event) -> None:
    try:
        for sort, data in client.stream():
            if over.is_set():
                return
            if sort == "progress":
                say_passing(told(json.loads(data)))
    except (clients.Unreachable, clients.CallRefused, OSError, ValueError):
        return  # the advance itself says what is wrong


def told(progress: Mapping[str, Any]) -> str:
    """Where the clock is, where it goes, and what has happened on the way."""
    goal = f" of {progress['to'][:16]}" if progress["to"] else ""
    return (
        f"{progress['now'][:16]}{goal}: {progress['fired']} timers, {progress['events']} events, "
        f"{progress['deliveries']} deliveries"
    )
