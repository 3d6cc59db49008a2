"""Servers in their own processes, which can be killed, stopped and restarted."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import weakref
from pathlib import Path

from tests.campaigns.benchmarks.machine import waited_seconds
from tests.places import ROOT

START_SECONDS = 60


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


class Server:
    """One server on one port, again and again. `lie`: one of `trust.serve`; None is the simulator itself."""

    def __init__(self, store: str, *flags: str, lie: str | None = "honest") -> None:
        self.port = free_port()
        self.origin = f"http://127.0.0.1:{self.port}"
        program = ["simulator"] if lie is None else ["tests.campaigns.trust.serve", lie]
        self._command = [sys.executable, "-m", *program, "serve", "--port", str(self.port)]
        self._command += ["--clock", "manual", *(["--store", store] if store else []), *flags]
        self._process: subprocess.Popen[bytes] | None = None
        told, name = tempfile.mkstemp(prefix="rampsim-trust-", suffix=".log")
        os.close(told)
        self._told = Path(name)
        weakref.finalize(self, self._told.unlink, missing_ok=True)

    def start(self, *, wait: bool = True) -> None:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("SIMULATOR_")}
        environment["PYTHONPATH"] = str(ROOT)
        environment["PYTHONUNBUFFERED"] = "1"
        with self._told.open("wb") as told:
            self._process = subprocess.Popen(self._command, cwd=ROOT, env=environment, stdout=told, stderr=told)
        if wait:
            self.wait()

    def wait(self) -> None:
        """Until it listens."""
        end = time.monotonic() + START_SECONDS
        while "Ready on" not in self.told:
            if self._process is None or self._process.poll() is not None or time.monotonic() > end:
                raise AssertionError(f"the server did not start: {self.told}")
            time.sleep(0.02)

    @property
    def told(self) -> str:
        """The server's output since its start."""
        return self._told.read_text()

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    @property
    def waited(self) -> float:
        """Seconds for which it could have run, had there been a processor."""
        return waited_seconds(self.pid)

    def signal(self, number: signal.Signals) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(number)

    def kill(self) -> None:
        """Kill the process immediately, as a machine without memory does."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def stop(self) -> int:
        """Ask it to end, and wait until it has."""
        if self._process is None:
            return 0
        self.signal(signal.SIGTERM)
        try:
            return self._process.wait(30)
        except subprocess.TimeoutExpired:
            self.kill()
            return -9
