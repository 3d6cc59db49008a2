"""The plan `pairs-of-faults`: two faults in one run that affect the same order.

Some defects need two failures, such as a lost response and a lost event. Two sites affect the same order if both refer
to it, or to a resource that only this order uses. The pairs cover each pair of fault classes at each operation.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from itertools import chain, combinations
from typing import NamedTuple

from simulator.exploration.arming import Arming, Site
from simulator.exploration.catalogue import AFTERWARDS, CLASSES
from simulator.exploration.judgement.causes import Judged
from simulator.exploration.plans import Run, id_of, run_at
from simulator.exploration.runs.tasks import Document
from simulator.exploration.sites import every_site
from simulator.service import TOOLING

_MOST = 40
"""The maximum number of pairs in a test."""
_SITES = 2
"""Only the first sites are paired for each class, operation and order. Of a fault that stays, it is only the first."""


class _Placed(NamedTuple):
    fault: str
    site: Site
    arming: Arming


def runs_of(baselines: Mapping[str, Document], classes: Sequence[str]) -> list[Run]:
    """Return the runs that inject two faults, at most 40 for each test, first pairs that no earlier test covers."""
    seen: set[tuple[str, ...]] = set()
    runs: list[Run] = []
    for test, evidence in baselines.items():
        pairs = sorted(_pairs(evidence, classes), key=lambda pair: _rank(test, pair))
        covered: set[tuple[str, ...]] = set()
        chosen: list[tuple[_Placed, _Placed]] = []
        for fresh in (True, False):
            for pair in pairs:
                what = _covers(pair)
                if len(chosen) < _MOST and what not in covered and (what not in seen) == fresh:
                    covered.add(what)
                    chosen.append(pair)
        seen |= covered
        runs += (_run(test, *pair) for pair in chosen)
    return runs


def _pairs(evidence: Document, classes: Sequence[str]) -> Iterator[tuple[_Placed, _Placed]]:
    """Yield all pairs of faults that have different classes, affect the same order and can happen in the same run."""
    sites = every_site(evidence)
    single = [name for name in classes if not CLASSES[name].is_planned_once]
    placed = [_Placed(name, *one) for name in single for one in CLASSES[name].placed(sites)]
    found: set[tuple[str, ...]] = set()
    for order in _orders(evidence):
        counts: Counter[tuple[str, str]] = Counter()
        mine = []
        for one in placed:
            stays = one.arming.stays
            key = (one.fault, "" if stays else one.site.what)
            if order & _names(one.site) and counts[key] < (1 if stays else _SITES):
                counts[key] += 1
                mine.append(one)
        for first, second in chain(combinations(mine, 2), _losses_of_news(order, placed, mine)):
            what = (first.fault, first.site.name, second.fault, second.site.name)
            if first.fault != second.fault and _fit(first, second) and what not in found:
                found.add(what)
                yield first, second


def _losses_of_news(
    order: frozenset[str], placed: Sequence[_Placed], mine: Sequence[_Placed]
) -> Iterator[tuple[_Placed, _Placed]]:
    """Yield pairs of faults: one that acts after the last event of an order, and one that loses the events that it
    causes. These events do not occur without faults, so the loss starts after the order's last event (variant
    `AFTERWARDS`). If it started earlier, the order would remain open in the application's records, and the defect of a
    job that checks only open orders would not be found.
    """
    losing = [one for one in placed if one.arming.stays and order & _names(one.site)]
    if not losing:
        return
    last = losing[-1]
    site = replace(last.site, variant=AFTERWARDS)
    arming = CLASSES[last.fault].arm(site)
    for one in mine:
        if arming is not None and any(rule["on"] == site.what for rule in one.arming.rules):
            yield _Placed(last.fault, site, arming), one


def _names(site: Site) -> frozenset[str]:
    given = site.facts.get("names") or (site.facts.get("object"), site.facts.get("id"), site.facts.get("reference"))
    return frozenset(name for name in given if name)


def _orders(evidence: Document) -> list[frozenset[str]]:
    """Return, for each order, the ids and references of the order and of the resources that only this order uses."""
    found = []
    for row in evidence["transactions"]:
        own = {name for name in (row["id"], row["reference"]) if name}
        calls = [set(call["names"]) for call in evidence["calls"] if own & set(call.get("names", ()))]
        found.append(own.union(*calls))
    shared = Counter(name for names in found for name in names)
    return [frozenset(name for name in names if shared[name] == 1) for names in found]


def _fit(first: _Placed, second: _Placed) -> bool:
    """Return True if two faults can be in one run: in one world, on one target, in place of different actions."""
    one, other = first.arming, second.arming
    both_change = one.instead is not None and other.instead is not None
    same = {*(one.instead or ())} & {*(other.instead or ())}
    targets = {target for target in (one.target, other.target) if target is not None}
    in_one = first.site.facts["world"] == second.site.facts["world"]
    return in_one and len(targets) <= 1 and not (both_change and same) and not (one.rules and other.rules)


def _rank(test: str, pair: tuple[_Placed, _Placed]) -> tuple[int, int, str]:
    """Return a sort key: pairs that the provider names, then pairs at different kinds of site, then pseudorandom."""
    first, second = pair
    known = {first.fault, second.fault} in [{*names} for names in TOOLING.pairs()]
    alike = first.site.kind == second.site.kind
    text = "|".join((test, first.fault, first.site.name, second.fault, second.site.name))
    return int(not known), int(alike), hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _covers(pair: tuple[_Placed, _Placed]) -> tuple[str, ...]:
    first, second = pair
    return first.fault, second.fault, first.site.what, first.site.variant, second.site.what, second.site.variant


def _run(test: str, first: _Placed, second: _Placed) -> Run:
    fault, site = f"{first.fault}+{second.fault}", f"{first.site.name} + {second.site.name}"
    plan = {**asdict(_both(first.arming, second.arming)), "world": first.site.facts["world"]}
    return Run(id_of(test, fault, site), test, fault, site, plan)


def _both(one: Arming, other: Arming) -> Arming:
    """Combine two faults. Only the first match acts, so a fault that matches every call or delivery comes last."""
    parts = sorted((one, other), key=lambda arming: any({} in fault.values() for fault in arming.faults))
    faults = tuple(fault for part in parts for fault in part.faults)
    middle, end = len(parts[0].faults), len(faults)
    ranges = zip((0, middle), (middle, end), parts, strict=True)
    return replace(
        one,
        faults=faults,
        counted=0,
        parts=tuple((begin + part.counted, end) for begin, end, part in ranges if part.faults),
        rules=(*one.rules, *other.rules),
        instead={**(one.instead or {}), **(other.instead or {})} or None,
        target=one.target or other.target,
        mend=(*one.mend, *other.mend),
        stays=one.stays or other.stays,
        lasts=one.lasts or other.lasts,
    )


def parts_of(runs: Sequence[Run], baselines: Mapping[str, Document]) -> list[Run]:
    """Return a run for each fault in these pairs of faults. The run injects this fault alone."""
    found: dict[str, Run] = {}
    for run in runs:
        sites = every_site(baselines[run.test])
        for fault, name in zip(run.fault.split("+"), run.site.split(" + "), strict=True):
            for site, arming in CLASSES[fault].placed(sites):
                if site.name == name:
                    alone = run_at(run.test, fault, site, arming)
                    found.setdefault(alone.id, alone)
    return list(found.values())


def attributed(pairs: Sequence[Judged], alone: Sequence[Judged]) -> list[Judged]:
    """Replace each finding on a pair by the findings on one of its two faults alone, if there are any."""
    wrong = {(one.run.test, one.run.fault, one.run.site): one for one in alone if one.verdict.is_finding}
    kept: list[Judged] = []
    reasons: dict[str, Judged] = {}
    for one in pairs:
        each = zip(one.run.fault.split("+"), one.run.site.split(" + "), strict=True)
        found = [wrong[key] for fault, site in each if (key := (one.run.test, fault, site)) in wrong]
        if one.verdict.is_finding and found:
            reasons |= {each.run.id: each for each in found}
        else:
            kept.append(one)
    return [*kept, *reasons.values()]
