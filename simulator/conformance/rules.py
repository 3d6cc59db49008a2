"""What a rule is, and what came of each: kept so many times, or broken at these places."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import field

from simulator.kernel.dataclass import dataclass

SHOWN_CHARACTERS = 600

_TOKEN = re.compile(r'("access_token":\s*")[^"]*')


@dataclass(frozen=True)
class Rule:
    """One thing that is judged. A promise rests on a clause of the specification, a guess on an assumption."""

    name: str
    title: str
    basis: str
    promise: bool


@dataclass
class Finding:
    """One rule that does not hold at one place of one operation; shown as it was met first, counted as often as met."""

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
class AssumedPoint:
    """A point that promises are judged at, and that an alternative of an assumption may change."""

    assumption: str
    covers: Callable[[Finding], bool]
    """Whether a break is what a service answers for which an alternative of the assumption holds."""

    def rule(self, broken: Rule) -> Rule:
        """The rule that is broken there, as a guess."""
        title = f"{broken.title.removesuffix('.')}, as far as assumed."
        return Rule(f"{broken.name}.assumed", title, self.assumption, promise=False)


@dataclass
class Tally:
    """What has been judged so far. `secret` is masked wherever a finding shows it, and so are tokens."""

    secret: str = ""
    rules: dict[str, Rule] = field(default_factory=dict)
    judged: dict[str, int] = field(default_factory=dict)
    broken: dict[str, int] = field(default_factory=dict)
    findings: dict[tuple[str, str, str], Finding] = field(default_factory=dict)
    unjudged: dict[str, str] = field(default_factory=dict)
    """Why a rule could not be judged, by its name."""
    assumed: Sequence[AssumedPoint] = ()
    """Where a broken promise is a guess that differs."""

    def knows(self, rules: Sequence[Rule]) -> None:
        self.rules |= {rule.name: rule for rule in rules}

    def kept(self, rule: Rule, times: int = 1) -> None:
        self.rules[rule.name] = rule
        self.judged[rule.name] = self.judged.get(rule.name, 0) + times

    def breaks(self, rule: Rule, finding: Finding) -> None:
        """Count a finding with those of the same rule, operation and place."""
        point = next((one for one in self.assumed if one.covers(finding)), None) if rule.promise else None
        if point is not None:
            rule = point.rule(rule)
            finding.rule, finding.basis = rule.name, rule.basis
        self.kept(rule, finding.count)
        # Bodies stand in single quotes: these end there, and the shell puts the secret in.
        finding.curl = self._masked(finding.curl, "'\"$RAMPSIM_SECRET_KEY\"'")
        finding.answer = self._masked(finding.answer, "***")
        self.broken[rule.name] = self.broken.get(rule.name, 0) + finding.count
        known = self.findings.setdefault((finding.rule, finding.operation, finding.place), finding)
        if known is not finding:
            known.count += finding.count

    def has_shape(self, operation: str, place: str) -> bool:
        """Whether a place has been found to be of another shape: then what a law reads there is no second fault."""
        return any(
            found.operation == operation and found.place == place and found.rule.startswith("shape.")
            for found in self.findings.values()
        )

    def _masked(self, text: str, shown: str) -> str:
        hidden = text.replace(self.secret, shown) if self.secret else text
        return _TOKEN.sub(r"\1***", hidden)

    def found(self, *, promises: bool) -> list[Finding]:
        return [found for found in self.findings.values() if self.rules[found.rule].promise is promises]

    def holding(self, *, promises: bool) -> int:
        """How many rules were judged and held every time."""
        return sum(
            1
            for name, times in self.judged.items()
            if times and self.rules[name].promise is promises and name not in self.broken
        )
