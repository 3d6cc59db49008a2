"""`rampsim serve`: the server, until it is interrupted."""

from __future__ import annotations

import errno
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import click

from simulator.cli.remote import EXIT_USAGE, fail


def _option(name: str, help_text: str, **more: Any) -> Callable[[Any], Any]:
    """A flag and its variable: --rate-limit is SIMULATOR_RATE_LIMIT."""
    variable = "SIMULATOR_" + name.partition("/")[0].removeprefix("--").replace("-", "_").upper()
    return click.option(name, envvar=variable, show_envvar=True, show_default=True, help=help_text, **more)


@click.command(epilog="Any SIMULATOR_ variable stands for the flag beside it; a flag wins.")
@_option("--host", "Address to listen on; any but loopback needs a control token.", default="127.0.0.1")
@_option("--port", "Port; 0 picks a free one.", default="8642")
@_option("--clock", "real, manual (moves only by control calls) or scaled.", default="real")
@_option("--rate", "How many times as fast as the wall clock a scaled clock runs.", default="1")
@_option(
    "--now",
    "Start time, for example 2026-01-05T08:00:00Z.  [default: the wall clock; a manual clock: that example]",
)
@_option("--seed", "Seed of everything random.", default="1")
@_option(
    "--scenario",
    "Active scenario, by name or file; repeatable, later ones win.  "
    "[default: autopilot and test-values; none: nothing happens but by timers and calls]",
    multiple=True,
)
@_option(
    "--state",
    "File with the world to begin with, in place of the default one: what GET /_simulator/state gives, and what "
    "pytest keeps of a test.",
    metavar="FILE",
)
@_option(
    "--store",
    "Database in which worlds outlive the server: sqlite:///FILE, or postgresql://… for several "
    "servers at once.  [default: none; they are in memory]",
    metavar="URL",
)
@_option(
    "--advertise",
    "Where other servers of the same PostgreSQL reach this one.  [default: http://HOST:PORT of this one]",
    metavar="URL",
)
@_option(
    "--idle-worlds",
    "Seconds after its last call at which a world of a PostgreSQL leaves memory, until it is called again.",
    default="60",
)
@_option("--control-token", "Token that the control interface asks for.")
@_option(
    "--control-tokens",
    "File of control tokens, each with a name and the worlds that it is for; asked for on loopback too.",
    metavar="FILE",
)
@_option(
    "--allowed-host",
    "Further name that a server on a loopback address answers to, for example host.docker.internal; repeatable.",
    multiple=True,
)
@_option("--idle-timeout", "Seconds that a connection may wait for its next request.", default="60")
@_option("--request-timeout", "Seconds that a request may take to come in whole.", default="30")
@_option("--strict/--no-strict", "Refuse unknown fields and query parameters.", default=False)
@_option("--rate-limit", "N/SECONDS: so many calls in so many seconds per key pair.  [default: none]")
@_option("--rate-limit-clock", "Clock of those seconds: simulated or wall.", default="simulated")
@_option("--webhook-urls", "Where webhooks may go: public, local or any.", default="local")
@_option("--webhook-timestamp", "Clock of X-Timestamp: wall or simulated.", default="wall")
@_option("--journal-limit", "How many interface calls the journal keeps, and as many control calls.", default="10000")
@_option("--journal-bytes", "How many bytes of each it keeps.", default="67108864")
@_option(
    "--timers-per-instant",
    "How many steps without delay a scenario may come to at one instant before it is stopped.",
    default="10000",
)
@_option("--quota-calls-per-second", "How many interface calls a second any world may make.  [default: any]")
@_option("--quota-objects", "How many resources any world may have, keys and deleted ones too.  [default: any]")
@_option("--quota-journal-bytes", "The most that --journal-bytes comes to in any world.  [default: any]")
@_option(
    "--assume",
    "ID=ALTERNATIVE: assume otherwise where the specification is silent; repeatable.  "
    "`rampsim assumptions` lists what there is.",
    multiple=True,
)
@_option(
    "--end-with-stdin",
    "End when standard input ends: with the program at its other end, whatever becomes of that.",
    is_flag=True,
)
def serve(
    host: str, port: str, clock: str, rate: str, now: str | None, seed: str, scenario: tuple[str, ...],
    state: str | None, store: str | None, advertise: str | None, idle_worlds: str, control_token: str | None,
    control_tokens: str | None,
    allowed_host: tuple[str, ...], idle_timeout: str, request_timeout: str, assume: tuple[str, ...],
    end_with_stdin: bool, **settings: Any,
) -> None:  # fmt: skip
    """Serve until interrupted.

    Prints the keys of the default world and then `Ready on http://HOST:PORT`.
    """
    with _quick_start():
        from simulator.config import ConfigError, make_config
        from simulator.host import create_app, scenario_problems
        from simulator.server.hosts import is_loopback
        from simulator.server.process import server_of

        names = () if scenario == ("none",) else scenario
        try:
            config = make_config(
                host=host, port=port, clock=clock, rate=rate, now=now, seed=seed,
                scenarios=names if scenario else None, control_token=control_token,
                control_tokens=control_tokens, settings=settings,
                is_loopback=is_loopback(host), allowed_hosts=allowed_host,
                idle_timeout=idle_timeout, request_timeout=request_timeout, state=state,
                assume=assume, store=store, advertise=advertise, idle_worlds=idle_worlds,
            )  # fmt: skip
        except ConfigError as error:
            fail([*error.problems, *scenario_problems(names)], EXIT_USAGE)
        try:
            application = create_app(config)
        except ConfigError as error:
            fail(error.problems, EXIT_USAGE)
        server = server_of(application)
    if end_with_stdin:
        _end_with_stdin(server)
    _run(application, server, config.host, config.port)


