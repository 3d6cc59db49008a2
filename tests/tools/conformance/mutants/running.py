"""Serving wrong services, and what `rampsim conform` says of each."""

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
"""How an operation that never succeeds is called among the rules."""
MAKES_ONE_OF_EVERYTHING = "get.after_create"


@promise("judge.later", "the judge", "control")
def later(bench: Bench) -> None:
    """A minute goes by."""  # so that what is made before and after it has other times
    bench.world.advance("1m")


@dataclass(frozen=True)
class Verdict:
    """What a run of the laws said of one service, the simulator itself where there is no name.

    `found`: the rules that do not hold, and whether they are promises; `slips`: where the mutant
    itself failed.
    """

    name: str
    hits: int
    found: dict[str, bool]
    slips: tuple[str, ...]
    seconds: float

    @property
    def rule(self) -> str | None:
        """The first of the rules that are to find this mutant, if any of them did."""
        named = MUTANTS[self.name].found_by if self.name else ()
        return next((rule for rule in named if rule in self.found), None)

    @property
    def trouble(self) -> str:
        """Why this is no success: the mutant is not found, did nothing or failed; the simulator is found."""
        if self.slips:
            return f"the mutant failed: {'; '.join(self.slips[:2])}"
        if not self.name:
            return f"found on the simulator itself: {', '.join(sorted(self.found))}" if self.found else ""
        if not self.hits:
            return "nothing of what was sent came by the mutant"
        if self.rule is None:
            return f"not found by {' or '.join(MUTANTS[self.name].found_by)}, but by {sorted(self.found) or 'nothing'}"
        return ""


@asynccontextmanager
async def wrong_service(mutant: Mutant | None) -> AsyncIterator[tuple[str, Tally]]:
    """Serve the mutant, or the simulator as it is; gives the origin, and what the mutant changed so far."""
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
    """What the rules say of one mutant, or of the simulator itself where the name is empty.

    The laws that are to find a mutant are played at first, with rows of two moments for them to look at. Where they do
    not find it, laws are played one after another until one does: those about the mutant's operations, again those that
    are to find it, which may need what the others have made, and in the end all.
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
    """Whether a law names one of these operations, in its row, in its text or in a constant of its module."""
    texts = [repr(law.check)]
    if isinstance(law.check, FunctionType):
        names = law.check.__code__.co_names
        texts += [getsource(law.check), *(repr(law.check.__globals__.get(name)) for name in names)]
    return any(f"{operation}{quote}" in text for operation in operations for text in texts for quote in "\"'")


async def _judge(name: str, parts: Iterable[Sequence[Law]]) -> Verdict:
    """Play the laws part by part, until the service is found by a rule that is to find it."""
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
    """The rules that do not hold, and whether they are promises."""
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
    """The verdicts on these, in their order, from processes side by side."""
    with ProcessPoolExecutor(processes) as pool:
        yield from pool.map(judge, names)
