"""Serving wrong services, and what `rampsim conform` says of each."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass
from time import perf_counter

from simulator.config import Config
from simulator.conformance.running import run
from simulator.conformance.settings import ConformanceSettings
from simulator.courier.transport import AiohttpTransport
from simulator.host import create_app
from simulator.server.process import serving
from tests.conformance.mutants import MUTANTS, Mutant, Tally
from tests.conformance.mutants.service import WrongService, WrongTransport

FLOOR = "floor"
"""How an operation that never succeeds is called among the rules."""


@dataclass(frozen=True)
class Verdict:
    """What a run of the laws said of one service, the simulator itself where there is no name.

    `found`: the rules that do not hold, and whether they are promises; `unreached`: the operations that never
    succeeded; `slips`: where the mutant failed to do its wrong.
    """

    name: str
    hits: int
    found: dict[str, bool]
    unreached: frozenset[str]
    slips: tuple[str, ...]
    seconds: float

    def rule(self) -> str | None:
        """The first of the rules that are to find this mutant, if any of them did."""
        return next((rule for rule in MUTANTS[self.name].found_by if rule in self.found), None)


@asynccontextmanager
async def wrong_service(mutant: Mutant | None) -> AsyncIterator[tuple[str, Tally]]:
    """Serve the mutant, or the simulator as it is; gives the origin, and what the mutant changed so far."""
    application = create_app(Config(clock="manual"))
    tally = Tally()
    if mutant is not None and mutant.sender is not None:
        runtime = application.runtime
        runtime.courier._transport = WrongTransport(AiohttpTransport(), mutant, tally, runtime.simulator)
    elif mutant is not None:
        application.add_middleware(WrongService, mutant=mutant, tally=tally)
    async with serving(application) as origin:
        yield origin, tally


def judge(name: str) -> Verdict:
    """Play the laws against one mutant, or against the simulator itself where the name is empty."""
    logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
    return asyncio.run(_judge(name))


async def _judge(name: str) -> Verdict:
    started = perf_counter()
    async with wrong_service(MUTANTS[name] if name else None) as (origin, tally):
        settings = ConformanceSettings(
            base_url=f"{origin}/v1", public_key="pk_test_simulator", secret_key="sk_test_simulator",
            mode="full", only="behaviour", control_url=origin,
        )  # fmt: skip
        report = await run(settings)
    rules = {finding.rule: report.tally.rules[finding.rule].promise for finding in (*report.broken, *report.differ)}
    unreached = frozenset(row.operation for row in report.unreached)
    if unreached & {*(MUTANTS[name].on if name else ())}:
        rules[FLOOR] = True
    return Verdict(name, tally.hits, rules, unreached, tuple(tally.slips), perf_counter() - started)


def judged(names: Iterable[str], processes: int = 2) -> Iterator[Verdict]:
    """The verdicts on these, in their order, from processes side by side."""
    with ProcessPoolExecutor(processes) as pool:
        yield from pool.map(judge, names)
