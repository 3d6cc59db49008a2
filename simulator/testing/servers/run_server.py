"""One server for all processes of a test run, in a process of its own that ends with the last of them.

What they have in common is a directory. Whoever needs the server first starts it there, and everyone who uses it
holds a shared lock on the file `life`. The server waits for the exclusive one and ends when it gets it; a process that
is killed lets go of its locks as any other. So nobody has to live long enough to stop it. The files:

- `door`: locked while somebody starts the server, or looks for it
- `life`: locked by everyone who needs it
- `server`: what it prints, its address last; locked by it for as long as it lives
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import sys
import time
from pathlib import Path
from typing import IO

from simulator.testing.errors import SimulatorError

READY = "Ready on "
_FILES = ("server", "door", "life")
"""In the order in which they go: who finds a new `life` finds no old `server`."""
_ROOT = Path(__file__).resolve().parents[3]
_PROGRAM = (
    f"import sys; sys.path.append({str(_ROOT)!r}); "
    "from simulator.testing.servers import run_server_process as p; p.main()"
)
_LOOK_AGAIN_SECONDS = 0.002
_LONGEST_START_SECONDS = 60.0
_LONGEST_END_SECONDS = 10.0


class RunServer:
    """The use that one process makes of the server of its run, from `join` to `leave`."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._life: IO[bytes] | None = None
        self._child: int | None = None

    def join(self) -> str:
        """The address of the server, started if there is none. SimulatorError when it does not start, or has died."""
        while True:
            self.directory.mkdir(mode=0o700, exist_ok=True)
            # Not `flock`: that lock would go on in a child that a test forks, and the server with it.
            with (self.directory / "door").open("a+b") as door:
                fcntl.lockf(door, fcntl.LOCK_EX)
                self._life = (self.directory / "life").open("a+b")
                fcntl.lockf(self._life, fcntl.LOCK_SH)  # waits where a server is just ending, and takes its files along
                if _is_at(door, self.directory / "door") and _is_at(self._life, self.directory / "life"):
                    return self._found_or_started()
                self.leave()

    def leave(self) -> None:
        """Need the server no longer."""
        if self._life is not None:
            self._life.close()
            self._life = None

    def wait_for_end(self) -> None:
        """After `leave`: wait until the server has ended, unless somebody else of the run goes on using it."""
        with contextlib.suppress(OSError), (self.directory / "server").open("rb") as log:
            ends_at = time.monotonic() + _LONGEST_END_SECONDS
            while _is_locked(log) and self._is_left() and time.monotonic() < ends_at:
                time.sleep(_LOOK_AGAIN_SECONDS)
            if self._child is not None and not _is_locked(log):
                os.waitpid(self._child, 0)
            if not _is_locked(log) and self._is_left():
                remove(self.directory)  # it was killed, and left its files

    def address(self) -> str:
        """The address of the server if it lives, else ""."""
        log = self.directory / "server"
        return _address_in(log) if _lives(log) else ""

    def last_words(self) -> str | None:
        """What the server said last, where it has died; None while it lives."""
        log = self.directory / "server"
        return None if _lives(log) else _last_lines(log)

    def _found_or_started(self) -> str:
        log = self.directory / "server"
        if not log.exists():
            self._child = _start(self.directory)
        ends_at = time.monotonic() + _LONGEST_START_SECONDS
        while not (url := _address_in(log)):
            if not _lives(log):
                raise SimulatorError(f"The simulator of this run did not start. It said:\n{_last_lines(log)}")
            if time.monotonic() > ends_at:
                raise SimulatorError(f"The simulator of this run did not start within {_LONGEST_START_SECONDS:.0f} s.")
            time.sleep(_LOOK_AGAIN_SECONDS)
        if not _lives(log):
            raise SimulatorError(f"The simulator of this run has died. It said:\n{_last_lines(log)}")
        return url

    def _is_left(self) -> bool:
        """Whether no process of the run holds `life`; the server itself may."""
        try:
            # Not made where it is gone: the server is just taking its directory along.
            with (self.directory / "life").open("r+b") as life:
                fcntl.lockf(life, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return not _is_shared(self.directory / "life")
        except OSError:
            return True
        return True


def _is_shared(path: Path) -> bool:
    """Whether others hold a shared lock: another one can be had then, but no exclusive one."""
    try:
        with path.open("r+b") as file:
            fcntl.lockf(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _is_locked(log: IO[bytes]) -> bool:
    try:
        fcntl.flock(log, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    fcntl.flock(log, fcntl.LOCK_UN)
    return False


def _lives(log: Path) -> bool:
    try:
        with log.open("rb") as file:
            return _is_locked(file)
    except OSError:
        return False


def _is_at(file: IO[bytes], path: Path) -> bool:
    """Whether an open file is still the one of this path."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except OSError:
        return False


def _address_in(log: Path) -> str:
    """The address that the server has printed, "" before."""
    whole = log.read_text("utf-8").rpartition("\n")[0].splitlines()
    return next((line.removeprefix(READY) for line in whole if line.startswith(READY)), "")


def _last_lines(log: Path) -> str:
    try:
        return "\n".join(log.read_text("utf-8").splitlines()[-10:])
    except OSError:
        return ""


def remove(directory: Path) -> None:
    for name in _FILES:
        (directory / name).unlink(missing_ok=True)
    with contextlib.suppress(OSError):  # somebody new is there already
        directory.rmdir()


def _start(directory: Path) -> int:
    """Start the server in a session of its own: an interrupt at the keyboard is not meant for it. Its process id."""
    with (directory / "server").open("xb") as log:
        # The lock goes along with the open file, so from the first moment on it is held while the server lives.
        fcntl.flock(log, fcntl.LOCK_EX)
        return os.posix_spawn(
            sys.executable,
            # Without the directory of the tests in front (-P): there may be modules of any name in it.
            [sys.executable, "-P", "-c", _PROGRAM, str(directory)],
            # What is set for a server that somebody starts by hand is not meant for that of the tests.
            {name: value for name, value in os.environ.items() if not name.startswith("SIMULATOR_")},
            file_actions=[
                (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
                (os.POSIX_SPAWN_DUP2, log.fileno(), 1),
                (os.POSIX_SPAWN_DUP2, log.fileno(), 2),
            ],
            setsid=True,
        )
