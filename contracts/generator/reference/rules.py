"""`reference/rules.md`: the rules of the specification in our own words, each with the anchors by which it is cited.

The provider's `rules.yaml` has them. What checks a rule is found by the clause that a law of `rampsim conform`, a rule
of `rampsim certify` or a kind of advice names.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from contracts.generator.decisions import data_of
from simulator.certification.rules import RULES
from simulator.engine.insight.lessons import kinds
from simulator.engine.text.citations import places_of, slug
from simulator.exploration.judgement.fixes import ADVICE
from simulator.exploration.plans import NONE
from simulator.host import vocabulary
from simulator.service import TOOLING


@dataclass(frozen=True, slots=True)
class RuleText:
    """One rule: its id, what it says, the further words it is cited by, and the decisions that fill what it leaves."""

    id: str
    rule: str
    cites: tuple[str, ...]
    see: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Clause:
    """A heading of the specification with its rules."""

    name: str
    rules: tuple[RuleText, ...]


@cache
def chapters() -> Mapping[str, tuple[str, tuple[Clause, ...]]]:
    """By the title of each chapter what it is about, and its clauses."""
    return {
        chapter["chapter"]: (
            chapter["says"],
            tuple(
                Clause(
                    section["clause"],
                    tuple(
                        RuleText(row["id"], row["rule"], tuple(row.get("cites", ())), tuple(row.get("see", ())))
                        for row in section["rules"]
                    ),
                )
                for section in chapter["sections"]
            ),
        )
        for chapter in data_of(TOOLING.rules)
    }


def cited() -> Iterator[tuple[str, str, str]]:
    """Everything that cites clauses: (who, name, clause), in order."""
    for played in TOOLING.rulebook().rules:
        yield "conform", played.name, played.basis
    for examined in RULES:
        yield "certify", examined.name, examined.clause
    for name, kind in kinds(vocabulary()).items():
        yield "advice", name, kind.clause
    for name, advice in ADVICE.items():
        yield "explore", name, advice.clause


@cache
def _checks() -> Mapping[str, Mapping[str, tuple[str, ...]]]:
    """By anchor of this page who checks what stands there, and by which names."""
    found: dict[str, dict[str, list[str]]] = {}
    for who, name, clause in cited():
        if (who, name) == ("explore", NONE):  # the run without faults cites, and checks nothing
            continue
        for page, anchor in places_of(clause):
            if page == "reference/rules":
                names = found.setdefault(anchor, {}).setdefault(who, [])
                if name not in names:
                    names.append(name)
    return {anchor: {who: tuple(names) for who, names in by.items()} for anchor, by in found.items()}


def page() -> str:
    """The page as Markdown."""
    lines = [
        "# Rules",
        "",
        "What the specification of the service promises, in our own words. All of it holds in every world, always; "
        "[what it leaves open](assumptions.md) is decided elsewhere and marked as assumed.",
        "",
        "The headings are those that `x-basis` names in the contract. Every rule has an id, which never changes: "
        "reports of `rampsim advice`, `rampsim certify` and `rampsim conform` link to it. Beneath a rule stands what "
        "checks it: laws that `rampsim conform` plays against a service, rules that `rampsim certify` examines a "
        "receiver of webhooks by, kinds of `rampsim advice`, and classes of faults of `rampsim explore`.",
    ]
    for title, (says, clauses) in chapters().items():
        lines += ["", f"## {title}", "", says]
        for clause in clauses:
            lines += ["", f"### {clause.name}"]
            if whole := _checked([slug(clause.name)]):
                lines += ["", f"Checked as a whole: {whole}."]
            for one in clause.rules:
                lines += ["", *_rule(one)]
    return "\n".join(lines) + "\n"


def _rule(rule: RuleText) -> list[str]:
    anchors = list(dict.fromkeys([rule.id, *map(slug, rule.cites)]))
    marks = "".join(f'<a id="{anchor}"></a>' for anchor in anchors)
    text = [f"{marks}**[{rule.id}](#{rule.id})**: {rule.rule}"]
    told = [f"Checked: {checked}."] if (checked := _checked(anchors)) else []
    if rule.see:
        told.append(f"What it leaves open: {', '.join(f'[{one}](assumptions.md#{one})' for one in rule.see)}.")
    return [*text, "", f"*{' '.join(told)}*"] if told else text


def _checked(anchors: Iterable[str]) -> str:
    by: dict[str, dict[str, None]] = {}
    for anchor in anchors:
        for who, names in _checks().get(anchor, {}).items():
            by.setdefault(who, {}).update(dict.fromkeys(names))
    return "; ".join(f"{who} {', '.join(f'`{name}`' for name in names)}" for who, names in by.items())
