"""One run of `rampsim probe` against a service, from authentication to the observed file."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from simulator.engine.text.json import JsonObject
from simulator.engine.worlds.observations import Observed
from simulator.evidence import observed
from simulator.evidence.facts import read_facts
from simulator.evidence.flow import read_steps
from simulator.evidence.planning import Options, plan, read_probes
from simulator.evidence.probing import Decisions, Verdict, decide
from simulator.evidence.remote import NotTheService, RemoteService, SpentBudget
from simulator.kernel.dataclass import replace
from simulator.service import TOOLING


class NotSaved(Exception):
    """Raised if the file with the verdicts (`--out`) cannot be written. The message is one line."""


class Session:
    """A run and its results."""

    def __init__(
        self,
        service: RemoteService,
        environment: str,
        options: Options,
        *,
        name: str = "",
        out: Path | None = None,
        earlier: Observed | None = None,
    ) -> None:
        """`name`: the name of the target, or "" for the name in the earlier file. `out`: the path of the observed file.
        `earlier`: the content of this file before the run. The run continues it.
        """
        self.service, self.out = service, out
        self._environment, self._options, self._name, self._earlier_file = environment, options, name, earlier
        self._probing, self._switches = TOOLING.probing(), TOOLING.alternatives()
        self._document = read_probes(self._probing)
        self.facts: JsonObject = {}
        self._earlier: dict[str, Verdict] = {}
        self._exchanges_before = 0
        if earlier is not None and out is not None:
            self._earlier = {one.id: one for one in observed.verdicts_in(earlier, self._switches)}
            service.exchanges[:] = observed.exchanges_in(out)
            self._exchanges_before = len(service.exchanges)
            self.facts |= earlier.facts
        self._decide_with(options)
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
                service.recognize(self._probing.landmarks)
            for name, why in service.drop_unknown(self._probing.unknown_values).items():
                option = f"--{name.replace('_', '-')}"
                warn(f"{option}: the target does not accept this value ({why}). Probes that need it are skipped")
        try:
            options = self._prepared(warn)
            self._decide_with(options)
            steps = read_steps(self._probing.steps)
            if self._earlier_file is not None:  # probes that decide nothing again must not use up the calls of each run
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
            raise NotTheService(f"{self.service.base_url}: sign-in succeeds, but every other call failed. {self.ended}")

    def _read_facts(self, report: Callable[[str], None]) -> None:
        if not self._options.only:
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
        options, service = self._options, self.service
        if service.control is not None or not self._has_open:
            return options
        step, stamp = self._probing.clock
        with suppress(NotTheService, SpentBudget):  # one failed call must not end the run
            service.read_clock(read_steps(self._probing.steps)[step], stamp, rate=options.wait_seconds > 0)
        options = replace(options, time_rate=service.time_rate)
        if service.listener is not None and (problem := service.register()):
            warn(f"the probe cannot receive events: {problem}")
            options = replace(options, sees_events=False)
        return options

    def save(self) -> None:
        """Write the observed file, with the exchanges that its verdicts refer to. It keeps the date and the other
        verdicts of the file that the run continues. Raise `NotSaved` if it cannot be written.
        """
        if self.out is None:
            return
        every = {**self._earlier, **self.decisions.verdicts}
        decided = [every[one] for one in self._switches if one in every and every[one].verdict != "undecided"]
        verdicts, exchanges = observed.referred(decided, self.service.exchanges)
        name, date = "target", None
        if self._earlier_file is not None:
            name = str(self._earlier_file.target.get("name"))
            date = datetime.date.fromisoformat(self._earlier_file.date)
        about = self.service.base_url, self._environment
        try:
            observed.write(self.out, *about, verdicts, exchanges, self.facts, self._name or name, date)
        except OSError as error:
            raise NotSaved(f"cannot write {self.out}: {error.strerror or error}") from None
