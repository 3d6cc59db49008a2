"""One examination from its beginning to its end."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import Future
from contextlib import asynccontextmanager
from dataclasses import field
from typing import NamedTuple

from simulator.certification.application import Unusable
from simulator.certification.books import is_beyond, wrong_with
from simulator.certification.examining import QUICK_SECONDS, Broken, Claim, Exam
from simulator.certification.report import Report, Result, blocked, failed, passed, skipped
from simulator.certification.rules import RULES, Rule
from simulator.certification.signing import Headers
from simulator.certification.sources import Line, read_books, settle
from simulator.certification.stage import Service, Stage, Unplayed, is_simulator, origin_of, own_stage, running_stage
from simulator.engine.clients.guard import LiveKey
from simulator.engine.webhooks import Outcome
from simulator.engine.webhooks.courier.transport import HttpTransport
from simulator.kernel.dataclass import dataclass
from simulator.service import LIVE_KEYS

_BOOKS_APART_SECONDS = 0.2
"""The books are right when two readings so far apart say the same: work in the background has ended by then."""
_BOOKS_AGAIN_SECONDS = 0.1
_NO_BOOKS = "it is judged by the books of your application: name them with --books"
_UNREAD = "no books were read"
_STRANGE_BOOKS = (
    "the books know no order of this examination. Let the application make an order of its own for each (--order), or "
    "when the first event of a `reference` comes. If it reads transactions anew, it has to do so at the simulator above"
)


@dataclass(frozen=True)
class Settings:
    """What is examined, and how.

    `simulator`: a running one that was named; without it the one at `usual`, or one that is started there.
    `only` and `skip` are names of rules, `books`, `order`, `settle` what the options say.
    `patience_seconds`: how long an answer is waited for, as the service does; `quick_seconds`: how long it may take;
    `books_seconds`: how long the books may take to come right; `outage_seconds`: how long an outage waits for what a
    receiver does after its answer.
    """

    url: str
    key: str
    usual: str
    simulator: str | None = None
    control_token: str | None = None
    only: Sequence[str] = ()
    skip: Sequence[str] = ()
    books: str | None = None
    order: str | None = None
    settle: str | None = None
    patience_seconds: float = 10.0
    quick_seconds: float = QUICK_SECONDS
    books_seconds: float = 5.0
    outage_seconds: float = 0.5
    service: Service = field(default_factory=Service)


class Hears(NamedTuple):
    """Who is told of an examination.

    `began` gets the report before the first request, `playing` each rule as its requests begin, from a thread, and
    `result` what came of it, as it is known.
    """

    began: Callable[[Report], None]
    playing: Callable[[Rule], None]
    result: Callable[[Result], None]


QUIET = Hears(lambda report: None, lambda rule: None, lambda result: None)
"""Nobody is told before the end."""


class Examination:
    """The rules of one run, one after another. What the books judge is told once they have been read."""

    def __init__(self, settings: Settings, exam: Exam, report: Report, hears: Hears) -> None:
        self._settings, self._exam, self._report, self._hears = settings, exam, report, hears
        self._held: list[Result] = []
        if settings.books:
            self._read()  # books that cannot be read are told before anything is sent

    def run(self) -> None:
        """NothingAnswers, NoStage, Unusable."""
        with self._exam.stage.quiet(self._settings.url):
            for rule in RULES:
                if self._settings.only and rule.name not in self._settings.only:
                    continue
                if self._held and not rule.booked:
                    self._settle()
                result = self._examined(rule)
                if rule.booked and self._settings.books:
                    self._held.append(result)
                else:
                    self._tell(result)
            self._settle()

    def _examined(self, rule: Rule) -> Result:
        if rule.name in self._settings.skip:
            return skipped(rule, "--skip leaves it out")
        if rule.by_books and not self._settings.books:
            return skipped(rule, _NO_BOOKS)
        missing = self._missing(rule)
        if missing:
            return blocked(rule, missing)
        self._hears.playing(rule)
        self._exam.begin(rule.name)
        try:
            rule.play(self._exam)
        except Unplayed as why:
            return skipped(rule, str(why))
        except Broken as broken:
            return failed(rule, broken, self._exam.exchanges)
        return passed(rule, self._exam.exchanges, unread="" if self._settings.books else _UNREAD)

    def _missing(self, rule: Rule) -> list[str]:
        """The rules that have to hold before this one says anything. What is held back counts as it stands."""
        known = [*self._report.results, *self._held]
        return list(dict.fromkeys(name for one in known if one.rule.name in rule.needs for name in one.in_the_way))

    def _settle(self) -> None:
        """Read the books, and tell what was held back."""
        held, self._held = self._held, []
        if not held:
            return
        books = self._books()
        paid = [claim for claim in self._exam.claims if claim.amount]
        known = {line.order for line in books}
        strange = bool(paid) and not any(claim.order in known for claim in self._exam.claims)
        for result in held:
            rule, missing = result.rule, self._missing(result.rule)
            if result.verdict == "pass" and missing:
                result = blocked(rule, missing)
            elif result.verdict == "pass" and strange:
                unread = passed(rule, result.exchanges, unread=_UNREAD)
                result = skipped(rule, _STRANGE_BOOKS) if rule.by_books else unread
            elif result.verdict == "pass":
                wrong = [found for claim in self._claims(rule) if (found := wrong_with(claim, books))]
                beyond = [is_beyond(claim, books) for claim in self._claims(rule)]
                if beyond and all(beyond):
                    result = passed(rule, result.exchanges, unread="the books do not list it")
                if wrong:
                    sent = "; ".join(one.sent for one in result.exchanges)
                    result = failed(rule, Broken(sent, "; ".join(wrong)), result.exchanges)
            self._tell(result)

    def _claims(self, rule: Rule) -> list[Claim]:
        return [claim for claim in self._exam.claims if claim.rule == rule.name]

    def _books(self) -> list[Line]:
        """The books, once they are right and stay so; else as they are when patience ends. Unusable."""
        if self._settings.settle:
            settle(self._settings.settle, self._exam.stage.variables)
        deadline = time.monotonic() + self._settings.books_seconds
        before: list[Line] | None = None
        while True:
            books = self._read()
            right = not any(wrong_with(claim, books) for claim in self._exam.claims)
            if (right and books == before) or time.monotonic() > deadline:
                return books
            before = books if right else None
            time.sleep(_BOOKS_APART_SECONDS if right else _BOOKS_AGAIN_SECONDS)

    def _read(self) -> list[Line]:
        return read_books(str(self._settings.books), self._exam.stage.variables)

    def _tell(self, result: Result) -> None:
        self._report.results.append(result)
        self._hears.result(result)


async def certify(settings: Settings, hears: Hears) -> Report:
    """Examine a receiver.

    NothingAnswers, NoStage, Unusable.
    """
    try:
        LIVE_KEYS.check(settings.key, "The webhook key")
    except LiveKey as error:
        raise Unusable(str(error)) from None
    loop, transport = asyncio.get_running_loop(), HttpTransport()

    def post(headers: Headers, body: bytes) -> Future[Outcome]:
        sending = transport.post(settings.url, headers, body, settings.patience_seconds, "any")
        return asyncio.run_coroutine_threadsafe(sending, loop)

    async with _stage(settings) as stage:
        stage.ordering = settings.order
        report = Report(settings.url, settings.key, stage.told, stage.keys)
        started = time.monotonic()
        hears.began(report)
        limits = settings.patience_seconds, settings.quick_seconds, settings.outage_seconds
        exam = Exam(settings.url, stage, post, *limits)
        await asyncio.to_thread(lambda: Examination(settings, exam, report, hears).run())
        report.seconds = time.monotonic() - started
    return report


@asynccontextmanager
async def _stage(settings: Settings) -> AsyncIterator[Stage]:
    """The simulator that was named, or runs at its usual address, or is started there. NoStage."""
    running = settings.simulator
    if running is None and await asyncio.to_thread(is_simulator, settings.usual):
        running = settings.usual
    if running is not None:
        known = (settings.key, settings.control_token, settings.service)
        yield await asyncio.to_thread(running_stage, origin_of(running), *known)
        return
    async with own_stage(settings.usual, settings.key) as stage:
        yield stage
