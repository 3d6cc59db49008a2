"""The process of the server that a test run shares (see `run_server`)."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import sys
from pathlib import Path
from threading import Thread

from simulator.engine.server.config import Config
from simulator.engine.server.process import new_event_loop, serving
from simulator.engine.server.running.garbage import passing_over_the_old
from simulator.host import create_app
from simulator.testing.servers.run_server import READY, remove


def main() -> None:
    """Serve on a free loopback port until no other process holds a lock on `life`, a file in the given directory."""
    directory = Path(sys.argv[1])
    Thread(target=_end_with_the_last, args=[directory], daemon=True).start()
    with passing_over_the_old(), asyncio.Runner(loop_factory=new_event_loop) as runner:
        runner.run(_serve())


def _end_with_the_last(directory: Path) -> None:
    with contextlib.suppress(OSError), (directory / "life").open("r+b") as life:
        fcntl.lockf(life, fcntl.LOCK_EX)
        remove(directory)
    os._exit(0)  # no process uses the server any more, so skip the cleanup


async def _serve() -> None:
    async with serving(create_app(Config(clock="manual"))) as origin:
        print(f"{READY}{origin}", flush=True)  # noqa: T201 - `run_server` waits for this line
        await asyncio.Event().wait()
