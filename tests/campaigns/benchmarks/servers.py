"""The measured processes: simulators from a source tree, and the bare twin."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.campaigns.benchmarks.machine import SERVER_CORE, cpu_seconds, on_core, resident_bytes, settled_cpu_seconds
from tests.places import ROOT

KEYS = {"public_key": "pk_test_simulator", "secret_key": "sk_test_simulator"}


@dataclass(frozen=True)
class Server:
    """A process that listens."""

    pid: int
    origin: str

    @property
    def cpu(self) -> float:
        """Seconds of processor time so far."""
        return cpu_seconds(self.pid)

    @property
    def settled_cpu(self) -> float:
        """The same once it has nothing to do: what a single call is measured by."""
        return settled_cpu_seconds(self.pid)

    @property
    def resident(self) -> int:
        """Bytes of memory."""
        return resident_bytes(self.pid)


@dataclass(frozen=True)
class Subject:
    """What is measured: `tree` is the source of a simulator; the twin, which lies beside this module, has none.

    Where a `profile` is named, the simulator runs under cProfile, which writes there when the server ends.
    """

    name: str
    tree: Path | None = None
    profile: Path | None = None

    @contextmanager
    def running(self, *flags: str) -> Iterator[Server]:
        """A server of its own on a free port; `flags` are for simulators only."""
        if self.tree is None:
            command = ["-m", "tests.campaigns.benchmarks.twin"]
        else:
            profiled = ["-m", "cProfile", "-o", str(self.profile)] if self.profile is not None else []
            command = [
                *profiled,
                "-m",
                "simulator",
                "serve",
                "--port",
                "0",
                "--clock",
                "manual",
                "--idle-timeout",
                "3600",
                *flags,
            ]
        with listening(command, self.tree or ROOT) as server:
            yield server


TWIN = Subject("twin")


@contextmanager
def listening(command: Sequence[str], tree: Path, core: int | None = SERVER_CORE) -> Iterator[Server]:
    """Python with these arguments in this tree, until it says `Ready on http://...`; it ends with the context."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SIMULATOR_")}
    environment["PYTHONPATH"] = str(tree)
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # a start compiles nothing, but at its first time
    with on_core(core):
        process = subprocess.Popen(
            [sys.executable, *command], cwd=tree, env=environment, stdout=subprocess.PIPE, text=True
        )
    try:
        assert process.stdout is not None
        ready = next((line for line in process.stdout if line.startswith("Ready on ")), None)
        if ready is None:
            raise RuntimeError(f"{' '.join(command)} did not start, it ended with {process.wait()}")
        yield Server(process.pid, ready.split()[-1])
    finally:
        process.terminate()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()
