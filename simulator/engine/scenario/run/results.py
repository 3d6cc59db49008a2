"""The result of a scenario run: its timeline and checks, as text or as a JUnit report."""

from __future__ import annotations

import re
from dataclasses import field
from xml.etree.ElementTree import Element, SubElement, tostring

from simulator.kernel.dataclass import dataclass

_NOT_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True)
class TimelineEntry:
    """One line of the timeline. `at` is simulated time."""

    at: str
    kind: str
    text: str


@dataclass(frozen=True)
class Check:
    """The drive or one expectation."""

    name: str
    problem: str = ""
    """Why it failed, or "" if it passed."""

    @property
    def passed(self) -> bool:
        return not self.problem


@dataclass
class RunResult:
    """The run of one scenario. It passes if its drive and all expectations do."""

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
        lines.append(f"{'Passed' if self.passed else 'Failed'}: {self.name}")
        return "\n".join(lines)

    def junit(self) -> str:
        """A JUnit report: one test suite, one case for the drive and one for each expectation."""
        failures = sum(not check.passed for check in self.checks)
        suite = Element("testsuite", name=_xml(self.name), tests=str(len(self.checks)), failures=str(failures))
        for check in self.checks:
            case = SubElement(suite, "testcase", classname=_xml(f"scenario.{self.name}"), name=_xml(check.name))
            if not check.passed:
                failure = SubElement(case, "failure", message=_xml(check.problem.splitlines()[0]))
                failure.text = _xml(check.problem)
        SubElement(suite, "system-out").text = _xml(self.readable())
        return '<?xml version="1.0" encoding="utf-8"?>\n' + tostring(suite, encoding="unicode") + "\n"


def _xml(text: str) -> str:
    """Without the characters that XML cannot carry."""
    return _NOT_XML.sub("?", text)
