"""Commands that control a running server: clock, action, trigger, reset."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

from simulator.cli.options import option
from simulator.cli.output import Exit, Fields, Row, fail, say, say_passing, show
from simulator.cli.remote import remote
from simulator.cli.tools import completing
from simulator.cli.worlds.parameters import parameters_of, split
from simulator.engine.clients import control as clients


@click.group(invoke_without_command=True)
@remote
def clock(client: clients.ControlClient) -> None:
    """Show, advance or set the clock."""
    show(client.get("/clock"))


@clock.command()
@click.argument("by", required=False)
@option("--to", metavar="TIMESTAMP", help="Advance to this time.")
@option("--next", "to_next", is_flag=True, help="Advance to the next timer.")
@option("--until-event", metavar="EVENT", shell_complete=completing.events,
        help="Advance until an event of this type occurs.")  # fmt: skip
@option("--object", "object_id", metavar="ID", help="With --until-event: wait for an event about this object.")
@option("--until", nargs=2, metavar="ID STATUS", help="Advance until a resource has a status.")
@option("--horizon", metavar="DURATION", help="With --until or --until-event: maximum advance.  [default: 3652d]")
@remote
def advance(
    client: clients.ControlClient, by: str | None, to: str | None, to_next: bool, until_event: str | None,
    object_id: str | None, until: tuple[str, str] | None, horizon: str | None,
) -> None:  # fmt: skip
    """Advance the clock and fire timers that are due.

    BY is a duration with units: 500ms, 20s, 10m, 2h30m, 3d, or PT10M.

    \b
    rampsim clock advance 10m
    rampsim clock advance --to 2026-01-06T08:00:00Z
    rampsim clock advance --until-event transaction.completed
    rampsim clock advance --until txn_123 completed
    """
    plain = {"by": by, "to": to, "to_next_timer": to_next or None}
    ways: list[Fields] = [{name: value} for name, value in plain.items() if value is not None]
    if until_event is not None:
        ways.append({"until": {"event": until_event} | ({} if object_id is None else {"object_id": object_id})})
    if until is not None:
        ways.append({"until": {"resource": until[0], "status": until[1]}})
    if len(ways) != 1:
        raise click.UsageError("use exactly one of BY, --to, --next, --until-event or --until")
    if object_id is not None and until_event is None:
        raise click.UsageError("--object needs --until-event")
    waits = "until" in ways[0]
    if horizon is not None and not waits:
        raise click.UsageError("--horizon needs --until or --until-event")
    limits: Fields = {"partial": True} if waits else {}
    if horizon is not None:
        limits["horizon"] = horizon
    with shown(client):
        answer = client.post("/clock/advance?wait=true", {**ways[0], **limits})
    show(answer)
    if answer.get("reached") is False:
        fail(str(answer.get("stopped", "the clock did not reach the goal")), code=Exit.REFUSED)


@clock.command("set")
@option("--mode", type=click.Choice(["real", "manual", "scaled"]), help="How the clock moves.")
@option("--rate", metavar="FACTOR", type=float, help="Speed of a scaled clock.")
@option("--now", metavar="TIMESTAMP", help="Advance to this time, firing timers that are due.")
@remote
def set_clock(client: clients.ControlClient, **given: Any) -> None:
    """Change the mode, the rate or the time of the clock."""
    body = {name: value for name, value in given.items() if value is not None}
    if not body:
        raise click.UsageError("set at least one of --mode, --rate and --now")
    with shown(client):
        answer = client.put("/clock?wait=true", body)
    show(answer)


@click.command(
    context_settings={"ignore_unknown_options": True},
    options_metavar="[OPTIONS]",
    epilog="`rampsim actions` lists all actions with their targets and parameters.",
)
@click.argument("name", shell_complete=completing.actions)
@click.argument("rest", shell_complete=completing.resources, nargs=-1, type=click.UNPROCESSED,
                metavar="[TARGET] [--PARAMETER VALUE]...")  # fmt: skip
@remote
def action(client: clients.ControlClient, name: str, rest: tuple[str, ...]) -> None:
    """Perform an action of a third party: pay, confirm, refund.

    TARGET is the id of a resource. Every parameter of the action is an option. Values other than strings are JSON.

    \b
    rampsim action payment_arrives txn_123
    rampsim action fail txn_123 --failure-code payout_failed
    rampsim action set_network --network celo --status down
    rampsim action move_rates --percent -2.5
    """
    target, given = split(rest)
    name = name.replace("-", "_")
    row: Fields = next((row for row in client.get("/actions")["data"] if row["name"] == name), {})
    body = parameters_of(row.get("parameters", {}), given) | ({} if target is None else {"target": target})
    show(client.post(f"/actions/{clients.segment(name)}", body))


@click.command()
@option("--json", "as_json", is_flag=True, help="Print the list with the JSON Schemas of the parameters.")
@remote
def actions(client: clients.ControlClient, as_json: bool) -> None:
    """List all actions with their targets and parameters."""
    rows = client.get("/actions")["data"]
    if as_json:
        show(rows)
        return
    for row in rows:
        names = " ".join(_options_of(row["parameters"]))
        say(f"{row['name']} {names}".rstrip())
        say(f"    {row.get('does', '')}")
        say(f"    on: {', '.join(row['targets']) or 'the world'}")


def _options_of(schema: Fields) -> list[str]:
    """Return an action's options as text: `--amount X` if the parameter is required, otherwise `[--memo X]`."""
    schemas = schema.get("anyOf") or [schema]
    names = list(dict.fromkeys(name for one in schemas for name in one.get("properties", {})))
    required = set.intersection(*(set(one.get("required", ())) for one in schemas))
    shown = [(name, f"--{name.replace('_', '-')} X") for name in names]
    return [option if name in required else f"[{option}]" for name, option in shown]


