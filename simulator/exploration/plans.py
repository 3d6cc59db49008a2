"""The runs of a plan: fault classes times the sites they match."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict

from simulator.exploration.arming import Arming, Site
from simulator.exploration.catalogue import CLASSES
from simulator.exploration.runs.tasks import Document
from simulator.exploration.sites import sites_of
from simulator.kernel.dataclass import dataclass

PLANS = ("quick", "pair", "full")


@dataclass(frozen=True)
class Run:
    """One test under one fault. `plan` is its `Arming` as JSON."""

    id: str
    test: str
    fault: str
    site: str
    plan: Document


def runs_of(baselines: Mapping[str, Document], plan: str, classes: Sequence[str] = tuple(CLASSES)) -> list[Run]:
    """Return the runs of a plan, from the evidence of the tests without faults.

    `quick`: each class once for each operation, event type or transaction type, in the first test that has it.
    `pair`: in each test, the first and the last occurrence, for calls per event that they react to: the read after the
    final event matters more often than the first one. `full`: every occurrence. Under `pair`, a class that takes real
    time is planned as under `quick`, unless classes are named.
    """
    found: list[Run] = []
    seen: set[tuple[str, str]] = set()
    all_classes = set(classes) == set(CLASSES)
    for test, evidence in baselines.items():
        sites = sites_of(evidence)
        for name in classes:
            made = CLASSES[name]
            fitting = [(site, made.arm(site)) for site in sites if site.kind == made.kind]
            armed = [(site, arming) for site, arming in fitting if arming is not None]
            if plan == "quick" or (plan == "pair" and all_classes and made.seconds):
                firsts = {
                    site.what: (site, arming) for site, arming in reversed(armed) if (name, site.what) not in seen
                }
                seen.update((name, what) for what in firsts)
                armed = [one for one in armed if one in firsts.values()]
            elif plan == "pair":
                ends: dict[tuple[str, str], list[str]] = {}
                for site, _ in armed:
                    ends.setdefault((site.what, site.cause), []).append(site.name)
                chosen = {name for names in ends.values() for name in (names[0], names[-1])}
                armed = [(site, arming) for site, arming in armed if site.name in chosen]
            found += (run_at(test, name, site, arming) for site, arming in armed)
    return found


def run_at(test: str, fault: str, site: Site, arming: Arming) -> Run:
    """Return the run of a test with a fault class armed at a site."""
    return Run(_id(test, fault, site.name), test, fault, site.name, {**asdict(arming), "world": site.facts["world"]})


def _id(*parts: str) -> str:
    """Return the name of a run, stable as long as test, fault and site are."""
    return f"{parts[1]}-{hashlib.sha256('|'.join(parts).encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"


def expected_seconds(runs: Sequence[Run], seconds: Mapping[str, float], workers: int) -> float:
    """Estimate the time of runs from their tests' time without faults. Waiting runs are parallel to the others."""
    works = sum(seconds[run.test] for run in runs)
    return _lasting(works, sum(CLASSES[run.fault].seconds for run in runs), workers)


def _lasting(works: float, waits: float, workers: int) -> float:
    """Return the time that so many seconds of work and of waiting take."""
    works, waits = works / workers, waits / waiting(workers)
    return works + waits if workers == 1 else max(works, waits)


def waiting(workers: int) -> int:
    """Return how many runs may wait for a late response at a time, in parallel to so many working ones.

    Waiting takes no processor time, but each run is a process that costs memory and a second of processor time to
    start. With one worker there is one run at a time.
    """
    return 3 * workers if workers > 1 else 1


NONE = "none"
"""The name used instead of a fault class for defects without any fault."""


def without_fault(test: str) -> Run:
    return Run(_id(test, NONE, ""), test, NONE, "", {})


def within(runs: Sequence[Run], seconds: Mapping[str, float], workers: int, budget: float | None) -> list[Run]:
    """Return the runs that fit a budget of seconds, in order; never more than are expected to fit.

    Each class comes first, then each class at each operation, event type or transaction type, then the same in each
    test. A run that no longer fits is skipped for later ones that do.
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
        more_works, more_waits = works + seconds[run.test], waits + CLASSES[run.fault].seconds
        if _lasting(more_works, more_waits, workers) <= budget:
            works, waits = more_works, more_waits
            chosen.append(number)
    return [runs[number] for number in sorted(chosen)]
