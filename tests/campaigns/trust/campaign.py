"""Code shared by the campaigns: actors, and their results."""

from __future__ import annotations

import asyncio
import random
import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from tests.campaigns.trust.alone import Fleeting, Running, Twinned
from tests.campaigns.trust.caller import Broken, Caller, Wrong
from tests.campaigns.trust.findings import Findings
from tests.campaigns.trust.receiver import Receiver
from tests.campaigns.trust.shared import Shared

PATIENCE_SECONDS = 90.0


class Actor(Protocol):
    async def step(self, caller: Caller) -> None: ...


class Part(Protocol):
    """Some worlds, who writes to them, and what is known of them."""

    @property
    def actors(self) -> Sequence[Actor]: ...

    async def begin(self, caller: Caller) -> None: ...
    async def judge(self, caller: Caller) -> None: ...
    async def end(self, caller: Caller) -> None: ...


@dataclass
class Outcome:
    """The result of a campaign. `+` combines two that ran concurrently.

    `takeovers`: seconds until another replica answered, and the same less what it was ready to run and did not, because
    other programs of the machine did.
    """

    seed: int
    kills: int = 0
    acknowledged: int = 0
    unknown: int = 0
    webhooks: int = 0
    seconds: float = 0.0
    findings: Findings = field(default_factory=Findings)
    takeovers: list[tuple[float, float]] = field(default_factory=list)
    wrongs: Counter[str] = field(default_factory=Counter)

    def __add__(self, other: Outcome) -> Outcome:
        return Outcome(
            seed=min(self.seed, other.seed),
            kills=self.kills + other.kills,
            acknowledged=self.acknowledged + other.acknowledged,
            unknown=self.unknown + other.unknown,
            webhooks=self.webhooks + other.webhooks,
            seconds=max(self.seconds, other.seconds),
            findings=self.findings + other.findings,
            takeovers=[*self.takeovers, *other.takeovers],
            wrongs=self.wrongs + other.wrongs,
        )


class Campaign(ABC):
    """So many kills of what keeps worlds. `lie`: see `tests.campaigns.trust.serve`."""

    def __init__(self, seed: int, kills: int, chance: random.Random, *, lie: str, tell: Callable[[str], None]) -> None:
        self.outcome = Outcome(seed)
        self._seed, self._kills, self._chance, self._lie, self._tell = seed, kills, chance, lie, tell
        self._receiver = Receiver(random.Random(f"{seed} receiver"))

    def run(self) -> Outcome:
        began = time.monotonic()
        self.outcome.findings.tell = self._tell
        asyncio.run(self._run())
        self.outcome.findings.tell = None  # an outcome goes from process to process
        self.outcome.seconds = time.monotonic() - began
        return self.outcome

    @abstractmethod
    async def _run(self) -> None:
        """Kill, and judge what is left."""

    async def _count(self, caller: Caller, twins: Caller) -> None:
        """End the callers of a round, and add what they have done."""
        await caller.close()
        await twins.close()
        self.outcome.acknowledged += caller.acknowledged
        self.outcome.unknown += caller.unknown
        self.outcome.webhooks = self._receiver.arrivals


async def play(
    actors: Sequence[Actor], caller: Caller, findings: Findings, ends: asyncio.Event, *, goes_on: bool
) -> None:
    """Every actor does one thing after another until `ends`, or, unless it `goes_on`, until an answer fails to come."""

    async def one(actor: Actor) -> None:
        while not ends.is_set():
            try:
                await actor.step(caller)
            except Broken:
                if not goes_on:
                    return
                await asyncio.sleep(0.05)
            except Wrong as wrong:
                findings.add("answer", str(wrong))
                return

    await asyncio.gather(*map(one, actors))


def parts_of(
    name: str, seed: int, receiver: Receiver, twins: Caller, findings: Findings, late_seconds: float = 0
) -> list[Part]:
    """The worlds of a round, and who writes to them. `late_seconds`: see `Twinned`."""
    return [
        Shared(f"{name}-shared", seed, receiver, findings),
        Twinned(f"{name}-twinned", seed, twins, findings, late_seconds),
        Running(f"{name}-running", findings),
        Fleeting(f"{name}-fleeting", findings),
    ]


async def after_some_writes(caller: Caller, chance: random.Random, load: asyncio.Future[None], most: int = 100) -> None:
    """A moment that does not hang on how quick the machine is."""
    wanted = caller.acknowledged + chance.randint(0, most)
    while caller.acknowledged < wanted and not load.done():
        await asyncio.sleep(0.002)
    await asyncio.sleep(chance.uniform(0, 0.02))
