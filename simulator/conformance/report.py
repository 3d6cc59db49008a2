"""What a run found, as JSON for programs, as JUnit for CI and as text for people."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, field
from urllib.parse import urlsplit

from simulator.conformance.rules import Finding, Tally
from simulator.conformance.settings import ConformanceSettings
from simulator.engine.text.citations import links_of, read_by
from simulator.engine.text.json import JsonObject
from simulator.kernel.dataclass import dataclass

SHOWN_NAMES = 12
"""So many rules of one reason, or operations of one fault, are named in the text; the JSON has all."""


def nobody(text: str) -> None:
    """Who waits for a run without looking: what is said of its course goes nowhere."""


@dataclass(frozen=True)
class Unreached:
    """An operation that never succeeded in the run, and what it answered instead."""

    operation: str
    why: str


@dataclass
class Report:
    """One run: what it did, what held, what did not, and what it could not see."""

    settings: ConformanceSettings
    tally: Tally
    seconds: float = 0.0
    calls: int = 0
    unreached: list[Unreached] = field(default_factory=list)
    answers: dict[str, Counter[str]] = field(default_factory=dict)
    """Per operation, how often each status came, with its code where it is an error: `422 amount_too_low`."""
    troubles: list[str] = field(default_factory=list)
    """What kept the run from being whole: errors of schemathesis, warnings that nothing accounts for."""
    notes: list[str] = field(default_factory=list)
    """Warnings that something accounts for."""

    @property
    def passed(self) -> bool:
        differing = self.settings.strict and self.differ
        return not (self.unreached or self.broken or self.troubles or differing)

    @property
    def broken(self) -> list[Finding]:
        return self.tally.found(promises=True)

    @property
    def differ(self) -> list[Finding]:
        return self.tally.found(promises=False)

    def document(self) -> JsonObject:
        tally = self.tally
        return {
            "passed": self.passed,
            "target": self.settings.base_url,
            "mode": self.settings.mode,
            "seed": self.settings.seed,
            "seconds": round(self.seconds, 1),
            "calls": self.calls,
            "floor": {"unreached": [asdict(row) for row in self.unreached]},
            "promises": {
                "kept": tally.holding(promises=True),
                "broken": [asdict(found) for found in self.broken],
            },
            "guesses": {
                "kept": tally.holding(promises=False),
                "differ": [asdict(found) for found in self.differ],
            },
            "unjudged": [{"rule": name, "why": why} for name, why in sorted(tally.unjudged.items())],
            "troubles": self.troubles,
            "rules": [
                {
                    "rule": rule.name,
                    "title": rule.title,
                    "promise": rule.promise,
                    "basis": rule.basis,
                    "docs": links_of(rule.basis),
                    "judged": tally.judged.get(name, 0),
                }
                for name, rule in sorted(tally.rules.items())
            ],
            "answers": {operation: dict(sorted(counts.items())) for operation, counts in sorted(self.answers.items())},
        }

    def json(self) -> str:
        return json.dumps(self.document(), indent=2, ensure_ascii=False) + "\n"

    def readable(self) -> str:
        """The report as Markdown that reads well as it is."""
        lines = [*self._head(), *self._floor(), *_findings("Promises broken", self.broken)]
        lines += [*_findings("Guesses that differ", self.differ), *self._unjudged()]
        for trouble in self.troubles:
            lines += ["", "## The run is not whole", "", trouble]
        if self.notes:
            lines += ["", "## Notes", *(line for note in self.notes for line in ("", note))]
        lines += ["", "## What came back"]
        for operation, answers in sorted(self.answers.items()):
            lines += ["", operation, *(f"  {count:>6}  {answer}" for answer, count in sorted(answers.items()))]
        return "\n".join([*lines, "", self.verdict]) + "\n"

    @property
    def verdict(self) -> str:
        reasons = []
        if self.broken:
            reasons.append(f"{_count(self.broken, 'promise')} broken")
        if self.unreached:
            reasons.append(f"{_count(self.unreached, 'operation')} never reached")
        if self.troubles:
            reasons.append("the run is not whole")
        if self.settings.strict and self.differ:
            reasons.append(f"{_count(self.differ, 'guess')} that differ{'s' if len(self.differ) == 1 else ''}")
        if reasons:
            return f"Does not conform: {', '.join(reasons)}."
        return "Conforms."

    def _head(self) -> list[str]:
        settings, tally = self.settings, self.tally
        lines = [
            "# Conformance",
            "",
            f"{settings.base_url}, {settings.mode}, seed {settings.seed}: {self.calls} calls in {self.seconds:.0f} s",
            "",
            "| | kept | not kept |",
            "| - | - | - |",
            f"| promises of the specification | {tally.holding(promises=True)} | {len(self.broken)} |",
            f"| guesses of this contract | {tally.holding(promises=False)} | {len(self.differ)} |",
        ]
        if settings.plays_laws:
            lines += [f"| operations that answered 2xx | {self._reached} | {len(self.unreached)} |"]
        if self.broken or self.differ:
            lines += ["", "The calls below take their token from here:", "", f"    {self._token_line}"]
            if settings.own:
                port = urlsplit(settings.base_url).port
                again = f"rampsim serve --clock manual --port {port}"
                lines += ["", f"The simulator of this run has ended; `{again}` starts one like it."]
        return lines

    @property
    def _reached(self) -> int:
        return sum(1 for counts in self.answers.values() if any(answer.startswith("2") for answer in counts))

    @property
    def _token_line(self) -> str:
        body = f'{{"public_key": "{self.settings.public_key}", "secret_key": "\'"$RAMPSIM_SECRET_KEY"\'"}}'
        return (
            f"TOKEN=$(curl -sS {self.settings.base_url}/auth/token -H 'Content-Type: application/json' -d '{body}' "
            "| python3 -c 'import json, sys; print(json.load(sys.stdin)[\"access_token\"])')"
        )

    def _floor(self) -> list[str]:
        if not self.unreached:
            return []
        return ["", "## Never reached", "", *(f"- {row.operation}: {row.why}" for row in self.unreached)]

    def _unjudged(self) -> list[str]:
        reasons: dict[str, list[str]] = {}
        for name, why in sorted(self.tally.unjudged.items()):
            reasons.setdefault(why, []).append(name)
        if not reasons:
            return []
        lines = ["", "## Not judged"]
        for why, names in sorted(reasons.items()):
            lines += ["", f"{len(names)}, because {why}: {_some(names)}"]
        return lines

    def junit(self) -> str:
        """One test case for each rule, and one for each operation that has to be reached."""
        unreached = {row.operation: row.why for row in self.unreached}
        suite = ElementTree.Element("testsuite", name="rampsim conform", time=f"{self.seconds:.1f}")
        failures = 0
        for name, rule in sorted(self.tally.rules.items()):
            case = ElementTree.SubElement(suite, "testcase", name=name, classname=_kind(rule.promise))
            found = [one for one in self.tally.findings.values() if one.rule == name]
            if name in self.tally.unjudged:
                ElementTree.SubElement(case, "skipped", message=self.tally.unjudged[name])
            if found and (rule.promise or self.settings.strict):
                failures += 1
                failure = ElementTree.SubElement(case, "failure", message=f"{rule.title} ({rule.basis})")
                failure.text = "\n\n".join(_words(one) for one in found)
            elif found:
                ElementTree.SubElement(case, "system-out").text = "\n\n".join(_words(one) for one in found)
        for operation in sorted({*self.answers, *unreached}):
            case = ElementTree.SubElement(suite, "testcase", name=operation, classname="floor")
            if operation in unreached:
                failures += 1
                ElementTree.SubElement(case, "failure", message=unreached[operation])
        for trouble in self.troubles:
            failures += 1
            case = ElementTree.SubElement(suite, "testcase", name="the whole run", classname="run")
            ElementTree.SubElement(case, "failure", message=trouble)
        suite.set("tests", str(len(suite)))
        suite.set("failures", str(failures))
        return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True)


def _kind(promise: bool) -> str:
    return "promise" if promise else "guess"


def _count(rows: Sequence[object], name: str) -> str:
    if len(rows) == 1:
        return f"1 {name}"
    return f"{len(rows)} {name}{'es' if name.endswith('s') else 's'}"


def _findings(title: str, findings: list[Finding]) -> list[str]:
    """What is wrong in the same way at many operations is shown once, with the names of the others."""
    if not findings:
        return []
    alike: dict[tuple[str, str, str], list[Finding]] = {}
    for found in findings:
        alike.setdefault((found.rule, found.place, found.message), []).append(found)
    lines = ["", f"## {title}"]
    for found, *others in alike.values():
        place = f", {found.place}" if found.place else ""
        lines += ["", f"### {found.rule}: {found.operation}{place}", "", _words(found)]
        if others:
            lines += ["", f"The same at {_some([one.operation for one in others])}."]
    return lines


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - SHOWN_NAMES} more" if len(names) > SHOWN_NAMES else ""
    return f"{', '.join(names[:SHOWN_NAMES])}{more}"


def _words(found: Finding) -> str:
    times = f" ({found.count} times)" if found.count > 1 else ""
    call = "\n".join(f"    {line}" for line in found.curl.splitlines())
    answer = f"→ {found.status} {found.answer}" if found.status else "→ no answer"
    read = f"\nread: {commands}" if (commands := read_by(found.basis)) else ""
    return f"{found.message}{times}\nby: {found.basis}{read}\n\n{call}\n    {answer}"
