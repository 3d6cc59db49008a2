"""Verdicts on runs with a fault, and on tests without faults."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from simulator.exploration import plans
from simulator.exploration.baselines import Baseline
from simulator.exploration.catalogue import class_of
from simulator.exploration.judgement import judging
from simulator.exploration.judgement.causes import Judged
from simulator.exploration.judgement.judging import Orders, Problem, Verdict, books_disagree, judge, judge_baseline
from simulator.exploration.judgement.masking import Names
from simulator.exploration.plans import Run
from simulator.exploration.runs.ordering import canonical
from simulator.exploration.runs.tasks import Document, Result


def own_faults(baselines: Mapping[str, Baseline]) -> list[Judged]:
    """Return a finding for each test whose run without faults leaves errors in the integrator's records."""
    found = []
    for test, one in baselines.items():
        verdict = judge_baseline(one.evidence)
        early = one.evidence.get("before")
        first = None if early is None else judge_baseline({**one.evidence, **early})
        if first is not None:
            verdict = _of_stages(first, verdict or replace(first, verdict=judging.SURVIVED))
        if verdict is not None:
            names = one.masks.names(one.evidence)
            books = _masked(books_disagree(Orders(one.evidence)), names)
            verdict = replace(verdict, note=names.masked(verdict.note))
            found.append(Judged(plans.without_fault(test), verdict, "passed", one.evidence["timeline"], books))
    return found


def _masked(books: Sequence[Problem], names: Names) -> list[Problem]:
    return [one._replace(order=names.masked(one.order), note=names.masked(one.note)) for one in books]


_EMPTY = ("transactions", "standing", "switched_off", "not_genuine", "timeline")
NOTHING: Document = {**dict.fromkeys(_EMPTY, ()), "books": None}
"""The result of a run whose process crashed."""


def verdict_on(run: Run, result: Result, baseline: Baseline) -> Judged:
    """Return the verdict on a run, and on its state before the integrator's job ran if there is evidence for it."""
    evidence = result["evidence"] or {**NOTHING, "hits": int(result["hung"])}
    verdict = _judge(run, result, evidence, baseline, baseline.evidence)
    if "before" in evidence and "before" in baseline.evidence:
        early = {**evidence, **evidence["before"]}
        first = _judge(run, result, early, baseline, {**baseline.evidence, **baseline.evidence["before"]})
        verdict = _of_stages(first, verdict)
    wanted = (run.plan.get("orders") or {}).get("wanted")
    names = baseline.masks.names(evidence)
    books_now = names.masked(canonical(evidence["books"]))
    if wanted is not None and not verdict.is_finding and books_now != wanted:
        note = f"in another order, the same deliveries lead to the books {wanted or 'nothing'}, not {books_now}"
        verdict = replace(verdict, verdict=judging.ORDER_DEPENDENT, note=note)
    if verdict.is_finding and baseline.difference:
        verdict = replace(verdict, note=f"{verdict.note} (the test is flaky, which may be the reason)")
    books = _masked(books_disagree(Orders(evidence)), names) if verdict.is_finding else ()
    return Judged(run, replace(verdict, note=names.masked(verdict.note)), result["outcome"], books=books)


def _judge(run: Run, result: Result, evidence: Document, baseline: Baseline, usual: Document) -> Verdict:
    return judge(
        usual,
        {**evidence, "failure": result["failure"]},
        passed=result["outcome"] != "failed",
        hung=result["hung"],
        strikes=class_of(run.fault).strikes,
        by_reference=baseline.masks.references is None,
    )


def _of_stages(before: Verdict, after: Verdict) -> Verdict:
    """Return the verdict `after` the `--settle` command, with the name of the verdict `before` it. If the command
    repaired the error, the result is `HIDDEN_BY_SETTLE`.
    """
    if before.is_finding and not after.is_finding:
        note = f"before your job ran, the verdict was {before.verdict}: {before.note}"
        return replace(before, verdict=judging.HIDDEN_BY_SETTLE, note=note, before=before.verdict)
    return replace(after, before=before.verdict)
