"""`rampsim serve`: runs the server until it is interrupted."""

from __future__ import annotations

import errno
import gc
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any, NoReturn

import click

from simulator.cli.output import Exit, Fields, fail, say
from simulator.cli.server import detaching, running, settings, settings_file
from simulator.cli.tools import completing
from simulator.engine import lazy
from simulator.engine.server.telemetry import tracing
from simulator.engine.worlds import observations
from simulator.evidence import observed
from simulator.service import TOOLING

POSTPONED = (
    "anyio", "anyio.abc", "asyncio.sslproto", "csv", "html", "http.client", "http.cookies",
    "importlib.metadata._adapters", "logging.config", "shutil", "uvicorn", "zipfile",
)  # fmt: skip
"""Modules that asyncio, pydantic, Starlette and uvicorn import and that a server seldom uses. Without them, a start
takes 0.93 of the time and 4 MB less memory.
"""


def _options(command: Any) -> Any:
    for setting in reversed(settings.SERVE):
        more: Fields = {"is_eager": setting.name == "end_with_stdin"}
        if setting.name == "scenario":
            more["shell_complete"] = completing.scenarios
        command = setting.option(**more)(command)
    return settings_file.config_option(settings.SERVE)(command)


@click.command(epilog="A flag overrides its SIMULATOR_ variable, and the variable overrides the settings file.")
@_options
def serve(detach: bool, end_with_stdin: bool, **given: Any) -> None:
    """Start the simulator and run until it is interrupted.

    It prints the keys of the world `default` and then `Ready on http://HOST:PORT`.
    """
    if detach:
        detaching.start_detached(settings_file.file_of(click.get_current_context()).path)
        return
    with _signals() as signals:
        with _quick_start():
            from simulator.engine.server.config import ConfigError, make_config
            from simulator.engine.server.http.hosts import is_loopback
            from simulator.engine.server.process import server_of
            from simulator.host import PROVIDER, create_app, scenario_problems

            if given["store"] is None and os.environ.get("SIMULATOR_STORE") == "":
                given["store"] = ""  # click ignores an empty variable, and worlds would be lost silently
            names = () if given["scenario"] == ("none",) else given["scenario"]
            given["scenario"] = names if given["scenario"] else None
            files = _observed(given["observed"])
            try:
                config = make_config(given, PROVIDER.alternatives, files, is_loopback=is_loopback(given["host"]))
            except ConfigError as error:
                _refuse([*error.problems, *scenario_problems(names, given["scenarios"])])
            try:
                application = create_app(config)
            except ConfigError as error:
                _refuse(error.problems)
            server = server_of(application)
            signals.append(server)
        if end_with_stdin:
            _end_with_stdin(server)
        # With --end-with-stdin, the server belongs to the program that started it, so other commands must not find
        # the server.
        _run(application, server, config.host, config.port, is_noted=not end_with_stdin)


def _observed(paths: tuple[str, ...]) -> tuple[observations.Observed, ...]:
    """Read files with verdicts from `rampsim probe`. Print a warning if a file is old."""
    if not paths:
        return ()
    try:
        files = observed.read_files(map(Path, paths), TOOLING.alternatives())
    except observed.BadObserved as error:
        _refuse([f"--observed: {error}"])
    for warning in observed.warnings_of(files):
        say(f"rampsim: {warning}", err=True)
    return files


def _refuse(problems: list[str]) -> NoReturn:
    context = click.get_current_context()
    fail(*[settings_file.with_source(context, problem) for problem in problems])


@contextmanager
def _quick_start() -> Iterator[None]:
    """Disable the garbage collector and pydantic's plugin search while the server is built, and postpone imports.

    Disabling the collector saves a sixth of the time. The plugin search would read the metadata of every installed
    package.
    """
    lazy.postpone(*POSTPONED)
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    gc.disable()
    try:
        yield
        gc.freeze()  # the objects so far are permanent; collecting them later would delay calls
    finally:
        gc.enable()


