"""One run of `rampsim probe` against a service, from authentication to the observed file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import field
from pathlib import Path
from ssl import SSLContext

from simulator.engine.clients.control import ControlClient
from simulator.engine.clients.guard import LiveKeys
from simulator.engine.text.json import JsonObject
from simulator.evidence import observed
from simulator.evidence.facts import read_facts
from simulator.evidence.flow import read_steps
from simulator.evidence.listener import Listener
from simulator.evidence.probing import Decisions, Options, decide, plan, read_probes
from simulator.evidence.remote import NotTheService, RemoteService, SpentBudget
from simulator.kernel.copying import replace
from simulator.kernel.dataclass import dataclass
from simulator.service import TOOLING


@dataclass(frozen=True)
class Order:
    """The parameters of a run."""

    target: str
    keys: tuple[str, str]
    environment: str
    options: Options
    calls: int
    name: str = "target"
    out: Path | None = None
    """The path of the observed file. If the file exists, the run continues it."""
    control: ControlClient | None = None
    live_keys: LiveKeys | None = None
    """Keys that must not be used."""
    listener: Listener | None = None
    account: Mapping[str, str] = field(default_factory=dict)
    """Account values that steps refer to and that no call returns."""
    tls: SSLContext | None = None
    """The settings for https, or None to trust the system's certificates."""


class Session:
    """A run and its results."""

    def __init__(self, order: Order) -> None:
        """Raise `observed.BadObserved` if the file to continue is invalid."""
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
        self._earlier = None
        if order.out is not None and order.out.exists():
            self._earlier = observed.read(order.out, self._switches)
            self.service.exchanges += observed.exchanges_in(order.out)
            self.facts |= self._earlier.facts
        self._decide_with(order.options)
        self.ended = ""
        """The reason why the run ended early, in one line."""

    def _decide_with(self, options: Options) -> None:
        self.decisions = Decisions(self._document, self._switches, options, self._probing.formulas)
        for verdict in () if self._earlier is None else observed.verdicts_in(self._earlier, self._switches):
            self.decisions.take(verdict)

    def run(self, report: Callable[[str], None], warn: Callable[[str], None]) -> None:
        """Decide as many assumptions as possible.

        Raise `NotTheService` or `SpentBudget` if the first calls to the target fail. The observed file is written after
        each flow, so an interrupted run keeps its results.
        """
        service = self.service
        service.sign_in()
        if self._has_open:
            self._check_target(warn)
        try:
            options = self._prepared(warn)
            self._decide_with(options)
            steps = read_steps(self._probing.steps)
            planned = plan(self._document, self._switches, steps, options)
            self.ended = decide(
                planned, self.decisions, service, self._probing, steps, decided=self.save, report=report
            )  # fmt: skip
            if not options.only and not self.facts:
                report("facts")
                self.facts, missing = read_facts(service, self._probing)
                self.ended = self.ended or (missing and f"facts are missing: {missing}")
        finally:
            with suppress(NotTheService, SpentBudget):
                service.unregister()
            self.save()

    def _check_target(self, warn: Callable[[str], None]) -> None:
        """Raise `NotTheService` if the target is another service. Discard account values that it does not know."""
        with suppress(SpentBudget):
            self.service.recognize(self._probing.landmarks)
        for name, why in self.service.drop_unknown(self._probing.unknown_values).items():
            option = f"--{name.replace('_', '-')}"
            warn(f"{option}: the target does not accept this value ({why}). Probes that need it are skipped")

    @property
    def _has_open(self) -> bool:
        """True if any assumption is not decided yet."""
        return any(map(self.decisions.is_open, self.decisions.verdicts))

    def _prepared(self, warn: Callable[[str], None]) -> Options:
        """Read the target's clock and register the listener. Return the options that are still possible."""
        options, order = self.order.options, self.order
        if order.control is not None or not self._has_open:
            return options
        step, stamp = self._probing.clock
        with suppress(NotTheService, SpentBudget):  # one failed call must not end the run
            self.service.read_clock(read_steps(self._probing.steps)[step], stamp, rate=options.wait_seconds > 0)
        options = replace(options, time_rate=self.service.time_rate)
        if order.listener is not None and (problem := self.service.register()):
            warn(f"events cannot be received: {problem}")
            options = replace(options, sees_events=False)
        return options

    def save(self) -> None:
        """Write the observed file."""
        if self.order.out is not None:
            observed.write(
                self.order.out,
                self.order.target,
                self.order.environment,
                self.decisions.verdicts.values(),
                self.service.exchanges,
                self.facts,
                self.order.name,
            )
