"""Replicas on one PostgreSQL: killed, paused, cut off, drained, and the database restarted under them."""

from __future__ import annotations

import asyncio
import random
import signal
import time
from collections.abc import Awaitable, Callable, Sequence

from tests.trust.caller import Broken, Caller, Wrong
from tests.trust.campaign import PATIENCE_SECONDS, Actor, Outcome, Part, after_some_writes, parts_of, play
from tests.trust.database import Database
from tests.trust.proxy import Proxy
from tests.trust.receiver import Receiver
from tests.trust.servers import Server

REPLICAS = 3
KILLS_A_ROUND = 10
SLOW_SECONDS = 2.0
LEASE_SECONDS = 3.0
"""After so much silence PostgreSQL ends a session."""


class Replica:
    """A server, and what stands between it and the database."""

    def __init__(self, database: Database, lie: str) -> None:
        self.proxy = Proxy(database.port)
        self._lie = lie

    async def start(self) -> None:
        await self.proxy.start()
        store = f"postgresql://rampsim@127.0.0.1:{self.proxy.port}/postgres"
        self.server = Server(store, lie=self._lie)
        await asyncio.to_thread(self.server.start)

    @property
    def origin(self) -> str:
        return self.server.origin


class PostgresCampaign:
    """So many kills of replicas; besides, half as much of everything else that can go wrong."""

    def __init__(
        self, seed: int, kills: int, *, lie: str = "honest", tell: Callable[[str], None] = lambda text: None
    ) -> None:
        self.outcome = Outcome(seed)
        self._seed, self._kills, self._tell, self._lie = seed, kills, tell, lie
        self._chance = random.Random(f"{seed} replicas")
        self._receiver = Receiver(random.Random(f"{seed} receiver"))
        self._database = Database()
        self._replicas: list[Replica] = []
        self._twice = 0

    def run(self) -> Outcome:
        began = time.monotonic()
        self.outcome.findings.tell = self._tell
        asyncio.run(self._run())
        self.outcome.findings.tell = None  # an outcome goes from process to process
        self.outcome.seconds = time.monotonic() - began
        return self.outcome

    async def _run(self) -> None:
        await self._receiver.start()
        twin = Server("")
        await asyncio.to_thread(twin.start)
        await asyncio.to_thread(self._database.start)
        try:
            for _ in range(REPLICAS):
                replica = Replica(self._database, self._lie)
                await replica.start()
                self._replicas.append(replica)
            await self._database.keep_history()
            number = 0
            while self.outcome.kills < self._kills:
                await self._round(number, twin)
                number += 1
        finally:
            for replica in self._replicas:
                replica.proxy.heal()
                replica.server.kill()
                await replica.proxy.stop()
            twin.stop()
            self._database.stop()
            await self._receiver.stop()

    async def _round(self, number: int, twin: Server) -> None:
        findings, seed = self.outcome.findings, self._seed * 1000 + number
        caller = Caller([replica.origin for replica in self._replicas], random.Random(seed))
        twins = Caller([twin.origin], random.Random(seed))
        parts = parts_of(f"r{number}", seed, self._receiver, twins, findings, late_seconds=LEASE_SECONDS + 1)
        try:
            for part in parts:
                await part.begin(caller)
            for _ in range(min(KILLS_A_ROUND, self._kills - self.outcome.kills)):
                await self._one_kill(caller, parts, f"r{number}-shared")
                await self._judge(caller, parts)
                seconds = ", ".join(f"{took:.1f}" for took in self.outcome.takeovers[-1:])
                self._tell(
                    f"kill {self.outcome.kills}: {caller.acknowledged} writes, last takeover in {seconds or '?'} s, "
                    f"{findings.total} findings"
                )
            self._receiver.may_fail = False
            for part in parts:
                await part.end(caller)
            await twins.control("DELETE", f"/worlds/r{number}-twinned")
            for name in ("shared", "twinned", "running"):
                await caller.surely("DELETE", f"/worlds/r{number}-{name}")
        except Wrong as wrong:
            findings.add("answer", str(wrong))
        finally:
            await caller.close()
            await twins.close()
            self.outcome.acknowledged += caller.acknowledged
            self.outcome.unknown += caller.unknown
            self.outcome.webhooks = self._receiver.arrivals

    async def _judge(self, caller: Caller, parts: Sequence[Part]) -> None:
        for part in parts:
            await part.judge(caller)
        twice = await self._database.owned_twice()
        for told in twice[self._twice :]:
            self.outcome.findings.add("owned twice", told)
        self._twice = len(twice)

    async def _one_kill(self, caller: Caller, parts: Sequence[Part], world: str) -> None:
        """Load, something that goes wrong with one replica, a kill of another, and all is well again."""
        self._receiver.may_fail = True
        ends = asyncio.Event()
        actors: list[Actor] = [actor for part in parts for actor in part.actors]
        load = asyncio.ensure_future(play(actors, caller, self.outcome.findings, ends, goes_on=True))
        await after_some_writes(caller, self._chance, load, most=60)
        owner = (await self._database.owners()).get(world)
        victim = next((one for one in self._replicas if one.origin == owner), None)
        if victim is None or self._chance.random() < 0.2:
            victim = self._chance.choice(self._replicas)
        others = [replica for replica in self._replicas if replica is not victim]
        beside: Awaitable[None] | None = None
        if self._chance.random() < 0.5:
            beside = asyncio.ensure_future(self._something(self._chance.choice(others)))
        if self._chance.random() < 0.5:  # and the kill may come at any moment of it
            await asyncio.sleep(self._chance.uniform(0, 3))
        # Only one that has the world is taken over from.
        owns = (await self._database.owners()).get(world) == victim.origin
        victim.server.kill()
        self.outcome.kills += 1
        if owns and beside is None:
            self.outcome.takeovers.append(await self._takeover(caller, world, [one.origin for one in others]))
        await after_some_writes(caller, self._chance, load, most=60)
        if beside is not None:
            await beside
        await asyncio.to_thread(victim.server.start)
        await after_some_writes(caller, self._chance, load, most=30)
        ends.set()
        await asyncio.wait_for(load, PATIENCE_SECONDS)

    async def _takeover(self, caller: Caller, world: str, origins: list[str]) -> float:
        """Seconds until another replica answers for a world."""
        began, tries = time.monotonic(), []
        while time.monotonic() - began < PATIENCE_SECONDS:
            try:
                answer = await caller.control("GET", "/clock", world=world, origin=self._chance.choice(origins))
            except Broken as broken:
                tries.append(f"{time.monotonic() - began:.1f} s: {broken}")
                await asyncio.sleep(0.02)
                continue
            if answer.status == 200:
                took = time.monotonic() - began
                if took > SLOW_SECONDS:
                    self._tell(f"a takeover took {took:.1f} s: {tries}")
                return took
            raise Wrong(f"{world} is answered {answer.status} {answer.raw[:300]!r} after a kill of its replica")
        raise Wrong(f"nobody has taken {world} over in {PATIENCE_SECONDS} seconds")

    # What goes wrong besides

    async def _something(self, replica: Replica) -> None:
        what = self._chance.choice(
            [self._pause, self._silence, self._cut, self._end_sessions, self._drain, self._crash]
        )
        self.outcome.wrongs[what.__name__.strip("_").replace("_", " ")] += 1
        await what(replica)

    async def _pause(self, replica: Replica) -> None:
        """It stands still for longer than its lease, and goes on with what it believed."""
        replica.server.signal(signal.SIGSTOP)
        await asyncio.sleep(LEASE_SECONDS + self._chance.uniform(0.2, 3))
        replica.server.signal(signal.SIGCONT)

    async def _silence(self, replica: Replica) -> None:
        """Nothing goes between it and the database; what was held back arrives late."""
        replica.proxy.silence()
        await asyncio.sleep(LEASE_SECONDS + self._chance.uniform(-1, 3))
        replica.proxy.heal()

    async def _cut(self, replica: Replica) -> None:
        replica.proxy.cut()
        await asyncio.sleep(self._chance.uniform(0, 4))
        replica.proxy.heal()

    async def _end_sessions(self, replica: Replica) -> None:
        await self._database.terminate(replica.proxy.ports)

    async def _drain(self, replica: Replica) -> None:
        code = await asyncio.to_thread(replica.server.stop)
        if code != 0:
            self.outcome.findings.add("answer", f"a replica did not drain: {code}, {replica.server.told[-500:]}")
        await asyncio.to_thread(replica.server.start)

    async def _crash(self, replica: Replica) -> None:
        """Of PostgreSQL itself."""
        await asyncio.to_thread(self._database.restart)
