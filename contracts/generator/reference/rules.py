"""`reference/rules.md`: the rules of the specification, each with an anchor for every citation.

The rules are in the provider's `rules.yaml`. The checks of a rule are found by the clauses that rules of conform,
rules of certify, and kinds of advice cite.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from contracts.generator.decisions import data_of
from simulator.certification.rules import RULES
from simulator.engine.insight.lessons import kinds
from simulator.engine.text.citations import places_of, slug
from simulator.exploration.judgement.causes import ADVICE
from simulator.exploration.plans import NONE
from simulator.host import vocabulary
from simulator.service import TOOLING


@dataclass(frozen=True, slots=True)
class RuleText:
    """One rule with its id, its citations, and the decisions that fill its gaps (`see`)."""

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
    """Return the summary and the clauses of each chapter, by title."""
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
    """Yield (tool, name, clause) for everything that cites a clause."""
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
    """Return the names of the checks of each anchor of this page, by tool."""
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
        "These are the rules of the service's specification, in our own words. Every world follows all of them. Where "
        "the specification is silent, the simulator makes [assumptions](assumptions.md).",
        "",
        "`x-basis` in the contract cites the headings. Every rule has an id, which never changes: reports of `rampsim "
        "advice`, `rampsim certify` and `rampsim conform` link to it. The checks of each rule are listed below it: "
        "rules of `conform` for a service, rules of `certify` for a webhook receiver, kinds of `advice`, and classes "
        "of faults of `explore`.",
    ]
    for title, (says, clauses) in chapters().items():
        lines += ["", f"## {title}", "", says]
        for clause in clauses:
            lines += ["", f"### {clause.name}"]
            if whole := _checked([slug(clause.name)]):
                lines += ["", f"Checks: {whole}."]
            for one in clause.rules:
                lines += ["", *_rule(one)]
    return "\n".join(lines) + "\n"


def _rule(rule: RuleText) -> list[str]:
    anchors = list(dict.fromkeys([rule.id, *map(slug, rule.cites)]))
    marks = "".join(f'<a id="{anchor}"></a>' for anchor in anchors)
    text = [f"{marks}**[{rule.id}](#{rule.id})**: {rule.rule}"]
    notes = [f"Checks: {checked}."] if (checked := _checked(anchors)) else []
    if rule.see:
        notes.append(f"Assumptions: {', '.join(f'[{one}](assumptions.md#{one})' for one in rule.see)}.")
    return [*text, "", f"*{' '.join(notes)}*"] if notes else text


def _checked(anchors: Iterable[str]) -> str:
    by: dict[str, dict[str, None]] = {}
    for anchor in anchors:
        for who, names in _checks().get(anchor, {}).items():
            by.setdefault(who, {}).update(dict.fromkeys(names))
    return "; ".join(f"{who} {', '.join(f'`{name}`' for name in names)}" for who, names in by.items())
