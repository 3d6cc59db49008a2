"""What all commands share that speak to a running server: its options, printing, and refusals put into words."""

from __future__ import annotations

import functools
import json
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NoReturn
from urllib.parse import urlsplit

import click

from simulator import client as clients
from simulator.address import DEFAULT_HOST, DEFAULT_PORT, DEFAULT_URL

EXIT_REFUSED = 1
EXIT_USAGE = 2
EXIT_UNREACHABLE = 3

_OPTIONS = (
    click.option(
        "--url", envvar="SIMULATOR_URL", show_envvar=True,
        help="Address of the running server; else that of SIMULATOR_HOST and SIMULATOR_PORT, as `serve` obeys them.  "
        f"[default: {DEFAULT_URL}]",
    ),
    click.option("--world", envvar="SIMULATOR_WORLD", show_envvar=True, help="World to act in; else `default`."),
    click.option(
        "--environment", type=click.Choice(["sandbox", "production"]), envvar="SIMULATOR_ENVIRONMENT",
        show_envvar=True, help="Environment to act in; else sandbox.",
    ),
    click.option(
        "--control-token", envvar="SIMULATOR_CONTROL_TOKEN", show_envvar=True, help="Token, if the server has one.",
    ),
)  # fmt: skip


def remote(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of a server; its first argument is the client, and refusals end it in words."""

    @functools.wraps(command)
    def run(
        *args: Any, url: str, world: str | None, environment: str | None, control_token: str | None, **values: Any
    ) -> None:
        given = {"url": url, "world": world, "environment": environment, "control_token": control_token}
        given |= _of_groups(click.get_current_context())
        address = given["url"] or server_url(os.environ)
        if not is_address(address):
            fail([f"{address!r} is not a URL like {DEFAULT_URL}"], EXIT_USAGE)
        client = clients.ControlClient(
            address,
            given["world"],
            environment=given["environment"],
            token=given["control_token"],
        )
        try:
            command(client, *args, **values)
        except clients.CallRefused as refusal:
            fail([in_words(refusal)], EXIT_REFUSED)
        except clients.Unreachable as error:
            fail(
                [str(error), "start one with `rampsim serve`, or name another with --url or SIMULATOR_URL"],
                EXIT_UNREACHABLE,
            )
        except BrokenPipeError:
            sys.exit(0)

    for option in reversed(_OPTIONS):
        run = option(run)
    return run


def _of_groups(context: click.Context) -> dict[str, str | None]:
    """Options given to a group on its own place (`rampsim clock --url URL advance`) hold for the command below it."""
    found: dict[str, str | None] = {}
    for above in filter(None, (context.parent, context)):
        for name in ("url", "world", "environment", "control_token"):
            if above.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE:
                found[name] = above.params[name]
    return found


def server_url(variables: Mapping[str, str]) -> str:
    """Where `serve` listens with the same variables; one that listens everywhere is found on loopback."""
    host, port = variables.get("SIMULATOR_HOST") or DEFAULT_HOST, variables.get("SIMULATOR_PORT") or DEFAULT_PORT
    host = {"0.0.0.0": DEFAULT_HOST, "::": "::1"}.get(host, host)
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def is_address(url: str) -> bool:
    """Whether this is an address of http or https with a host."""
    try:
        parts = urlsplit(url)
        named = bool(parts.hostname) and (parts.port is None or parts.port >= 0)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and named and " " not in url


def show(value: Any) -> None:
    """Print an answer as JSON for people."""
    click.echo(json.dumps(value, indent=2, ensure_ascii=False))


def fail(lines: Iterable[str], code: int) -> NoReturn:
    """Say what is wrong on the error stream, and end."""
    for line in lines:
        click.echo(f"rampsim: {line}", err=True)
    sys.exit(code)


def in_words(refusal: clients.CallRefused) -> str:
    """What the server refused, why, and what is possible instead."""
    error = refusal.error
    code = error.get("code", f"HTTP {refusal.status}")
    text = f"refused ({code}): {error.get('message', '')}"
    allowed = error.get("allowed")
    if isinstance(allowed, list):
        text += f" Possible now: {', '.join(allowed)}." if allowed else " Nothing is possible any more."
    if refusal.status == 401:
        text += " Give it with --control-token or SIMULATOR_CONTROL_TOKEN."
    return text
