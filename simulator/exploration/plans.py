"""The runs in a plan: each fault class at each site that it matches."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict

from simulator.exploration.arming import Arming, Site
from simulator.exploration.catalogue import CLASSES, class_of
from simulator.exploration.runs.tasks import Document
from simulator.exploration.sites import every_site
from simulator.kernel.dataclass import dataclass

ORDERS, PAIRS = "orders", "pairs-of-faults"
PLANS = ("quick", "pair", "full", ORDERS, PAIRS)


@dataclass(frozen=True)
class Run:
    """One execution of a test with one fault. `plan` is the fault's setup as JSON (see the class `Arming`)."""

    id: str
    test: str
    fault: str
    site: str
    plan: Document


def runs_of(baselines: Mapping[str, Document], plan: str, classes: Sequence[str] = tuple(CLASSES)) -> list[Run]:
    """Return the runs in a plan, based on evidence from the tests without faults.

    `quick`: run each class once for each operation, event type or transaction type, in the first test that contains it.
    `pair`: in each test, use the first and the last occurrence. Calls are counted separately for each event that they
    react to, because a read in response to the final event matters more often than the first read. `full`: use every
    occurrence. For classes that `pair` plans once for each operation, as `quick` does, see `is_planned_once`.
    """
    found: list[Run] = []
    seen: set[tuple[str, ...]] = set()
    all_classes = set(classes) == set(CLASSES)
    for test, evidence in baselines.items():
        sites = every_site(evidence)
        for name in classes:
            made = CLASSES[name]
            armed = made.placed(sites)
            if plan == "quick" or (plan == "pair" and all_classes and made.is_planned_once):
                firsts = {
                    (site.group, site.variant): (site, arming)
                    for site, arming in reversed(armed)
                    if (name, site.group, site.variant) not in seen
                }
                seen.update((name, *what) for what in firsts)
                armed = [one for one in armed if one in firsts.values()]
            elif plan == "pair":
                ends: dict[tuple[str, ...], list[str]] = {}
                for site, _ in armed:
                    ends.setdefault((site.what, site.cause, site.variant), []).append(site.name)
                chosen = {name for names in ends.values() for name in (names[0], names[-1])}
                armed = [(site, arming) for site, arming in armed if site.name in chosen]
            found += (run_at(test, name, site, arming) for site, arming in armed)
    return found


def run_at(test: str, fault: str, site: Site, arming: Arming) -> Run:
    """Return the run that injects a fault class at a site in a test."""
    return Run(id_of(test, fault, site.name), test, fault, site.name, {**asdict(arming), "world": site.facts["world"]})


def id_of(*parts: str) -> str:
    """Return the id of a run, which depends only on the test, the fault and the site."""
    return f"{parts[1]}-{hashlib.sha256('|'.join(parts).encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"


def expected_seconds(runs: Sequence[Run], seconds: Mapping[str, float], workers: int) -> float:
    """Estimate how many seconds runs take, based on the time that their tests take without faults."""
    works = sum(seconds[run.test] for run in runs)
    return _lasting(works, sum(class_of(run.fault).seconds for run in runs), workers)


def _lasting(works: float, waits: float, workers: int) -> float:
    """Estimate how many seconds runs take that use the processor for `works` seconds in total, and wait for `waits`."""
    works, waits = works / workers, waits / waiting(workers)
    return works + waits if workers == 1 else max(works, waits)


def waiting(workers: int) -> int:
    """Return how many runs may wait at the same time, as for a late response, while `workers` others use the processor.
    Each run is a process, which uses memory and takes a second to start. With one worker, runs are sequential.
    """
    return 3 * workers if workers > 1 else 1


NONE = "none"
"""The name used in place of a fault class for defects that occur without a fault."""


def without_fault(test: str) -> Run:
    return Run(id_of(test, NONE, ""), test, NONE, "", {})


def within(runs: Sequence[Run], seconds: Mapping[str, float], workers: int, budget: float | None) -> list[Run]:
    """Return the runs whose expected time fits into a budget in seconds, in this sequence: one run of each class, then
    each class once for each operation, event type or transaction type, then the same for each test. A run that does not
    fit is skipped, and later runs that fit are included.
    """
    if budget is None:
        return list(runs)
    seen: set[tuple[str, ...]] = set()
    ranked: list[tuple[int, int]] = []
    for number, run in enumerate(runs):
        what = run.site.partition(" #")[0]
        steps = ((run.fault,), (run.fault, what), (run.fault, what, run.test))
        ranked.append((sum(step in seen for step in steps), number))
        seen.update(steps)
    chosen: list[int] = []
    works = waits = 0.0
    for _, number in sorted(ranked):
        run = runs[number]
        more_works, more_waits = works + seconds[run.test], waits + class_of(run.fault).seconds
        if _lasting(more_works, more_waits, workers) <= budget:
            works, waits = more_works, more_waits
            chosen.append(number)
    return [runs[number] for number in sorted(chosen)]