@click.command()
@click.argument("event", shell_complete=completing.events)
@option("--target", metavar="ID", help="Id of the object that the event is about.")
@remote
def trigger(client: clients.ControlClient, event: str, target: str | None) -> None:
    """Cause an event with the calls and actions that lead to it."""
    show(client.post("/trigger?wait=true", {"event": event} | ({"target": target} if target is not None else {})))


@click.command()
@option("--days", type=click.IntRange(1), default=90, help="Number of simulated days.")
@option("--per-day", type=click.IntRange(0), default=40, help="Orders on each day.")
@option("--mix", type=click.Choice(["typical", "failures"]), default="typical",
        help="Outcomes: most orders are completed, or most are not.")  # fmt: skip
@remote
def seed(client: clients.ControlClient, days: int, per_day: int, mix: str) -> None:
    """Give the world a history of orders over simulated time.

    Real API calls and outside events happen on each day, and the clock advances. The same seed gives the same
    history.
    """
    with shown(client):
        answer = client.post("/seed?wait=true", {"days": days, "per_day": per_day, "mix": mix})
    show(answer)


@click.command()
@remote
def reset(client: clients.ControlClient) -> None:
    """Reset the world to its initial state.

    Seed, keys and scenarios stay the same. All objects are deleted.
    """
    show(client.post("/reset"))


@contextmanager
def shown(client: clients.ControlClient) -> Iterator[None]:
    """Show the progress of the clock during the `with` block, if standard error is a terminal."""
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
                say_passing(progress_line(json.loads(data)))
    except (clients.Unreachable, clients.CallRefused, OSError, ValueError):
        return  # the control call that advances the clock reports the error


def progress_line(progress: Row) -> str:
    """Return the current time, the target time, and the number of timers, events and deliveries."""
    goal = f" of {progress['to'][:16]}" if progress["to"] else ""
    return (
        f"{progress['now'][:16]}{goal}: {progress['fired']} timers, {progress['events']} events, "
        f"{progress['deliveries']} deliveries"
    )
