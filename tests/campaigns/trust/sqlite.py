"""A server with an SQLite file that is killed repeatedly."""

from __future__ import annotations

import asyncio
import random
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.campaigns.trust.caller import Caller, Wrong
from tests.campaigns.trust.campaign import PATIENCE_SECONDS, Actor, Campaign, after_some_writes, parts_of, play
from tests.campaigns.trust.servers import Server

KILLS_A_FILE = 20


class SqliteCampaign(Campaign):
    """So many kills, `KILLS_A_FILE` to a file. `lie`: see `tests.campaigns.trust.serve`."""

    def __init__(
        self, seed: int, kills: int, *, lie: str = "honest", tell: Callable[[str], None] = lambda text: None
    ) -> None:
        super().__init__(seed, kills, random.Random(f"{seed} kills"), lie=lie, tell=tell)
        self._stops_at_first = lie != "honest"

    async def _run(self) -> None:
        await self._receiver.start()
        twin = Server("", lie="honest")
        twin.start()
        try:
            number = 0
            while self.outcome.kills < self._kills and not (self._stops_at_first and self.outcome.findings.total):
                with tempfile.TemporaryDirectory(prefix="rampsim-trust-") as directory:
                    await self._one_file(number, Path(directory) / "worlds.db", twin)
                number += 1
        finally:
            twin.stop()
            await self._receiver.stop()

    async def _one_file(self, number: int, file: Path, twin: Server) -> None:
        server = Server(f"sqlite:///{file}", lie=self._lie)
        findings, seed = self.outcome.findings, self._seed * 1000 + number
        caller = Caller([server.origin], random.Random(seed))
        twins = Caller([twin.origin], random.Random(seed))
        parts = parts_of(f"f{number}", seed, self._receiver, twins, findings)
        actors = [actor for part in parts for actor in part.actors]
        await asyncio.to_thread(server.start)
        try:
            for part in parts:
                await part.begin(caller)
            for _ in range(min(KILLS_A_FILE, self._kills - self.outcome.kills)):
                await self._one_kill(server, caller, actors)
                for part in parts:
                    await part.judge(caller)
                self._tell(f"kill {self.outcome.kills}: {caller.acknowledged} writes, {findings.total} findings")
                if findings.total and self._stops_at_first:
                    return
            self._receiver.may_fail = False
            for part in parts:
                await part.end(caller)
            await twins.control("DELETE", f"/worlds/f{number}-twinned")
        except Wrong as wrong:
            findings.add("answer", str(wrong))
        finally:
            await self._count(caller, twins)
            if server.is_running and await asyncio.to_thread(server.stop) != 0:
                findings.add("answer", f"the server did not end by itself: {server.told[-500:]}")

    async def _one_kill(self, server: Server, caller: Caller, actors: Sequence[Actor]) -> None:
        self._receiver.may_fail = True
        ends = asyncio.Event()
        load = asyncio.ensure_future(play(actors, caller, self.outcome.findings, ends, goes_on=False))
        await after_some_writes(caller, self._chance, load)
        await asyncio.to_thread(server.kill)
        self.outcome.kills += 1
        ends.set()
        await asyncio.wait_for(load, PATIENCE_SECONDS)
        if self._chance.random() < 0.1 and self.outcome.kills < self._kills:  # and once more, while it reads
            await asyncio.to_thread(lambda: server.start(wait=False))
            await asyncio.sleep(self._chance.uniform(0.1, 1.2))
            await asyncio.to_thread(server.kill)
            self.outcome.kills += 1
        await asyncio.to_thread(server.start)
