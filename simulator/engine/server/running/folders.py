"""Watches scenario directories: checks the directories twice a second, and applies changed files to all worlds."""

from __future__ import annotations

import asyncio
import logging

from simulator.engine.scenario.files.folder import Folder
from simulator.engine.scenario.files.loader import describe_problem
from simulator.engine.server.runtime import Runtime
from simulator.kernel.journal import Cause

SECONDS = 0.5
"""The real time between two checks, in seconds. If a file differs between two checks, it is still being written."""

_CAUSE = Cause("action", "scenarios", "control")
_log = logging.getLogger(__name__)


async def follow(runtime: Runtime, folder: Folder, seconds: float = SECONDS) -> None:
    """Check the scenario directories every `seconds` until this task is cancelled."""
    while True:
        await asyncio.sleep(seconds)
        try:
            if await asyncio.to_thread(folder.has_changed):
                await look_again(runtime, folder)
        except Exception:
            runtime.log_defect()  # The next check may succeed.


async def look_again(runtime: Runtime, folder: Folder) -> None:
    """Read changed scenario files. Apply a changed scenario in every world in which it is active."""
    before = folder.problems
    renewals = folder.take(await asyncio.to_thread(folder.read))
    for problem in folder.problems:
        if problem not in before:
            _log.warning("%s (the version read before stays active)", describe_problem(problem["file"], problem))
    for renewal in renewals:
        for world in list(runtime.simulator.worlds.values()):
            try:
                with world.change(_CAUSE):
                    has_changed = runtime.simulator.engine.renew(world, renewal)
            except Exception:
                runtime.log_defect()
                continue
            if has_changed:
                runtime.changed(world)
    if renewals or folder.problems != before:
        runtime.scenarios_read([one.name for one in renewals], folder.problems)
