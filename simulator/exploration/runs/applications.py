"""An application that explore starts with a command, kills under the fault class `crash-of-process`, and restarts."""

from __future__ import annotations

import os
import shlex
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from threading import Event, Thread
from typing import IO

from simulator.exploration.runs.processes import kill, said_in, start
from simulator.exploration.runs.tasks import Document
from simulator.testing.errors import SimulatorError
from simulator.testing.worlds import World

PORT = "PORT"
"""The environment variable with the port on which the application must listen."""
HELD = "4s"
"""How long the next delivery waits for the application to restart, in wall-clock time."""
_READY_SECONDS = 30.0
_POLL_SECONDS = 0.02


class NotReady(Exception):
    """Raised if the application does not start. The message contains the application's output."""


class App:
    """The process of an application. It listens on a free loopback port."""

    def __init__(self, command: str, environment: Mapping[str, str]) -> None:
        self._command = command
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port: int = free.getsockname()[1]
        self._environment = {**os.environ, **environment, PORT: str(self.port)}
        self._output: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  `close` closes it
        self._process = self._started()

    def _started(self) -> subprocess.Popen[bytes]:
        """Start the process and wait until its port accepts connections. Raises NotReady if it does not in time."""
        try:
            process = start(shlex.split(self._command), self._environment, self._output)
        except (OSError, ValueError) as error:
            raise NotReady(f"--app: {self._command} cannot be run: {error}") from None
        for _ in range(round(_READY_SECONDS / _POLL_SECONDS)):
            if process.poll() is not None:
                break
            with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1):
                return process
            time.sleep(_POLL_SECONDS)
        kill(process)
        said = said_in(self._output)[-1000:] or "(nothing)"
        why = f"`{self._command}` did not listen on the port in {PORT} within {_READY_SECONDS:g} s"
        raise NotReady(f"--app: {why}. Its output:\n{said}")

    def restart(self) -> None:
        kill(self._process)
        self._process = self._started()

    def close(self) -> None:
        kill(self._process)
        self._output.close()


@contextmanager
def running(
    command: str | None, environment: Mapping[str, str], world: World, plan: Document | None
) -> Iterator[dict[str, str]]:
    """Run an application for the worlds of a run, and kill it once if the run's plan requires this. Yield the
    environment variable with the application's port, for tests and hooks. Raises NotReady if it does not start.
    """
    if command is None:
        yield {}
        return
    app = App(command, environment)
    ended = Event()
    killer = Thread(target=_wait_and_kill, args=(world, app, ended.is_set), daemon=True)
    if (plan or {}).get("kills"):
        killer.start()
    try:
        yield {PORT: str(app.port)}
    finally:
        ended.set()
        if killer.ident is not None:
            killer.join(_READY_SECONDS)
        app.close()


def _wait_and_kill(world: World, app: App, is_over: Callable[[], bool]) -> None:
    """Kill the application when the fault in its world happens. The fault delays a response or delivery meanwhile."""
    with suppress(SimulatorError, NotReady):  # the world has ended
        while not any(row["hits"] for row in world.control("GET", "/faults")["data"]):
            if is_over():
                return
            time.sleep(_POLL_SECONDS)
        held = world.control("POST", "/faults", {"webhook": {}, "deliver": {"slow": HELD}, "times": 1})
        app.restart()
        world.control("DELETE", f"/faults/{held['id']}")
