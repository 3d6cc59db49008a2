"""Rules, and the number of times that each rule was satisfied or broken."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import field

from simulator.kernel.dataclass import dataclass

SHOWN_CHARACTERS = 600

_TOKEN = re.compile(r'("\w*token":\s*")[^"]*')


@dataclass(frozen=True)
class Rule:
    """A rule for the service: a promise, based on a clause in the specification, or a guess, based on an assumption."""

    name: str
    title: str
    basis: str
    promise: bool


@dataclass
class Finding:
    """A rule that is broken at one path in one operation. The fields describe the first of `count` occurrences."""

    rule: str
    operation: str
    place: str
    basis: str
    message: str
    curl: str
    status: int | None
    answer: str
    count: int = 1


@dataclass(frozen=True)
class ShapeFault:
    """One difference between a response or an event and the contract."""

    word: str
    """The kind of fault, a key in `shapes.TITLES`."""
    place: str
    """The dotted path, in which [] represents any item of a list."""
    promise: bool
    basis: str
    message: str


@dataclass(frozen=True)
class AssumedPoint:
    """A case in which a promise depends on an assumption. If it is broken there, only the assumption is wrong."""

    assumption: str
    covers: Callable[[Finding], bool]
    """Whether a finding describes the behaviour under an alternative to the assumption."""

    def rule(self, broken: Rule) -> Rule:
        """Return the guess to report instead of a broken promise: the same rule, based on this assumption."""
        title = f"{broken.title.removesuffix('.')} (assumed)."
        return Rule(f"{broken.name}.assumed", title, self.assumption, promise=False)


@dataclass
class Tally:
    """The verdicts on the rules of a conformance run, collected so far."""

    secret: str = ""
    """The secret key. Findings contain neither this key nor tokens."""
    rules: dict[str, Rule] = field(default_factory=dict)
    judged: dict[str, int] = field(default_factory=dict)
    broken: dict[str, int] = field(default_factory=dict)
    findings: dict[tuple[str, str, str], Finding] = field(default_factory=dict)
    unjudged: dict[str, str] = field(default_factory=dict)
    """The reasons why rules could not be checked, by rule name."""
    assumed: Sequence[AssumedPoint] = ()
    """The points at which a broken promise counts only as a wrong guess."""

    def knows(self, rules: Sequence[Rule]) -> None:
        self.rules |= {rule.name: rule for rule in rules}

    def kept(self, rule: Rule, times: int = 1) -> None:
        self.rules[rule.name] = rule
        self.judged[rule.name] = self.judged.get(rule.name, 0) + times

    def breaks(self, rule: Rule, finding: Finding) -> None:
        """Record a finding. Findings with the same rule, operation and path are counted together."""
        point = next((one for one in self.assumed if one.covers(finding)), None) if rule.promise else None
        if point is not None:
            rule = point.rule(rule)
            finding.rule, finding.basis = rule.name, rule.basis
        self.kept(rule, finding.count)
        # Bodies are in single quotes. The replacement closes the quotes, so that the shell inserts the secret.
        finding.curl = self._masked(finding.curl, "'\"$RAMPSIM_SECRET_KEY\"'")
        finding.answer = self._masked(finding.answer, "***")
        self.broken[rule.name] = self.broken.get(rule.name, 0) + finding.count
        known = self.findings.setdefault((finding.rule, finding.operation, finding.place), finding)
        if known is not finding:
            known.count += finding.count

    def has_shape(self, operation: str, place: str) -> bool:
        """Return True if a wrong shape was found at this path, so that a rule that reads the path does not report it
        again.
        """
        return any(rule.startswith("shape.") and at == [operation, place] for rule, *at in self.findings)

    def _masked(self, text: str, shown: str) -> str:
        hidden = text.replace(self.secret, shown) if self.secret else text
        return _TOKEN.sub(r"\1***", hidden)

    def found(self, *, promises: bool) -> list[Finding]:
        return [found for found in self.findings.values() if self.rules[found.rule].promise is promises]

    def holding(self, *, promises: bool) -> int:
        """Return the number of rules that were checked and never broken."""
        held = [name for name, times in self.judged.items() if times and name not in self.broken]
        return sum(self.rules[name].promise is promises for name in held)
