"""Code shared by commands that use a running server: options, the address of the server, error messages."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import click

from simulator.cli.output import Exit, Row, exits, fail, say
from simulator.cli.server import running, settings, settings_file
from simulator.cli.tools import completing
from simulator.engine.clients import address as addresses
from simulator.engine.clients import control as clients
from simulator.engine.clients import guard
from simulator.engine.clients.address import DEFAULT_URL
from simulator.engine.text.terminal import plain_line

_MORE: Mapping[str, Row] = {
    "environment": {"type": click.Choice(["sandbox", "production"])},
    "world": {"shell_complete": completing.worlds},
}


class Address(NamedTuple):
    """A server's address, and the setting that it comes from (`by`)."""

    url: str
    by: str


def remote(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options that select a server. The client is passed as the first argument of the command.

    Errors from the server are printed as messages. A command group passes the options to its subcommands
    (`_of_groups`), and does not connect to a server.
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
            fail(in_words(refusal), code=Exit.REFUSED)
        except clients.Unreachable as error:
            fail(str(error), *where_it_was_looked(address), code=Exit.UNREACHABLE)
        except BrokenPipeError:
            sys.exit(0)
        except (LookupError, TypeError, AttributeError, ValueError, RecursionError) as error:
            why = f"the response has an unexpected shape ({type(error).__name__}: {str(error)[:100]})"
            text = plain_line(f"the program at {address.url} is not a simulator of this version: {why}")
            fail(text, code=Exit.UNREACHABLE)

    for setting in reversed(settings.CLIENT):
        run = setting.option(**_MORE.get(setting.name, {}))(run)
    decorated: Callable[..., None] = settings_file.config_option(settings.CLIENT)(run)
    return decorated


def address_of(given: str | None) -> Address:
    """Return the server's address for a command. `given` is the value of `--url` from any source.

    The first available source is used: `--url` or SIMULATOR_URL, SIMULATOR_HOST and SIMULATOR_PORT, the `url` in the
    settings file, a server started in this directory or its repository, `host` and `port` in the settings file, the
    default address.
    """
    context = click.get_current_context()
    source = context.get_parameter_source("url")
    file = settings_file.file_of(context)
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
    from_file = {
        f"SIMULATOR_{name.upper()}": str(file.values[name]) for name in ("host", "port") if name in file.values
    }
    if from_file and from_file.get("SIMULATOR_PORT") != "0":
        return _checked(addresses.listening(from_file), file.place_of("port" if "port" in file.values else "host"))
    return Address(DEFAULT_URL, "")


def _checked(url: str, by: str) -> Address:
    if not is_address(url):
        fail(f"{by}: {url!r} is not a URL like {DEFAULT_URL}")
    refuse_foreign(url)
    return Address(url, by)


def _started_here() -> Address | None:
    """Return the server that was started in this directory or its repository, or None. If there are several, return the
    server at the default address, or exit with 2 if none of them has this address.
    """
    servers = running.here()
    if not servers:
        return None
    if len(servers) > 1:
        usual = [server for server in servers if server.url == DEFAULT_URL]
        others = ", ".join(server.url for server in servers if server not in usual)
        if not usual:
            fail(f"several servers are running here ({others}); choose one with --url or SIMULATOR_URL")
        say(f"rampsim: using the server at {DEFAULT_URL}; other servers run here: {others}", err=True)
        servers = usual
    return Address(servers[0].url, str(servers[0].note))


def where_it_was_looked(address: Address) -> list[str]:
    """Return lines that state the source of the address, and what to do if no server responds at this address."""
    why = f"the address comes from {address.by}"
    if not address.by:
        none = "no other address is set and no server was started in this directory or above"
        why = f"this is the default address, because {none}"
    return [
        *([] if address.by == "--url" else [why]),
        "start a server with `rampsim serve`, or set --url or SIMULATOR_URL",
    ]


def _of_groups(context: click.Context) -> dict[str, str | None]:
    """Return the server options that the command line contains, including those of a command group. In
    `rampsim clock --url URL advance`, the option of the group `clock` applies to its subcommand `advance`.
    """
    found: dict[str, str | None] = {}
    for above in filter(None, (context.parent, context)):
        for name in ("url", "world", "environment", "control_token"):
            if above.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE:
                found[name] = above.params[name]
    return found


def is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        named = bool(parts.hostname) and (parts.port is None or parts.port >= 0)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and named and " " not in url


def control_on_loopback(target: str | None) -> str | None:
    """Return the control API's address for a target on loopback, or None for other targets."""
    parts = urlsplit(target or "")
    return f"{parts.scheme}://{parts.netloc}" if parts.hostname in ("127.0.0.1", "localhost", "::1") else None


def refuse_foreign(url: str) -> None:
    """Exit with code 2 if this client must not send requests to the host of a URL."""
    with exits(guard.ForeignHost):
        guard.check_host(url)


def in_words(refusal: clients.CallRefused) -> str:
    """Return the message for a refused request, including possible alternatives."""
    error = refusal.error
    code = error.get("code", f"HTTP {refusal.status}")
    text = f"refused ({code}): {error.get('message', '')}"
    allowed = error.get("allowed")
    if isinstance(allowed, list):
        text += f" Possible now: {', '.join(map(str, allowed))}." if allowed else " No action is possible."
    if refusal.status == 401:
        text += " Set --control-token or SIMULATOR_CONTROL_TOKEN."
    return plain_line(text)
