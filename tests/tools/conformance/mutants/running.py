"""Serves wrong services and checks them with `rampsim conform`."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import cache
from inspect import getsource
from time import perf_counter
from types import FunctionType

from simulator.conformance.bench import Bench
from simulator.conformance.laws import Law, promise
from simulator.conformance.report import Report
from simulator.conformance.rules import Tally as Rules
from simulator.conformance.running import play_laws
from simulator.conformance.settings import ConformanceSettings
from simulator.conformance.shapes import ShapeJudge
from simulator.contract.files import strict_document
from simulator.engine.server.config import Config
from simulator.engine.server.process import serving
from simulator.engine.webhooks.courier.transport import HttpTransport
from simulator.host import create_app
from simulator.providers.ramp.laws import RULEBOOK
from tests.tools.conformance.mutants import MUTANTS, Mutant, Tally
from tests.tools.conformance.mutants.service import WrongService, WrongTransport

FLOOR = "floor"
"""The name of the rule that each operation succeeds at least once."""
MAKES_ONE_OF_EVERYTHING = "get.after_create"


@promise("judge.later", "the judge", "control")
def later(bench: Bench) -> None:
    """Advance the clock, so that resources before and after have different times."""
    bench.world.advance("1m")


@dataclass(frozen=True)
class Verdict:
    """The verdict on one service."""

    name: str
    """The mutant, or "" for the simulator itself."""
    hits: int
    found: dict[str, bool]
    """The broken rules, and whether they are promises."""
    slips: tuple[str, ...]
    """Errors of the mutant itself."""
    seconds: float

    @property
    def rule(self) -> str | None:
        """The first rule of `found_by` that found this mutant, or None."""
        named = MUTANTS[self.name].found_by if self.name else ()
        return next((rule for rule in named if rule in self.found), None)

    @property
    def trouble(self) -> str:
        """Why the verdict is wrong: the mutant was not found, did nothing or failed; the simulator was found."""
        if self.slips:
            return f"the mutant failed: {'; '.join(self.slips[:2])}"
        if not self.name:
            return f"found on the simulator itself: {', '.join(sorted(self.found))}" if self.found else ""
        if not self.hits:
            return "the mutant changed nothing"
        if self.rule is None:
            return f"not found by {' or '.join(MUTANTS[self.name].found_by)}, but by {sorted(self.found) or 'nothing'}"
        return ""


@asynccontextmanager
async def wrong_service(mutant: Mutant | None) -> AsyncIterator[tuple[str, Tally]]:
    """Serve a mutant or the simulator itself. Yield the origin and the tally of changes."""
    application = create_app(Config(clock="manual"))
    tally = Tally()
    if mutant is not None and mutant.sender is not None:
        runtime = application.runtime
        runtime.courier._transport = WrongTransport(HttpTransport(), mutant, tally, runtime.simulator)
    elif mutant is not None:
        application.add_middleware(WrongService, mutant=mutant, tally=tally)
    async with serving(application) as origin:
        yield origin, tally


def judge(name: str) -> Verdict:
    """Judge one mutant, or the simulator itself if the name is empty.

    First the laws of `found_by` are played, with resources of two different times. If they do not find the mutant,
    laws are played one by one until one of `found_by` does: laws about the mutant's operations, then those of
    `found_by` again, which may need resources of other laws, and then all laws.
    """
    logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
    if not name:
        return asyncio.run(_judge(name, [RULEBOOK.laws]))
    one_of_everything = next(row for row in RULEBOOK.laws if row.rule.name == MAKES_ONE_OF_EVERYTHING)
    named = [row for row in RULEBOOK.laws if row.rule.name in MUTANTS[name].found_by]
    first = [one_of_everything, later, one_of_everything, *named]
    about = [row for row in RULEBOOK.laws if _names_any(row, MUTANTS[name].on)]
    return asyncio.run(_judge(name, [first, *([row] for row in (*about, *named, *RULEBOOK.laws))]))


def _names_any(law: Law, operations: Sequence[str]) -> bool:
    """Return True if a law names one of these operations, in its source or in a constant of its module."""
    texts = [repr(law.check)]
    if isinstance(law.check, FunctionType):
        names = law.check.__code__.co_names
        texts += [getsource(law.check), *(repr(law.check.__globals__.get(name)) for name in names)]
    return any(f"{operation}{quote}" in text for operation in operations for text in texts for quote in "\"'")


async def _judge(name: str, parts: Iterable[Sequence[Law]]) -> Verdict:
    """Play parts of the laws until a rule of `found_by` finds the service."""
    started = perf_counter()
    async with wrong_service(MUTANTS[name] if name else None) as (origin, tally):
        settings = ConformanceSettings(
            base_url=f"{origin}/v1", public_key="pk_test_simulator", secret_key="sk_test_simulator",
            mode="full", only="behaviour", control_url=origin,
        )  # fmt: skip
        report = Report(settings, Rules())
        rules: dict[str, bool] = {}
        for laws in parts:
            await asyncio.to_thread(play_laws, report, _shapes(), replace(RULEBOOK, laws=tuple(laws)))
            rules = _broken(name, report)
            if name and not rules.keys().isdisjoint(MUTANTS[name].found_by):
                break
    return Verdict(name, tally.hits, rules, tuple(tally.slips), perf_counter() - started)


def _broken(name: str, report: Report) -> dict[str, bool]:
    """Return the broken rules, and whether they are promises."""
    rules = {finding.rule: report.tally.rules[finding.rule].promise for finding in (*report.broken, *report.differ)}
    for operation in MUTANTS[name].on if name else ():
        answers = report.answers.get(operation, Counter())
        if answers and not any(answer.startswith("2") for answer in answers):
            rules[FLOOR] = True
    return rules


@cache
def _shapes() -> ShapeJudge:
    return ShapeJudge(strict_document())


def judged(names: Iterable[str], processes: int = 2) -> Iterator[Verdict]:
    """Yield verdicts in order, from several processes."""
    with ProcessPoolExecutor(processes) as pool:
        yield from pool.map(judge, names)
