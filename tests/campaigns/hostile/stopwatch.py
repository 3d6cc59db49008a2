"""Measures the time that a process needed, without its waits for a processor on a busy machine (Linux only)."""

from __future__ import annotations

import os
from contextlib import suppress
from time import perf_counter


def waited_seconds(pid: int | str = "self") -> float:
    """How long the main thread of a process has waited for a processor so far; 0 where the system does not tell."""
    with suppress(OSError, ValueError, IndexError), open(f"/proc/{pid}/schedstat", "rb") as file:
        return int(file.read().split()[1]) / 1e9
    return 0.0


def resident_bytes(pid: int | str = "self") -> int:
    """The memory a process holds; 0 where the system does not tell."""
    with suppress(OSError, ValueError, IndexError), open(f"/proc/{pid}/statm", "rb") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return 0


class Stopwatch:
    """Runs from its making; `seconds` is without the wait for a processor."""

    def __init__(self, pid: int | str = "self") -> None:
        self._pid = pid
        self._waited = waited_seconds(pid)
        self._began = perf_counter()

    @property
    def seconds(self) -> float:
        return max(perf_counter() - self._began - (waited_seconds(self._pid) - self._waited), 0.0)
