"""The report of a conformance run: as text, as JSON, and as JUnit for CI."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import asdict, field
from urllib.parse import urlsplit

from simulator.conformance.rules import Finding, Tally
from simulator.conformance.settings import ConformanceSettings
from simulator.engine.text.citations import links_of, read_by
from simulator.engine.text.json import JsonObject
from simulator.engine.text.reports import Case, Failure, Suite, counted, json_report, junit
from simulator.kernel.dataclass import dataclass
from simulator.service import TOKEN_EXCHANGE

SHOWN_NAMES = 12
"""The maximum number of names in one line of the text report. The JSON report contains all names."""


@dataclass
class Report:
    """The results of one conformance run."""

    settings: ConformanceSettings
    tally: Tally
    seconds: float = 0.0
    calls: int = 0
    unreached: dict[str, str] = field(default_factory=dict)
    """The operations that never succeeded during the run, each with the reason."""
    answers: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    """The number of times that each operation returned each status. Errors include the code: `422 amount_too_low`."""
    troubles: list[str] = field(default_factory=list)
    """The reasons why the run is incomplete: schemathesis errors and unexplained warnings."""
    notes: list[str] = field(default_factory=list)
    """Warnings that can be ignored, with the explanation."""

    @property
    def passed(self) -> bool:
        return not (self.unreached or self.broken or self.troubles or (self.settings.strict and self.differ))

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
            "floor": {"unreached": [{"operation": name, "why": why} for name, why in self.unreached.items()]},
            "promises": {"kept": tally.holding(promises=True), "broken": [asdict(found) for found in self.broken]},
            "guesses": {"kept": tally.holding(promises=False), "differ": [asdict(found) for found in self.differ]},
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
        return json_report(self.document())

    def readable(self) -> str:
        """Return the report as Markdown."""
        lines = [*self._head(), *self._floor(), *_findings("Promises broken", self.broken)]
        lines += [*_findings("Guesses that differ", self.differ), *self._unjudged()]
        for trouble in self.troubles:
            lines += ["", "## Incomplete run", "", trouble]
        if self.notes:
            lines += ["", "## Notes", *(line for note in self.notes for line in ("", note))]
        lines += ["", "## Responses"]
        for operation, answers in sorted(self.answers.items()):
            lines += ["", operation, *(f"  {count:>6}  {answer}" for answer, count in sorted(answers.items()))]
        return "\n".join([*lines, "", self.verdict]) + "\n"

    @property
    def verdict(self) -> str:
        reasons = []
        if self.broken:
            reasons.append(f"{counted(len(self.broken), 'promise')} broken")
        if self.unreached:
            reasons.append(f"{counted(len(self.unreached), 'operation')} never reached")
        if self.troubles:
            reasons.append("the run is incomplete")
        if self.settings.strict and self.differ:
            reasons.append(f"{counted(len(self.differ), 'differing guess', 'differing guesses')}")
        return f"Does not conform: {', '.join(reasons)}." if reasons else "Conforms."

    def _head(self) -> list[str]:
        settings, tally = self.settings, self.tally
        lines = [
            "# Conformance",
            "",
            f"{settings.base_url}, {settings.mode}, seed {settings.seed}: {self.calls} calls in {self.seconds:.0f} s",
            "",
            "| | met | not met |",
            "| - | - | - |",
            f"| promises (specified rules) | {tally.holding(promises=True)} | {len(self.broken)} |",
            f"| guesses (assumed rules) | {tally.holding(promises=False)} | {len(self.differ)} |",
        ]
        if settings.plays_laws:
            reached = sum(any(answer.startswith("2") for answer in counts) for counts in self.answers.values())
            lines += [f"| operations that returned 2xx | {reached} | {len(self.unreached)} |"]
        if self.broken or self.differ:
            lines += ["", "The calls below use this token:", "", f"    {self._token_line}"]
            if settings.own:
                again = f"rampsim serve --clock manual --port {urlsplit(settings.base_url).port}"
                lines += ["", f"The simulator of this run has ended. To start a similar one, run `{again}`."]
        return lines

    @property
    def _token_line(self) -> str:
        body = f'{{"public_key": "{self.settings.public_key}", "secret_key": "\'"$RAMPSIM_SECRET_KEY"\'"}}'
        return (
            f"TOKEN=$(curl -sS {self.settings.base_url}{TOKEN_EXCHANGE.path} "
            f"-H 'Content-Type: application/json' -d '{body}' "
            f"| python3 -c 'import json, sys; print(json.load(sys.stdin)[\"{TOKEN_EXCHANGE.token_field}\"])')"
        )

    def _floor(self) -> list[str]:
        if not self.unreached:
            return []
        return ["", "## Never reached", "", *(f"- {name}: {why}" for name, why in self.unreached.items())]

    def _unjudged(self) -> list[str]:
        reasons: dict[str, list[str]] = {}
        for name, why in sorted(self.tally.unjudged.items()):
            reasons.setdefault(why, []).append(name)
        lines = ["", "## Not judged"] if reasons else []
        for why, names in sorted(reasons.items()):
            lines += ["", f"{len(names)}, because {why}: {_some(names)}"]
        return lines

    def junit(self) -> str:
        """Return a JUnit report with a case for each rule and for each operation that must succeed at least once."""
        cases: list[Case] = []
        for name, rule in sorted(self.tally.rules.items()):
            found = "\n\n".join(_words(one) for one in self.tally.findings.values() if one.rule == name)
            fails = bool(found) and (rule.promise or self.settings.strict)
            failure = Failure(f"{rule.title} ({rule.basis})", found) if fails else None
            kind, unjudged = "promise" if rule.promise else "guess", self.tally.unjudged.get(name, "")
            cases.append(Case(kind, name, failure, unjudged, "" if fails else found))
        unreached = {name: Failure(why) for name, why in self.unreached.items()}
        cases += [Case("floor", name, unreached.get(name)) for name in sorted({*self.answers, *unreached})]
        cases += [Case("run", "the whole run", Failure(trouble)) for trouble in self.troubles]
        return junit(Suite("rampsim conform", cases, self.seconds))


def _findings(title: str, findings: list[Finding]) -> list[str]:
    """Return the lines for the findings. A finding that many operations share is listed once."""
    alike: dict[tuple[str, str, str], list[Finding]] = {}
    for found in findings:
        alike.setdefault((found.rule, found.place, found.message), []).append(found)
    lines = ["", f"## {title}"] if findings else []
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
    answer = f"→ {found.status} {found.answer}" if found.status else "→ no response"
    read = f"\nread: {commands}" if (commands := read_by(found.basis)) else ""
    return f"{found.message}{times}\nby: {found.basis}{read}\n\n{call}\n    {answer}"
