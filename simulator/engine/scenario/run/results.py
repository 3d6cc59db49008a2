"""The result of a scenario run: its timeline and checks, available as text or as a JUnit suite."""

from __future__ import annotations

from dataclasses import field

from simulator.engine.text.reports import Case, Failure, Suite
from simulator.kernel.dataclass import dataclass


@dataclass(frozen=True)
class TimelineEntry:
    """One line in the timeline of a run. `at` is simulated time."""

    at: str
    kind: str
    text: str


@dataclass(frozen=True)
class Check:
    """The result of the steps in `drive`, or of one expectation in `expect`."""

    name: str
    problem: str = ""
    """Why the check failed, or "" if it passed."""

    @property
    def passed(self) -> bool:
        return not self.problem


@dataclass
class RunResult:
    """The result of running one scenario. It passes if all steps of `drive` succeed and all expectations are met."""

    name: str
    world: str = ""
    timeline: list[TimelineEntry] = field(default_factory=list)
    checks: list[Check] = field(default_factory=list)

    @property
    def passed(self) -> bool:
        return all(check.passed for check in self.checks)

    def readable(self) -> str:
        """Return the timeline and the checks as text."""
        lines = [f"Scenario {self.name}"]
        lines += [f"  {line.at}  {line.kind:<7}  {line.text}" for line in self.timeline]
        for check in self.checks:
            lines.append(f"  {'ok' if check.passed else 'FAILED'}  {check.name}")
            lines += [f"          {part}" for part in check.problem.splitlines()]
        if self.passed and len(self.checks) == 1:  # The drive is the only check.
            lines.append("  note  it has no `expect`, so only its calls were checked")
        lines.append(f"{'Passed' if self.passed else 'Failed'}: {self.name}")
        return "\n".join(lines)

    def suite(self) -> Suite:
        """The result as a JUnit suite, with one test case for the `drive` section and one for each expectation."""
        cases = []
        for check in self.checks:
            failure = None if check.passed else Failure(check.problem.splitlines()[0], check.problem)
            cases.append(Case(f"scenario.{self.name}", check.name, failure))
        return Suite(self.name, cases, output=self.readable())
