"""Processes of runs, each in its own session with all its children."""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping, Sequence
from contextlib import suppress
from subprocess import DEVNULL, STDOUT, Popen
from typing import IO

_SAID = 3000
"""The maximum number of characters of a command's output in reports."""


def start(command: Sequence[str], env: Mapping[str, str], output: IO[bytes], pipes: Sequence[int] = ()) -> Popen[bytes]:
    """Start a command without input, whose output and errors go to a file. Raises OSError if it cannot be run."""
    return Popen(command, env=env, pass_fds=pipes, stdin=DEVNULL, stdout=output, stderr=STDOUT, start_new_session=True)


def kill(process: Popen[bytes]) -> None:
    """Kill a process and all other processes in its session."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def interrupt(process: Popen[bytes] | None) -> None:
    """Interrupt a process and its children, as Ctrl+C on a terminal would."""
    if process is not None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGINT)


def said_in(output: IO[bytes]) -> str:
    """Return what processes have written to a file."""
    output.seek(0)
    return output.read().decode("utf-8", "replace").strip()


def last_lines(said: str) -> str:
    """Return the end of a command's output, in whole lines."""
    if len(said) <= _SAID:
        return said or "(nothing)"
    end = said[-_SAID:]
    return "[...]\n" + (end if said[-_SAID - 1] == "\n" else end.partition("\n")[2] or end)
