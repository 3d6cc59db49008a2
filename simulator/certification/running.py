"""One certification run."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from concurrent.futures import Future
from contextlib import asynccontextmanager
from dataclasses import field
from decimal import Decimal

from simulator.certification.exhaustive.report import write_scenarios
from simulator.certification.exhaustive.running import Bound, run
from simulator.certification.report import Report, Result, failed, passed, skipped
from simulator.certification.rules import RULES, Rule
from simulator.certification.session import QUICK_SECONDS, Broken, Claim, Session
from simulator.certification.signing import Headers
from simulator.certification.sources import Line, Unusable, origin_of, read_books, settle, wait_for_queue
from simulator.certification.stage import Service, Stage, Unplayed, is_simulator, own_stage, running_stage
from simulator.engine.clients.guard import LiveKey
from simulator.engine.text.progress import SILENT, ProgressListener
from simulator.engine.webhooks import Outcome
from simulator.engine.webhooks.courier.transport import HttpTransport
from simulator.host import vocabulary
from simulator.kernel.dataclass import dataclass
from simulator.service import LIVE_KEYS

_BOOKS_APART_SECONDS = 0.2
"""The interval between two reads. If both are equal, background work has finished and the records are final."""
_BOOKS_AGAIN_SECONDS = 0.1
_NO_BOOKS = "it needs the books of your application: name them with --books"
_UNREAD = "no books were read"
_STRANGE_BOOKS = (
    "the books have no order of this run. Let the application create each order (--order), or create one when the "
    "first event of a `reference` comes. If it reads transactions, it must read them from the simulator above"
)


@dataclass(frozen=True)
class Settings:
    """The settings for a certification run. The class `Session` describes the durations, such as `patience_seconds`."""

    url: str
    key: str
    usual: str
    """The default address of a simulator. If no simulator is running there, certify starts one."""
    simulator: str | None = None
    """The address of a running simulator. Overrides `usual`."""
    control_token: str | None = None
    only: Sequence[str] = ()
    skip: Sequence[str] = ()
    books: str | None = None
    order: str | None = None
    settle: str | None = None
    quiesce: str | None = None
    patience_seconds: float = 10.0
    quick_seconds: float = QUICK_SECONDS
    books_seconds: float = 5.0
    """How long to wait for the records to become correct."""
    outage_seconds: float = 0.5
    queue_seconds: float = 10.0
    """How long the application's queue may take to become empty."""
    service: Service = field(default_factory=Service)
    exhaustive: Bound | None = None
    """The bounds of an exhaustive run. Rules are then checked only if `only` names them."""


class _Run:
    """Checks the rules in order. Results that depend on the application's records are reported after these are read."""

    def __init__(
        self, settings: Settings, session: Session, report: Report, listener: ProgressListener[Result]
    ) -> None:
        self._settings, self._session, self._report, self._listener = settings, session, report, listener
        self._held: list[Result] = []

    def run(self) -> None:
        """Check all rules. Raise the same exceptions as `certify`."""
        if self._settings.books:
            self._read()  # report unreadable books before any request is sent
        with self._session.stage.quiet(self._settings.url):
            for rule in RULES:
                if self._settings.only and rule.name not in self._settings.only:
                    continue
                if self._held and not rule.booked:
                    self._settle()
                result = self._played(rule)
                if rule.booked and self._settings.books:
                    self._held.append(result)
                else:
                    self._report_result(result)
            self._settle()

    def _played(self, rule: Rule) -> Result:
        if rule.name in self._settings.skip:
            return skipped(rule, "excluded by --skip")
        if rule.by_books and not self._settings.books:
            return skipped(rule, _NO_BOOKS)
        missing = self._missing(rule)
        if missing:
            return skipped(rule, by=missing)
        self._listener.running(rule.name)
        self._session.begin(rule.name)
        try:
            rule.play(self._session)
        except Unplayed as why:
            return skipped(rule, str(why))
        except Broken as broken:
            return failed(rule, broken, self._session.exchanges)
        return passed(rule, self._session.exchanges, unread="" if self._settings.books else _UNREAD)

    def _missing(self, rule: Rule) -> list[str]:
        """Return the failed rules on which this rule depends. Results that are not reported yet also count."""
        known = [*self._report.results, *self._held]
        return list(dict.fromkeys(name for one in known if one.rule.name in rule.needs for name in one.in_the_way))

    def _settle(self) -> None:
        """Read the application's records, and report the results that depend on them."""
        held, self._held = self._held, []
        books = self._books() if held else []
        paid = [claim for claim in self._session.claims if claim.amount]
        known = {line.order for line in books}
        strange = bool(paid) and not any(claim.order in known for claim in self._session.claims)
        for result in held:
            rule, missing = result.rule, self._missing(result.rule)
            if result.verdict == "pass" and missing:
                result = skipped(rule, by=missing)
            elif result.verdict == "pass" and strange:
                unread = passed(rule, result.exchanges, unread=_UNREAD)
                result = skipped(rule, _STRANGE_BOOKS) if rule.by_books else unread
            elif result.verdict == "pass":
                claims = [claim for claim in self._session.claims if claim.rule == rule.name]
                wrong = [found for claim in claims if (found := wrong_with(claim, books))]
                if claims and all(is_beyond(claim, books) for claim in claims):
                    result = passed(rule, result.exchanges, unread="the books do not list it")
                if wrong:
                    sent = "; ".join(one.sent for one in result.exchanges)
                    result = failed(rule, Broken(sent, "; ".join(wrong)), result.exchanges)
            self._report_result(result)

    def _books(self) -> list[Line]:
        """Wait until the application's records are correct and no longer change, but at most `books_seconds`. Return
        the records. Raise `Unusable` if reading fails.
        """
        if self._settings.settle:
            self._wait_for_queue()
            settle(self._settings.settle, self._session.stage.variables)
        self._wait_for_queue()
        deadline = time.monotonic() + self._settings.books_seconds
        before: list[Line] | None = None
        while True:
            books = self._read()
            right = not any(wrong_with(claim, books) for claim in self._session.claims)
            if (right and books == before) or time.monotonic() > deadline:
                return books
            before = books if right else None
            time.sleep(_BOOKS_APART_SECONDS if right else _BOOKS_AGAIN_SECONDS)

    def _wait_for_queue(self) -> None:
        if self._settings.quiesce:
            variables, seconds = self._session.stage.variables, self._settings.queue_seconds
            wait_for_queue(self._settings.quiesce, variables, seconds)

    def _read(self) -> list[Line]:
        return read_books(str(self._settings.books), self._session.stage.variables)

    def _report_result(self, result: Result) -> None:
        self._report.results.append(result)
        self._listener.ended(result)


