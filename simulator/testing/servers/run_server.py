"""One server for all processes of a test run. It runs in its own process and stops after the last process that uses
it.

The processes share a directory. The first process that needs the server starts it there, and every process that uses
the server holds a shared lock on the file `life`. The server waits for the exclusive lock and stops when it gets the
lock. When a process is killed, its locks are released, so the server stops even if no process survives. The files:

- `door`: locked while a process starts the server or looks for it
- `life`: locked by every process that needs the server
- `server`: the server's output, which ends with its address; locked by the server while it runs
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from pathlib import Path
from typing import IO

from simulator.testing.errors import SimulatorError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]  # callers check IS_AVAILABLE first

IS_AVAILABLE = fcntl is not None
"""Whether processes can share a server. Otherwise each process starts its own."""

READY = "Ready on "
_FILES = ("server", "door", "life")
"""The files in order of removal. A process that finds a new `life` must not find an old `server`."""
_ROOT = Path(__file__).resolve().parents[3]
_PROGRAM = (
    f"import sys; sys.path.append({str(_ROOT)!r}); "
    "from simulator.testing.servers import run_server_process as p; p.main()"
)
_LOOK_AGAIN_SECONDS = 0.002
_LONGEST_START_SECONDS = 60.0
_LONGEST_END_SECONDS = 10.0


class RunServer:
    """Access of one process to the server that all processes of the test run share, from `join` to `leave`."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._life: IO[bytes] | None = None
        self._child: int | None = None

    def join(self) -> str:
        """Return the server's address, and start it if needed. Raises SimulatorError if it fails or has crashed."""
        while True:
            self.directory.mkdir(mode=0o700, exist_ok=True)
            # Do not use `flock`: a forked child of a test would inherit the lock and keep the server running.
            with (self.directory / "door").open("a+b") as door:
                fcntl.lockf(door, fcntl.LOCK_EX)
                self._life = (self.directory / "life").open("a+b")
                fcntl.lockf(self._life, fcntl.LOCK_SH)  # waits if a server is stopping and removing its files
                if _is_at(door, self.directory / "door") and _is_at(self._life, self.directory / "life"):
                    return self._found_or_started()
                self.leave()

    def leave(self) -> None:
        """Stop using the server."""
        if self._life is not None:
            self._life.close()
            self._life = None

    def wait_for_end(self) -> None:
        """After `leave`, wait until the server has stopped, unless another process of the run uses it."""
        with contextlib.suppress(OSError), (self.directory / "server").open("rb") as log:
            ends_at = time.monotonic() + _LONGEST_END_SECONDS
            while _is_locked(log) and self._is_left() and time.monotonic() < ends_at:
                time.sleep(_LOOK_AGAIN_SECONDS)
            if self._child is not None and not _is_locked(log):
                os.waitpid(self._child, 0)
            if not _is_locked(log) and self._is_left():
                remove(self.directory)  # a killed server leaves its files behind

    def address(self) -> str:
        """The server's address if the server is running, otherwise ""."""
        log = self.directory / "server"
        return _address_in(log) if _lives(log) else ""

    def last_words(self) -> str | None:
        """Return the last output of a crashed server, or None if the server is running."""
        log = self.directory / "server"
        return None if _lives(log) else _last_lines(log)

    def _found_or_started(self) -> str:
        log = self.directory / "server"
        if not log.exists():
            self._child = _start(self.directory)
        ends_at = time.monotonic() + _LONGEST_START_SECONDS
        while not (url := _address_in(log)):
            if not _lives(log):
                raise SimulatorError(f"The simulator of this run did not start. Its output:\n{_last_lines(log)}")
            if time.monotonic() > ends_at:
                raise SimulatorError(f"The simulator of this run did not start within {_LONGEST_START_SECONDS:.0f} s.")
            time.sleep(_LOOK_AGAIN_SECONDS)
        if not _lives(log):
            raise SimulatorError(f"The simulator of this run has died. Its output:\n{_last_lines(log)}")
        return url

    def _is_left(self) -> bool:
        """Return True if no process, except perhaps the server itself, holds a lock on the file `life`."""
        try:
            # Do not create the file if it is missing, because then the server is removing its directory.
            with (self.directory / "life").open("r+b") as life:
                fcntl.lockf(life, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return not _is_shared(self.directory / "life")
        except OSError:
            return True
        return True


def _is_shared(path: Path) -> bool:
    """Return True if other processes hold a shared lock, so that this process can get a shared lock but no exclusive
    one.
    """
    with contextlib.suppress(OSError), path.open("r+b") as file:
        fcntl.lockf(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return True
    return False


def _is_locked(log: IO[bytes]) -> bool:
    try:
        fcntl.flock(log, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    fcntl.flock(log, fcntl.LOCK_UN)
    return False


def _lives(log: Path) -> bool:
    with contextlib.suppress(OSError), log.open("rb") as file:
        return _is_locked(file)
    return False


def _is_at(file: IO[bytes], path: Path) -> bool:
    """Return True if an open file is still the file that this path refers to."""
    with contextlib.suppress(OSError):
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    return False


def _address_in(log: Path) -> str:
    """Return the address that the server printed, or "" if it has not printed one."""
    whole = log.read_text("utf-8").rpartition("\n")[0].splitlines()
    return next((line.removeprefix(READY) for line in whole if line.startswith(READY)), "")


def _last_lines(log: Path) -> str:
    with contextlib.suppress(OSError):
        return "\n".join(log.read_text("utf-8").splitlines()[-10:])
    return ""


def remove(directory: Path) -> None:
    for name in _FILES:
        (directory / name).unlink(missing_ok=True)
    with contextlib.suppress(OSError):  # a new process already uses the directory
        directory.rmdir()


def _start(directory: Path) -> int:
    """Start the server in its own session, which keyboard interrupts do not reach. Return its process id."""
    with (directory / "server").open("xb") as log:
        # The lock belongs to the open file, so it is held from the start for as long as the server runs.
        fcntl.flock(log, fcntl.LOCK_EX)
        return os.posix_spawn(
            sys.executable,
            # -P excludes the test directory from the module search path, because its modules can have any name.
            [sys.executable, "-P", "-c", _PROGRAM, str(directory)],
            # Settings for a manually started server do not apply to the tests' server.
            {name: value for name, value in os.environ.items() if not name.startswith("SIMULATOR_")},
            file_actions=[
                (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
                (os.POSIX_SPAWN_DUP2, log.fileno(), 1),
                (os.POSIX_SPAWN_DUP2, log.fileno(), 2),
            ],
            setsid=True,
        )