def _run(application: Any, server: Any, host: str, port: int, *, is_noted: bool) -> None:
    import asyncio
    import logging

    from simulator.engine.server.process import MaskingFormatter, new_event_loop, open_socket, origin_of
    from simulator.engine.server.running.garbage import passing_over_the_old
    from simulator.host import banner

    note_by = settings_file.file_of(click.get_current_context()).path
    log = logging.StreamHandler()
    log.setFormatter(MaskingFormatter(application.runtime.masker))
    logging.basicConfig(level=logging.WARNING, handlers=[log])
    try:
        listener = open_socket(host, port)
    except (OSError, UnicodeError) as error:
        fail(_cannot_listen(host, port, error))

    async def run() -> None:
        origin = origin_of(listener)
        await _open_store(application.runtime, origin)
        task = asyncio.create_task(server.serve(sockets=[listener]))
        while not server.started and not task.done():
            await asyncio.sleep(0.005)
        with running.noted(origin, note_by) if is_noted and server.started else nullcontext():
            if server.started:
                say("\n".join(banner(application.runtime.simulator, origin)))
                sys.stdout.flush()
            await task

    with (
        _spans_of(application.runtime),
        listener,
        passing_over_the_old(),
        asyncio.Runner(loop_factory=new_event_loop) as runner,
    ):
        runner.run(run())


def _spans_of(runtime: Any) -> AbstractContextManager[None]:
    """Send spans to a collector if the OpenTelemetry environment variables specify one."""
    if not any(name.startswith("OTEL_EXPORTER_OTLP_") for name in os.environ):
        return nullcontext()
    return tracing.exporting(runtime, os.environ)


async def _open_store(runtime: Any, origin: str) -> None:
    """Load the worlds from the store. Exit if the store cannot be opened."""
    if runtime.persistence is None:
        return
    from simulator.engine.durable.backend import StoreError
    from simulator.engine.server.config import ConfigError

    runtime.persistence.reached_at(origin)
    try:
        await runtime.persistence.start()
    except StoreError as error:
        _refuse([f"--store: {error}"])
    except ConfigError as error:
        _refuse(error.problems)
    if runtime.persistence.note:
        say(f"The world default keeps its saved settings: {runtime.persistence.note}.")


_ENDING_SECONDS = 5.0
"""The time limit for shutting down. A normal shutdown takes a tenth of this time."""


def _end_with_stdin(server: Any) -> None:
    """Read standard input in a thread, and stop the server at the end of the input."""

    def watch() -> None:
        while os.read(0, 4096):
            pass
        server.should_exit = True
        time.sleep(_ENDING_SECONDS)
        os._exit(1)  # the parent is gone, so nothing else can stop this process

    threading.Thread(target=watch, name="end-with-stdin", daemon=True).start()


@contextmanager
def _signals() -> Iterator[list[Any]]:
    """Yield a list for the server. SIGINT and SIGTERM stop the server in the list, or exit if the list is empty.

    The exit code is 0. While the server is running, uvicorn handles both signals, and then raises them again for the
    handler installed by this function. With the default handler, the process would end as if it had been killed. A
    second SIGINT exits immediately, as in a running server (`EndingServer`), because closing the store may take a long
    time.
    """
    servers: list[Any] = []
    interrupts: list[int] = []

    def end(number: int, *_: Any) -> None:
        if not servers:
            raise SystemExit(0)
        if number == signal.SIGINT and interrupts:
            os._exit(Exit.BY_SIGNAL + signal.SIGINT)
        if number == signal.SIGINT:
            interrupts.append(number)
        servers[0].should_exit = True

    if threading.current_thread() is not threading.main_thread():  # other threads cannot handle signals
        yield servers
        return
    before = {number: signal.signal(number, end) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield servers
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _cannot_listen(host: str, port: int, error: OSError | UnicodeError) -> str:
    number = getattr(error, "errno", None)
    if number == errno.EADDRINUSE:
        return (
            f"port {port} of {host} is in use, perhaps by another rampsim: "
            "stop that program, choose another port with --port, or use --port 0 for a free port"
        )
    if number == errno.EACCES:
        return f"port {port} of {host} needs special permissions; choose a port above 1023 with --port"
    return f"cannot listen on {host}:{port}: {getattr(error, 'strerror', None) or error}"
