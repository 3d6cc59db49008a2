"""Which runs there are: fault classes times the sites they fit."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict

from simulator.exploration.catalogue import CLASSES
from simulator.exploration.sites import Document, sites_of
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
    """The runs of a plan over the tests, by their evidence without faults.

    `quick`: each class once for each operation, event type or type of transaction, in the first test that has it;
    `pair`: so in each test; `full`: at each occurrence. Under `pair` a class that takes real time is planned as by
    `quick`, unless classes are named.
    """
    found: list[Run] = []
    seen: set[tuple[str, ...]] = set()
    all_classes = set(classes) == set(CLASSES)
    for test, evidence in baselines.items():
        sites = sites_of(evidence)
        for name in classes:
            for site in sites:
                place = {"quick": (name, site.what), "pair": (name, site.what, test), "full": (name, site.name, test)}
                here = place["quick" if plan == "pair" and all_classes and CLASSES[name].seconds else plan]
                if site.kind != CLASSES[name].kind or here in seen:
                    continue
                arming = CLASSES[name].arm(site)
                if arming is not None:
                    seen.add(here)
                    where = {"world": site.facts["world"]}
                    found.append(Run(_id(test, name, site.name), test, name, site.name, {**asdict(arming), **where}))
    return found


def _id(*parts: str) -> str:
    """A name for a run that stays the same as long as test, fault and site do."""
    return f"{parts[1]}-{hashlib.sha256('|'.join(parts).encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"


def expected_seconds(runs: Sequence[Run], seconds: Mapping[str, float], workers: int) -> float:
    """How long runs take, by how long their tests did without faults. Those that wait do so beside the others."""
    works = sum(seconds[run.test] for run in runs)
    return _lasting(works, sum(CLASSES[run.fault].seconds for run in runs), workers)


def _lasting(works: float, waits: float, workers: int) -> float:
    """How long it takes so many seconds of work and of waiting."""
    works, waits = works / workers, waits / waiting(workers)
    return works + waits if workers == 1 else max(works, waits)


def waiting(workers: int) -> int:
    """How many runs may wait at a time for a late answer, beside so many that work: they take no processor.

    Each is a process that costs memory, and a second of processor to begin. Who asks for one run at a time gets that.
    """
    return 3 * workers if workers > 1 else 1


NONE = "none"
"""What stands in place of a fault class for what is wrong although nothing went wrong."""


def without_fault(test: str) -> Run:
    return Run(_id(test, NONE, ""), test, NONE, "", {})


def within(runs: Sequence[Run], seconds: Mapping[str, float], workers: int, budget: float | None) -> list[Run]:
    """The runs that a budget of seconds allows, in their order; never more than is expected to fit.

    Each class comes first, then each class at each operation, event type or type of transaction, then so in each test;
    what does not fit any more makes room for what does.
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
