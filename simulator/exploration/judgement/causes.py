"""Findings grouped by cause. One defect of an application causes findings in many runs but is reported once."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import NamedTuple

from simulator.engine.text.json import loads
from simulator.exploration.catalogue import CLASSES, ORDERS
from simulator.exploration.judgement.judging import Problem, Verdict
from simulator.exploration.plans import Run


class Advice(NamedTuple):
    """Advice for a fault class: what happens, the usual fix, and the clause that supports the advice."""

    means: str
    mend: str
    clause: str


_READ = loads(files(__package__).joinpath("fixes.json").read_bytes())
VERDICTS: Mapping[str, str] = _READ["verdicts"]
"""The meaning of each verdict, in one sentence."""
ADVICE: Mapping[str, Advice] = {name: Advice(*texts) for name, texts in _READ["classes"].items()}
"""Advice for each fault class. `none` is for defects that occur without a fault."""


def advice_of(fault: str) -> Advice:
    """Return the advice for a run's fault, which may be two faults joined by `+`."""
    parts = [ADVICE[name] for name in fault.split("+")]
    return Advice(*(" ".join(dict.fromkeys(texts)) for texts in zip(*parts, strict=True)))


FAMILIES: Mapping[str, tuple[str, Sequence[str]]] = {
    name: (says, classes) for name, (says, *classes) in _READ["causes"].items()
}
"""Fault classes that find the same mistake. Each entry has a name for the group, and the classes in it."""
_FAMILY_OF = {fault: name for name, (_, classes) in FAMILIES.items() for fault in classes}
_REFUSED_FIRST = ("webhook-forged", "webhook-stale")


class Judged(NamedTuple):
    """A completed run with its verdict."""

    run: Run
    verdict: Verdict
    outcome: str
    timeline: Sequence[Sequence[str]] = ()
    """The history. Included for findings and for replayed runs."""
    books: Sequence[Problem] = ()
    """The differences between the integrator's records and the simulator's ledger."""


class Cause(NamedTuple):
    """One defect of the application. `findings`: the runs that reveal it. The report shows the first run in full."""

    id: str
    text: str
    findings: Sequence[Judged]

    @property
    def verdict(self) -> str:
        return self.findings[0].verdict.verdict


def key_of(one: Judged) -> tuple[str, str, str]:
    """Return a key that is the same for all findings with the same cause: fault family, location and verdict.

    Failed calls are grouped by operation, because different code handles them. Failed deliveries are not grouped by
    event type, because one receiver gets all deliveries.
    """
    fault, verdict = one.run.fault, one.verdict.verdict
    family = _FAMILY_OF.get(fault, fault)
    if fault == ORDERS.name:
        return family, one.run.site.partition(": ")[0], verdict
    if fault in _REFUSED_FIRST and verdict != "forged-accepted":
        family = _FAMILY_OF["webhook-late"]  # the forgery was correctly refused, so the genuine delivery was late
    if fault in CLASSES and CLASSES[fault].kind in ("line", "hold"):
        line = one.run.site.partition(" #")[0].partition(" at ")[0].partition(" while ")[0]
        return family, line, verdict  # without the event type and the work that goes on
    is_delivery = fault in CLASSES and CLASSES[fault].kind == "delivery"
    return family, "" if is_delivery else one.run.site.partition(" #")[0], verdict


def causes_of(findings: Sequence[Judged]) -> list[Cause]:
    """Return the causes of findings, in the order of their first findings."""
    groups: dict[tuple[str, str, str], list[Judged]] = {}
    for one in findings:
        groups.setdefault(key_of(one), []).append(one)
    digests = {key: hashlib.sha256("|".join(key).encode()).hexdigest()[:8] for key in groups}
    return [Cause(f"cause-{key[0]}-{digests[key]}", _text(*key), group) for key, group in groups.items()]


def _text(family: str, place: str, verdict: str) -> str:
    says = FAMILIES[family][0] if family in FAMILIES else advice_of(family).means
    return f"{place}: {says}" if place else says
