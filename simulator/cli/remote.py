"""What all commands share that speak to a running server: its options, printing, and refusals put into words."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import click

from simulator.cli import config_option
from simulator.cli.output import EXIT_REFUSED, EXIT_UNREACHABLE, EXIT_USAGE, fail, say
from simulator.cli.server import settings
from simulator.cli.tools import completing
from simulator.engine.clients import address as addresses
from simulator.engine.clients import control as clients
from simulator.engine.clients import guard
from simulator.engine.clients.address import DEFAULT_URL
from simulator.engine.text.terminal import plain_line

_MORE: Mapping[str, Mapping[str, Any]] = {
    "environment": {"type": click.Choice(["sandbox", "production"])},
    "world": {"shell_complete": completing.worlds},
}


class Address(NamedTuple):
    """Where a server is looked for, and what said so."""

    url: str
    by: str


def remote(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of a server; its first argument is the client, and refusals end it in words.

    A group takes the options too, for the command below it (`_of_groups`), and then looks for no server itself.
    """

    @functools.wraps(command)
    def run(
        *args: Any, url: str, world: str | None, environment: str | None, control_token: str | None, **values: Any
    ) -> None:
        if click.get_current_context().invoked_subcommand is not None:
            return
        given = {"url": url, "world": world, "environment": environment, "control_token": control_token}
        given |= _of_groups(click.get_current_context())
        address = address_of(given["url"])
        client = clients.ControlClient(
            address.url, given["world"], environment=given["environment"], token=given["control_token"]
        )
        try:
            command(client, *args, **values)
        except clients.CallRefused as refusal:
            fail([in_words(refusal)], EXIT_REFUSED)
        except clients.Unreachable as error:
            fail([str(error), *where_it_was_looked(address)], EXIT_UNREACHABLE)
        except BrokenPipeError:
            sys.exit(0)
        except (LookupError, TypeError, AttributeError, ValueError, RecursionError) as error:
            why = f"its answer has another shape ({type(error).__name__}: {str(error)[:100]})"
            fail([plain_line(f"what answers at {address.url} is not a simulator of this version: {why}")],
                 EXIT_UNREACHABLE)  # fmt: skip

    for setting in reversed(settings.CLIENT):
        run = setting.option(**_MORE.get(setting.name, {}))(run)
    decorated: Callable[..., None] = config_option.settings_file_option(settings.CLIENT)(run)
    return decorated


def address_of(given: str | None) -> Address:
    """Where the server of a command is: as `--url` or SIMULATOR_URL says, as SIMULATOR_HOST and SIMULATOR_PORT make
    a server listen, as the settings file says, where one was started from here, or at the default address.

    `given` is the value of the option `--url`, from wherever it has that.
    """
    context = click.get_current_context()
    source = context.get_parameter_source("url")
    file = config_option.file_of(context)
    in_file = str(file.values.get("url") or "")
    if given and not (given == in_file and source is click.core.ParameterSource.DEFAULT_MAP):
        by_option = "url" in _of_groups(context)
        return _checked(given, "--url" if by_option else "SIMULATOR_URL")
    named = [name for name in ("SIMULATOR_HOST", "SIMULATOR_PORT") if os.environ.get(name)]
    if named and os.environ.get("SIMULATOR_PORT") != "0":
        return _checked(addresses.listening(os.environ), " and ".join(named))
    if in_file:
        return _checked(in_file, file.place_of("url"))
    if (started := _started_here()) is not None:
        return started
    told = {f"SIMULATOR_{name.upper()}": str(file.values[name]) for name in ("host", "port") if name in file.values}
    if told and told.get("SIMULATOR_PORT") != "0":
        return _checked(addresses.listening(told), file.place_of("port" if "port" in file.values else "host"))
    return Address(DEFAULT_URL, "")


def _checked(url: str, by: str) -> Address:
    if not is_address(url):
        fail([f"{by}: {url!r} is not a URL like {DEFAULT_URL}"], EXIT_USAGE)
    refuse_foreign(url)
    return Address(url, by)


def _started_here() -> Address | None:
    """The server that was started from here; of several the one at the default address, else it has to be named."""
    from simulator.cli.server import running

    servers = running.here()
    if not servers:
        return None
    if len(servers) > 1:
        usual = [server for server in servers if server.url == DEFAULT_URL]
        others = ", ".join(server.url for server in servers if server not in usual)
        if not usual:
            fail([f"several servers run here ({others}): name one with --url or SIMULATOR_URL"], EXIT_USAGE)
        say(f"rampsim: this is the server at {DEFAULT_URL}; others run here, too: {others}", err=True)
        servers = usual
    return Address(servers[0].url, str(servers[0].note))


def where_it_was_looked(address: Address) -> list[str]:
    """Why that address, and what to do when nothing answers there."""
    if not address.by:
        where = "only this directory and those above it were searched for a running server"
        why = [f"it is the default address: none is named, and {where}"]
    else:
        why = [] if address.by == "--url" else [f"{address.by} names that address"]
    return [*why, "start one with `rampsim serve`, or name another with --url or SIMULATOR_URL"]


def _of_groups(context: click.Context) -> dict[str, str | None]:
    """Options given to a group on its own place (`rampsim clock --url URL advance`) hold for the command below it."""
    found: dict[str, str | None] = {}
    for above in filter(None, (context.parent, context)):
        for name in ("url", "world", "environment", "control_token"):
            if above.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE:
                found[name] = above.params[name]
    return found


def is_address(url: str) -> bool:
    """Whether this is an address of http or https with a host."""
    try:
        parts = urlsplit(url)
        named = bool(parts.hostname) and (parts.port is None or parts.port >= 0)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and named and " " not in url


def refuse_foreign(url: str) -> None:
    """End with code 2 where a simulator's address is on a host that is not trusted, before anything is sent."""
    try:
        guard.check_host(url)
    except guard.ForeignHost as error:
        fail([str(error)], EXIT_USAGE)


def in_words(refusal: clients.CallRefused) -> str:
    """What the server refused, why, and what is possible instead."""
    error = refusal.error
    code = error.get("code", f"HTTP {refusal.status}")
    text = f"refused ({code}): {error.get('message', '')}"
    allowed = error.get("allowed")
    if isinstance(allowed, list):
        text += f" Possible now: {', '.join(map(str, allowed))}." if allowed else " Nothing is possible any more."
    if refusal.status == 401:
        text += " Give it with --control-token or SIMULATOR_CONTROL_TOKEN."
    return plain_line(text)
