"""`rampsim wait`: until a server is ready, for scripts and pipelines that have just started one."""

from __future__ import annotations

import time
from typing import Any

import click

from simulator.cli import obeying, remote
from simulator.cli.ending import EXIT_UNREACHABLE, fail
from simulator.cli.output import say
from simulator.cli.server import settings
from simulator.engine.clients import control as clients

_EVERY_SECONDS = 0.1


@click.command()
@click.option("--timeout", type=click.FloatRange(0), default=30, show_default=True, help="Seconds to wait at most.")
@click.option("--quiet", is_flag=True, help="Print nothing when it is ready.")
@click.option("--print-url", is_flag=True, help="Print its address alone.")
@settings.CLIENT[0].option()
@obeying.settings_file_option(settings.CLIENT)
def wait(timeout: float, quiet: bool, print_url: bool, url: str | None) -> None:
    """Wait until a server is ready to take calls.

    The exit code is 3, with the reason, when it is not in time.

    \b
    rampsim serve & rampsim wait
    rampsim wait --timeout 60 --url http://simulator:8642
    export SIMULATOR_URL=$(rampsim wait --print-url)
    """
    until = time.monotonic() + timeout
    while True:
        address = remote.address_of(url)  # anew each time: the note of a server is there when it listens
        reason = _why_not(address.url, max(1.0, until - time.monotonic()))
        if reason is None:
            break
        if time.monotonic() >= until:
            words = [f"not ready after {timeout:g} s: {reason}", *remote.where_it_was_looked(address)]
            fail(words, EXIT_UNREACHABLE)
        time.sleep(min(_EVERY_SECONDS, max(0.0, until - time.monotonic())))
    if not quiet:
        say(address.url if print_url else f"Ready on {address.url}")


def _why_not(url: str, timeout_seconds: float) -> str | None:
    """Why the server does not take calls, None when it does."""
    try:
        answer: Any = clients.ControlClient(url, timeout_seconds=timeout_seconds).get("/ready")
    except clients.Unreachable as error:
        return str(error)
    except clients.CallRefused as refusal:
        return remote.in_words(refusal)
    return None if isinstance(answer, dict) else f"what answers at {url} is not a simulator"
