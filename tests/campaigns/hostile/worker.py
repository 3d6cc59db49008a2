"""Runs the episodes of one campaign in a process that may hang or die, and reports to its parent in JSON lines on
stdout.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import os
import sys
from pathlib import Path
from random import Random
from time import perf_counter
from typing import Any

import uvloop

from tests.campaigns.hostile.actor import templates
from tests.campaigns.hostile.apart import Apart
from tests.campaigns.hostile.campaign import Campaign
from tests.campaigns.hostile.campaigns import CAMPAIGNS
from tests.campaigns.hostile.contract import judges
from tests.campaigns.hostile.findings import Findings
from tests.campaigns.hostile.progress import Progress
from tests.campaigns.hostile.server_under_test import ServerUnderTest
from tests.campaigns.hostile.stopwatch import resident_bytes


def tell(**line: Any) -> None:
    os.write(_OUT, (json.dumps(line) + "\n").encode("utf-8", "backslashreplace"))


_OUT = os.dup(1)


async def run(campaign: Campaign, seed: int, first: int, last: int, progress: Progress) -> None:
    findings = Findings(lambda failure: tell(failure=failure))
    if campaign.apart:
        subject: Any = _shared(findings, progress) if campaign.shared else Apart(findings, progress)
        try:
            await _episodes(subject, campaign, seed, first, last)
            await _until_heard()
            await subject.restart()
        finally:
            subject.forget()
        return
    async with ServerUnderTest(findings, progress).open() as subject:
        subject.by_contract = campaign.contract
        await _episodes(subject, campaign, seed, first, last)
        await _until_heard()


def _shared(findings: Findings, progress: Progress) -> Apart:
    from tests.campaigns.hostile.shared import Shared  # it brings pytest along, which other campaigns begin without

    return Shared(findings, progress)


async def _until_heard() -> None:
    """Serve until the parent has taken its prober away."""
    tell(end=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


async def _episodes(subject: Any, campaign: Campaign, seed: int, first: int, last: int) -> None:
    pid = subject.server.pid if campaign.apart else os.getpid()
    tell(ready=subject.origin, pid=pid)
    for number in range(first, last):
        subject.place = f"seed {seed} episode {number}"
        subject.keeps_worlds = number == last - 1
        began, inputs = perf_counter(), 0
        subject.begin("begins")
        try:
            inputs = await campaign.episode(subject, Random(f"{seed}:{campaign.name}:{number}"), number)
        except Exception as error:  # the instrument itself failed: that is to be seen too
            import traceback

            subject.fail(
                "instrument", f"{type(error).__name__}: {error}", subject.progress.present[1], traceback.format_exc()
            )
        gc.collect()
        tell(
            episode=number, inputs=inputs, seconds=round(perf_counter() - began, 3), slowest=subject.slowest,
            memory=resident_bytes(subject.server.pid if campaign.apart else pid),
        )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("campaign", choices=CAMPAIGNS)
    for name in ("seed", "first", "last"):
        parser.add_argument(f"--{name}", type=int, required=True)
    parser.add_argument("--progress", type=Path, required=True)
    given = parser.parse_args()
    templates()
    if CAMPAIGNS[given.campaign].contract:
        judges()  # what takes long is made before anybody asks for the health
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(run(CAMPAIGNS[given.campaign], given.seed, given.first, given.last, Progress(given.progress)))
    os._exit(0)  # connections and waits that a campaign left open hold nobody up


if __name__ == "__main__":
    main()