async def certify(settings: Settings, listener: ProgressListener[Result] = SILENT) -> Report:
    """Certify a receiver. Raise `NothingAnswers` if it does not respond, `NoStage` if there is no usable simulator, and
    `Unusable` if an option is invalid.
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
        report = Report(settings.url, settings.key, stage.description, stage.keys)
        started = time.monotonic()
        listener.noted(report.head())
        limits = settings.patience_seconds, settings.quick_seconds, settings.outage_seconds
        session = Session(settings.url, stage, post, *limits)
        report.has_job = settings.settle is not None
        if settings.exhaustive is None or settings.only:
            await asyncio.to_thread(lambda: _Run(settings, session, report, listener).run())
        if settings.exhaustive is not None:
            bound = settings.exhaustive
            report.flows = await asyncio.to_thread(lambda: run(bound, stage, settings.url, post, listener.running))
            write_scenarios(report.flows, stage.service.playbook.retry_delays_ms)
        report.seconds = time.monotonic() - started
    return report


@asynccontextmanager
async def _stage(settings: Settings) -> AsyncIterator[Stage]:
    """Yield the simulator in the settings, otherwise a running or a new one. Raise `NoStage` if that fails."""
    running = settings.simulator
    if running is None and await asyncio.to_thread(is_simulator, settings.usual):
        running = settings.usual
    if running is not None:
        known = (settings.key, settings.control_token, settings.service)
        yield await asyncio.to_thread(running_stage, origin_of(running), *known)
    else:
        async with own_stage(settings.usual, settings.key) as stage:
            yield stage


def listed(claim: Claim, books: Sequence[Line]) -> list[Line]:
    """Return the application's records of an order. The application may record the order under any one of several sets
    of names. Choose the first set whose records add up to the correct amount, otherwise the first with a nonzero
    amount, otherwise the first.
    """
    sets = [[line for line in books if line.order in names] for names in ((claim.order,), *claim.alternatives)]
    right = [lines for lines in sets if lines and _total(lines) == claim.amount]
    return next(iter([*right, *(lines for lines in sets if _total(lines)), *sets]))


def is_beyond(claim: Claim, books: Sequence[Line]) -> bool:
    """Return True if the application may leave this order out of its records, which contain no amount for it."""
    return claim.is_optional and not any(line.amount for line in listed(claim, books))


def _total(lines: Sequence[Line]) -> Decimal:
    return sum((line.amount for line in lines), Decimal(0))


def wrong_with(claim: Claim, books: Sequence[Line]) -> str | None:
    """Return what is wrong with the records for an order, or None if they are correct."""
    if is_beyond(claim, books):
        return None
    lines = listed(claim, books)
    said = _total(lines)
    shown = f"{said:f} {lines[0].currency} ({', '.join(line.state for line in lines)})" if lines else "nothing"
    words = f"order {claim.order} has {shown} in the books"
    delivered = f"{claim.amount:f} {claim.currency} were delivered"
    if said and any(line.currency not in ("", claim.currency) for line in lines if line.amount):
        return f"{words}, but {delivered}, in another currency"
    if said == claim.amount:
        # The service's states in which nothing has been delivered.
        unfinished = vocabulary().order_told - {"completed"}
        downgraded = claim.amount and any(line.state in unfinished for line in lines)
        return f"{words}, but it is completed: the state was reverted" if downgraded else None
    if not claim.amount:
        return f"{words}, but nothing was delivered: {claim.history}"
    if not lines:
        return f"{words}, but {delivered}: lost ({claim.history})"
    times = said / claim.amount
    kind = f"booked {times:f} times" if times > 1 and times == int(times) else "lost" if not said else "another amount"
    return f"{words}, but {delivered}: {kind} ({claim.history})"
