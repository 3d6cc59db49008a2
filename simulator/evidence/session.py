"""One run of `rampsim probe` against a service, from authentication to the observed file."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import field
from pathlib import Path
from ssl import SSLContext

from simulator.engine.clients.control import ControlClient
from simulator.engine.clients.guard import LiveKeys
from simulator.engine.text.json import JsonObject
from simulator.engine.worlds.observations import Observed
from simulator.evidence import observed
from simulator.evidence.facts import read_facts
from simulator.evidence.flow import read_steps
from simulator.evidence.listener import Listener
from simulator.evidence.planning import Options, plan, read_probes
from simulator.evidence.probing import Decisions, Verdict, decide
from simulator.evidence.remote import NotTheService, RemoteService, SpentBudget
from simulator.kernel.dataclass import dataclass, replace
from simulator.service import TOOLING


@dataclass(frozen=True)
class Order:
    """The parameters of a probe run: the target, its keys, and the limits and output of the run."""

    target: str
    keys: tuple[str, str]
    environment: str
    options: Options
    calls: int
    name: str = ""
    """The name of the target, or "" for the name in the earlier file."""
    out: Path | None = None
    """The path of the observed file."""
    earlier: Observed | None = None
    """The content of this file before the run. The run continues it."""
    control: ControlClient | None = None
    live_keys: LiveKeys | None = None
    """Keys that must not be used."""
    listener: Listener | None = None
    account: Mapping[str, str] = field(default_factory=dict)
    """Account values that steps refer to and that no call returns."""
    tls: SSLContext | None = None
    """The settings for https, or None to trust the system's certificates."""


class NotSaved(Exception):
    """Raised if the file with the verdicts (`--out`) cannot be written. The message is one line."""


class Session:
    """A run and its results."""

    def __init__(self, order: Order) -> None:
        self.order = order
        self._probing, self._switches = TOOLING.probing(), TOOLING.alternatives()
        self._document = read_probes(self._probing)
        self.service = RemoteService(
            order.target,
            order.keys,
            calls=order.calls,
            wait_seconds=order.options.wait_seconds,
            control=order.control,
            live_keys=order.live_keys,
            listener=order.listener,
            account=order.account,
            tls=order.tls,
        )
        self.facts: JsonObject = {}
        self._earlier: dict[str, Verdict] = {}
        self._exchanges_before = 0
        if order.earlier is not None and order.out is not None:
            self._earlier = {one.id: one for one in observed.verdicts_in(order.earlier, self._switches)}
            self.service.exchanges[:] = observed.exchanges_in(order.out)
            self._exchanges_before = len(self.service.exchanges)
            self.facts |= order.earlier.facts
        self._decide_with(order.options)
        self.ended = ""
        """The reason why the run ended early, in one line."""

    def _decide_with(self, options: Options) -> None:
        self.decisions = Decisions(self._document, self._switches, options, self._probing.formulas)
        for verdict in self._earlier.values():
            self.decisions.take(verdict)

    def run(self, report: Callable[[str], None], warn: Callable[[str], None]) -> None:
        """Decide as many assumptions as possible.

        Raise `NotTheService` or `SpentBudget` if the first calls to the target fail, or if all calls fail. Raise
        `NotSaved` if the observed file cannot be written. The file is written after each flow, so an interrupted run
        keeps its results.
        """
        service = self.service
        service.sign_in()
        if self._has_open:
            with suppress(SpentBudget):
                self.service.recognize(self._probing.landmarks)
            for name, why in self.service.drop_unknown(self._probing.unknown_values).items():
                option = f"--{name.replace('_', '-')}"
                warn(f"{option}: the target does not accept this value ({why}). Probes that need it are skipped")
        try:
            options = self._prepared(warn)
            self._decide_with(options)
            steps = read_steps(self._probing.steps)
            if self.order.earlier is not None:  # probes that decide nothing again must not use up the calls of each run
                self._read_facts(report)
            planned = plan(self._document, self._switches, steps, options)
            early = decide(planned, self.decisions, service, self._probing, steps, decided=self.save, report=report)
            self.ended = self.ended or early
            self._read_facts(report)
        finally:
            with suppress(NotTheService, SpentBudget):
                service.unregister()
            if not self._is_silent:
                self.save()
        if self._is_silent:
            raise NotTheService(f"{self.order.target}: sign-in succeeds, but every other call failed. {self.ended}")

    def _read_facts(self, report: Callable[[str], None]) -> None:
        if not self.order.options.only:
            report("facts")
            self.facts, missing = read_facts(self.service, self._probing, self.facts)
            self.ended = self.ended or (missing and f"facts are missing: {missing}")

    @property
    def _is_silent(self) -> bool:
        """True if the target has responded to no call except sign-in, so that the run shows nothing."""
        statuses = [row["status"] for row in self.service.exchanges[self._exchanges_before :]]
        tried = any(one.reason == "unreachable" for one in self.decisions.verdicts.values())
        return tried and all(status >= 500 for status in statuses)

    @property
    def _has_open(self) -> bool:
        """True if any assumption is not decided yet."""
        return any(map(self.decisions.is_open, self.decisions.verdicts))

    def _prepared(self, warn: Callable[[str], None]) -> Options:
        """Read the target's clock and register the listener. Return the run's options with the clock rate that was
        read. `sees_events` is False if events cannot be received.
        """
        options, order = self.order.options, self.order
        if order.control is not None or not self._has_open:
            return options
        step, stamp = self._probing.clock
        with suppress(NotTheService, SpentBudget):  # one failed call must not end the run
            self.service.read_clock(read_steps(self._probing.steps)[step], stamp, rate=options.wait_seconds > 0)
        options = replace(options, time_rate=self.service.time_rate)
        if order.listener is not None and (problem := self.service.register()):
            warn(f"the probe cannot receive events: {problem}")
            options = replace(options, sees_events=False)
        return options

    def save(self) -> None:
        """Write the observed file, with the exchanges that its verdicts refer to.

        It keeps the date and the other verdicts of the file that the run continues.

        Raise `NotSaved` if it cannot be written.
        """
        order = self.order
        if order.out is None:
            return
        every = {**self._earlier, **self.decisions.verdicts}
        decided = [every[one] for one in self._switches if one in every and every[one].verdict != "undecided"]
        verdicts, exchanges = observed.referred(decided, self.service.exchanges)
        name, date = "target", None
        if order.earlier is not None:
            name, date = str(order.earlier.target.get("name")), datetime.date.fromisoformat(order.earlier.date)
        try:
            about = order.target, order.environment
            observed.write(order.out, *about, verdicts, exchanges, self.facts, order.name or name, date)
        except OSError as error:
            raise NotSaved(f"cannot write {order.out}: {error.strerror or error}") from None
