"""The behaviour part of a run: every law played once, every answer looked at."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator

from simulator.conformance.bench import Bench
from simulator.conformance.laws import Rulebook, observe, play
from simulator.conformance.report import Report, nobody
from simulator.conformance.service import Answer, Service
from simulator.conformance.shapes import ShapeJudge, judge_shape
from simulator.conformance.world import steered


def play_laws(report: Report, shapes: ShapeJudge, rulebook: Rulebook, told: Callable[[str], None] = nobody) -> None:
    """Play the laws against the report's target and enter what came of it. Unread when no token can be had."""
    settings, tally = report.settings, report.tally
    answers: dict[str, Counter[str]] = defaultdict(Counter)

    def heard(answer: Answer) -> None:
        bench.heard(answer)
        judge_shape(tally, shapes, answer)
        observe(rulebook.always, tally, answer)
        answers[answer.operation][answer.short] += 1

    def event_faults(kind: str, raw: str) -> Iterator[tuple[str, str, bool]]:
        for fault in shapes.event_faults(kind, raw):
            yield fault.place, fault.message, fault.promise

    service = Service(settings.base_url, settings.public_key, settings.secret_key, heard)
    writes = settings.mode == "full"
    tally.assumed = rulebook.assumed
    tally.knows([row.rule for row in rulebook.always])
    control = settings.control_url if writes else None
    with steered(control, settings.public_key, settings.control_token) as world:
        bench = Bench(service, tally, world, writes=writes, hook=settings.webhook_url, event_faults=event_faults)
        try:
            play(bench, rulebook.laws, rulebook.provide, told)
        finally:
            bench.close()
    for row in rulebook.always:
        if not tally.judged.get(row.rule.name):
            tally.unjudged[row.rule.name] = "no answer of this run has anything of the kind"
    for operation, counts in answers.items():
        report.answers.setdefault(operation, Counter()).update(counts)
    report.calls += sum(counts.total() for counts in answers.values())
