"""`rampsim wait` waits until a server is ready. `rampsim open` opens its dashboard in a browser."""

from __future__ import annotations

import sys
import time
from typing import Any
from urllib.parse import urlencode

import click

from simulator.cli.options import option
from simulator.cli.output import Exit, fail, say
from simulator.cli.remote import address_of, in_words, remote, where_it_was_looked
from simulator.cli.server import settings, settings_file
from simulator.cli.tools import completing
from simulator.engine.clients import control as clients
from simulator.engine.clients.address import CONTROL_BASE

_EVERY_SECONDS = 0.1


@click.command()
@option("--timeout", type=click.FloatRange(0), default=30, help="Maximum wait in seconds.")
@option("--quiet", is_flag=True, help="Print nothing when it is ready.")
@option("--print-url", is_flag=True, help="Print only its address.")
@settings.CLIENT[0].option()
@settings_file.config_option(settings.CLIENT)
def wait(timeout: float, quiet: bool, print_url: bool, url: str | None) -> None:
    """Wait until a server is ready.

    If it is not ready in time, prints the reason and exits with 3.

    \b
    rampsim serve & rampsim wait
    rampsim wait --timeout 60 --url http://simulator:8642
    export SIMULATOR_URL=$(rampsim wait --print-url)
    """
    until = time.monotonic() + timeout
    while True:
        address = address_of(url)  # repeated, because the server writes its note only once it listens
        reason = _why_not(address.url, max(1.0, until - time.monotonic()))
        if reason is None:
            break
        if time.monotonic() >= until:
            words = [f"not ready after {timeout:g} s: {reason}", *where_it_was_looked(address)]
            fail(*words, code=Exit.UNREACHABLE)
        time.sleep(min(_EVERY_SECONDS, max(0.0, until - time.monotonic())))
    if not quiet:
        say(address.url if print_url else f"Ready on {address.url}")


def _why_not(url: str, timeout_seconds: float) -> str | None:
    """Return the reason why the server is not ready, or None if it is ready."""
    try:
        answer: Any = clients.ControlClient(url, timeout_seconds=timeout_seconds).get("/ready")
    except clients.Unreachable as error:
        return str(error)
    except clients.CallRefused as refusal:
        return in_words(refusal)
    return None if isinstance(answer, dict) else f"the program at {url} is not a simulator; set --url"


@click.command()
@click.argument("resource_id", metavar="[ID]", required=False, shell_complete=completing.resources)
@option("--print", "only_print", is_flag=True, help="Only print its address.")
@option("--docs", is_flag=True, help="Open the documentation instead.")
@remote
def open(client: clients.ControlClient, resource_id: str | None, only_print: bool, docs: bool) -> None:
    """Open the dashboard in a browser, at resource ID if given.

    Prints the address. A browser is opened only from a terminal.
    """
    client.get("/health")
    url = f"{client.url}{CONTROL_BASE}/docs/" if docs else f"{client.url}{CONTROL_BASE}/dashboard"
    if not docs and client.world:
        url += f"?{urlencode({'world': client.world})}"
    if not docs and resource_id is not None:
        url += f"#/resources/{clients.segment(resource_id)}"
    say(url)
    if not only_print and sys.stdout.isatty():
        click.launch(url)
