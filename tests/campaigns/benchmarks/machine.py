"""The machine that runs the measurement: its cores, the CPU time of a process, and its current speed."""

from __future__ import annotations

import os
import platform
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_CORES = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
SERVER_CORE = _CORES[0] if _CORES else None
LOAD_CORE = _CORES[-1] if _CORES else None


@contextmanager
def on_core(core: int | None) -> Iterator[None]:
    """Keep this process, and what it starts meanwhile, on one core; where the system cannot, leave it where it is."""
    if core is None:
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {core})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def cpu_seconds(pid: int) -> float:
    """The processor time of a process so far, all its threads together."""
    return time.clock_gettime((~pid << 3) | 2)  # Linux' number for the clock of another process: CPUCLOCK_SCHED


def settled_cpu_seconds(pid: int) -> float:
    """As `cpu_seconds`, once its main thread sleeps: of one that runs, the last milliseconds are added up late."""
    while Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "R":
        pass
    return cpu_seconds(pid)


def resident_bytes(pid: int) -> int:
    """The memory that a process holds."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def waited_seconds(pid: int | str) -> float:
    """How long the main thread of a process has been ready to run and was not, because something else did."""
    return int(Path(f"/proc/{pid}/schedstat").read_text().split()[1]) / 1e9


def calibration_ms() -> float:
    """The processor time of a fixed loop, in milliseconds: what differs between two of these is the machine."""
    with on_core(SERVER_CORE):
        began = time.process_time()
        total, seen = 0, {}
        for number in range(60_000):
            total += number * 3 % 7
            seen[number & 1023] = str(number)
        return (time.process_time() - began) * 1000


def described() -> str:
    """The machine in a line."""
    model = ""
    with suppress(OSError):
        found = re.search(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
        model = found[1] if found else ""
    cores = len(_CORES) or os.cpu_count() or 1
    apart = "server and load on cores of their own" if SERVER_CORE != LOAD_CORE else "server and load share ONE core"
    return f"{model or platform.machine()}, {cores} cores, Python {platform.python_version()}; {apart}"