@contextmanager
def _quick_start() -> Iterator[None]:
    """Loading and making what stays takes a sixth less without the collector, which looks through it again and again.

    And pydantic looks for plugins of its own in every package that is installed, for nothing.
    """
    import gc
    import os

    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    gc.disable()
    try:
        yield
        gc.freeze()  # what is here now stays: to look through it later would make every call wait
    finally:
        gc.enable()


def _run(application: Any, server: Any, host: str, port: int) -> None:
    import asyncio
    import logging

    import uvloop

    from simulator.host import banner
    from simulator.server.garbage import passing_over_the_old
    from simulator.server.process import MaskingFormatter, open_socket, origin_of

    log = logging.StreamHandler()
    log.setFormatter(MaskingFormatter(application.runtime.masker))
    logging.basicConfig(level=logging.WARNING, handlers=[log])
    try:
        listener = open_socket(host, port)
    except (OSError, UnicodeError) as error:
        fail([_cannot_listen(host, port, error)], EXIT_USAGE)

    async def run() -> None:
        origin = origin_of(listener)
        await _open_store(application.runtime, origin)
        task = asyncio.create_task(server.serve(sockets=[listener]))
        while not server.started and not task.done():
            await asyncio.sleep(0.005)
        if server.started:
            click.echo("\n".join(banner(application.runtime.simulator, origin)))
            sys.stdout.flush()
        await task

    with (
        _spans_of(application.runtime),
        listener,
        _signals(server),
        passing_over_the_old(),
        asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner,
    ):
        runner.run(run())


def _spans_of(runtime: Any) -> AbstractContextManager[None]:
    """Send spans to a collector, where the variables of OpenTelemetry name one."""
    import os

    if not any(name.startswith("OTEL_EXPORTER_OTLP_") for name in os.environ):
        return nullcontext()
    from simulator.server import tracing

    return tracing.exporting(runtime, os.environ)


async def _open_store(runtime: Any, origin: str) -> None:
    """Let live what a store keeps; a store that cannot be opened ends the server before it has begun."""
    if runtime.keeper is None:
        return
    from simulator.config import ConfigError
    from simulator.durable.backend import StoreError

    runtime.keeper.reached_at(origin)
    try:
        await runtime.keeper.start()
    except StoreError as error:
        fail([f"--store: {error}"], EXIT_USAGE)
    except ConfigError as error:
        fail(error.problems, EXIT_USAGE)
    if runtime.keeper.note:
        click.echo(f"The world default is kept as it was made: {runtime.keeper.note}.")


_ENDING_SECONDS = 5.0
"""How long a server may take to end; it takes a tenth of it."""


def _end_with_stdin(server: Any) -> None:
    """Read standard input in a thread; at its end the server ends."""
    import os
    import threading
    import time

    def watch() -> None:
        while os.read(0, 4096):
            pass
        server.should_exit = True
        time.sleep(_ENDING_SECONDS)
        os._exit(1)  # nobody is left who could end it

    threading.Thread(target=watch, name="end-with-stdin", daemon=True).start()


@contextmanager
def _signals(server: Any) -> Iterator[None]:
    """SIGINT and SIGTERM end the server.

    While it runs, uvicorn listens to both; afterwards it raises them again for whoever listened before. Without one
    who does, the process would end as if it had been killed.
    """
    import signal

    def end(*_: Any) -> None:
        server.should_exit = True

    before = {number: signal.signal(number, end) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _cannot_listen(host: str, port: int, error: OSError | UnicodeError) -> str:
    number = getattr(error, "errno", None)
    if number == errno.EADDRINUSE:
        return (
            f"port {port} of {host} is taken, perhaps by another rampsim: "
            "stop that one, choose another port with --port, or let --port 0 pick a free one"
        )
    if number == errno.EACCES:
        return f"port {port} of {host} is not for ordinary users: choose one above 1023 with --port"
    return f"cannot listen on {host}:{port}: {getattr(error, 'strerror', None) or error}"
