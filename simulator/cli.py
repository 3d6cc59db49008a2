"""The command line: `rampsim` (also `python -m simulator`).

Exit codes: 0 done; 1 refused by the server, or an expectation was not met; 2 wrong usage or configuration;
3 no server answers at the address.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
from typing import Any, NoReturn

import click

from simulator import __version__

EXIT_REFUSED = 1
EXIT_USAGE = 2
EXIT_UNREACHABLE = 3


@click.group(context_settings={"help_option_names": ["-h", "--help"]}, epilog=__doc__.partition("\n\n")[2])
@click.version_option(__version__, prog_name="rampsim")
def main() -> None:
    """Simulator of a stablecoin ramp and wallet service: serve it, steer its clock and its weather."""


@main.command()
@click.option("--host", default="127.0.0.1", show_default=True, envvar="SIMULATOR_HOST", help="Address to listen on.")
@click.option("--port", default=8642, show_default=True, envvar="SIMULATOR_PORT", help="Port; 0 picks a free one.")
@click.option("--clock", default="real", show_default=True, envvar="SIMULATOR_CLOCK", help="real, manual or scaled.")
@click.option("--rate", default="1", show_default=True, envvar="SIMULATOR_RATE", help="Speed of a scaled clock.")
@click.option("--now", default=None, envvar="SIMULATOR_NOW", help="Start time, for example 2026-01-05T08:00:00Z.")
@click.option("--seed", default=1, show_default=True, envvar="SIMULATOR_SEED", help="Seed of all chance.")
@click.option(
    "--scenario", multiple=True, envvar="SIMULATOR_SCENARIO", help="Active scenario: name or file; repeatable."
)
@click.option("--control-token", default=None, envvar="SIMULATOR_CONTROL_TOKEN", help="Token of the control interface.")
@click.option("--strict/--no-strict", default=False, envvar="SIMULATOR_STRICT", help="Refuse unknown fields.")
@click.option("--rate-limit", default=None, envvar="SIMULATOR_RATE_LIMIT", help="N/SECONDS per key pair.")
@click.option(
    "--webhook-urls", default="local", show_default=True, envvar="SIMULATOR_WEBHOOK_URLS", help="public, local or any."
)
@click.option(
    "--webhook-timestamp",
    default="wall",
    show_default=True,
    envvar="SIMULATOR_WEBHOOK_TIMESTAMP",
    help="wall or simulated.",
)
@click.option(
    "--journal-limit", default=10_000, show_default=True, envvar="SIMULATOR_JOURNAL_LIMIT", help="Calls kept."
)
def serve(
    host: str, port: int, clock: str, rate: str, now: str | None, seed: int, scenario: tuple[str, ...],
    control_token: str | None, strict: bool, rate_limit: str | None, webhook_urls: str, webhook_timestamp: str,
    journal_limit: int,
) -> None:  # fmt: skip
    """Serve the simulator until interrupted; prints `Ready on http://HOST:PORT` when it listens."""
    from simulator.config import ConfigError, make_config
    from simulator.control.app import is_loopback
    from simulator.host import build

    settings: dict[str, Any] = {
        "strict": strict,
        "rate_limit": rate_limit,
        "webhook_urls": webhook_urls,
        "webhook_timestamp": webhook_timestamp,
        "journal_limit": journal_limit,
    }
    try:
        config = make_config(
            host=host, port=port, clock=clock, rate=rate, now=now, seed=seed, scenarios=scenario,
            control_token=control_token, settings=settings, is_loopback=is_loopback(host),
        )  # fmt: skip
        application = build(config)
    except ConfigError as error:
        fail_usage(error.problems)
    _run(application, host, port)


def fail_usage(problems: list[str]) -> NoReturn:
    for problem in problems:
        click.echo(f"rampsim: {problem}", err=True)
    sys.exit(EXIT_USAGE)


def _run(application: Any, host: str, port: int) -> None:
    import uvloop

    from simulator.host import banner
    from simulator.server.process import open_socket, origin_of, server_of

    try:
        listener = open_socket(host, port)
    except OSError as error:
        fail_usage([f"cannot listen on {host}:{port}: {error.strerror or error}"])
    server = server_of(application)

    async def run() -> None:
        task = asyncio.create_task(server.serve(sockets=[listener]))
        while not server.started and not task.done():
            await asyncio.sleep(0.005)
        if server.started:
            click.echo("\n".join(banner(application.simulator.default, origin_of(listener))))
            sys.stdout.flush()
        await task

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner, contextlib.suppress(KeyboardInterrupt):
        runner.run(run())
