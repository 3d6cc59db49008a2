"""Replicas on one PostgreSQL server, which are killed, paused, disconnected and drained. The database is restarted,
too.
"""

from __future__ import annotations

import asyncio
import random
import signal
import time
from collections.abc import Callable, Sequence

from tests.campaigns.trust.caller import Broken, Caller, Wrong
from tests.campaigns.trust.campaign import PATIENCE_SECONDS, Actor, Campaign, Part, after_some_writes, parts_of, play
from tests.campaigns.trust.database import Database
from tests.campaigns.trust.proxy import Proxy
from tests.campaigns.trust.servers import Server

REPLICAS = 3
TIMES_A_ROUND = 4
KILLS_AT_A_TIME = 3
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


class PostgresCampaign(Campaign):
    """So many kills of replicas; besides, half as much of everything else that can go wrong."""

    def __init__(
        self, seed: int, kills: int, *, lie: str = "honest", tell: Callable[[str], None] = lambda text: None
    ) -> None:
        super().__init__(seed, kills, random.Random(f"{seed} replicas"), lie=lie, tell=tell)
        self._database = Database()
        self._replicas: list[Replica] = []
        self._twice = 0

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
            for _ in range(TIMES_A_ROUND):
                if self.outcome.kills >= self._kills:
                    break
                await self._kills_under_load(caller, parts, f"r{number}-shared")
                await self._judge(caller, parts)
                seconds = ", ".join(f"{took:.1f} ({net:.1f})" for took, net in self.outcome.takeovers[-1:])
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
            await self._count(caller, twins)

    async def _judge(self, caller: Caller, parts: Sequence[Part]) -> None:
        for part in parts:
            await part.judge(caller)
        twice = await self._database.owned_twice()
        for told in twice[self._twice :]:
            self.outcome.findings.add("owned twice", told)
        self._twice = len(twice)

    async def _kills_under_load(self, caller: Caller, parts: Sequence[Part], world: str) -> None:
        """Load, something that goes wrong with one replica, kills of others, one after the other; and all is well."""
        self._receiver.may_fail = True
        ends = asyncio.Event()
        actors: list[Actor] = [actor for part in parts for actor in part.actors]
        load = asyncio.ensure_future(play(actors, caller, self.outcome.findings, ends, goes_on=True))
        await after_some_writes(caller, self._chance, load, most=60)
        beside: asyncio.Future[None] | None = None
        starting: asyncio.Future[None] | None = None
        spared = self._chance.choice(self._replicas)
        if self._chance.random() < 0.6:
            beside = asyncio.ensure_future(self._something(spared))
            await asyncio.sleep(self._chance.uniform(0, 3))  # a kill may come at any moment of it
        for _ in range(min(KILLS_AT_A_TIME, self._kills - self.outcome.kills)):
            if starting is not None:
                await starting
            starting = await self._one_kill(caller, world, spared if beside is not None else None, load)
        if beside is not None:
            await beside
        if starting is not None:
            await starting
        await after_some_writes(caller, self._chance, load, most=30)
        ends.set()
        await asyncio.wait_for(load, PATIENCE_SECONDS)

    async def _one_kill(
        self, caller: Caller, world: str, spared: Replica | None, load: asyncio.Future[None]
    ) -> asyncio.Future[None]:
        """Kill a replica, the owner of a world if that may be; it is being started again when this returns."""
        may_die = [one for one in self._replicas if one is not spared]
        owner = (await self._database.owners()).get(world)
        victim = next((one for one in may_die if one.origin == owner), None)
        owns = victim is not None
        victim = victim or self._chance.choice(may_die)
        victim.server.kill()
        self.outcome.kills += 1
        if owns and spared is None:  # what a pause or a cut adds is no takeover after a kill
            others = [one for one in self._replicas if one is not victim and one.server.is_running]
            waited = [one.server.waited for one in others]
            took = await self._takeover(caller, world, [one.origin for one in others])
            waits = [one.server.waited - before for one, before in zip(others, waited, strict=True)]
            self.outcome.takeovers.append((took, max(took - max(waits), 0.0)))
        await after_some_writes(caller, self._chance, load, most=40)
        return asyncio.ensure_future(asyncio.to_thread(victim.server.start))

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
        """Pause a replica for longer than its lease. Then it continues with outdated state."""
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
