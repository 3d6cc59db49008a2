"""The behaviour part of a run: every law is played once, every response is judged."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

from simulator.conformance.bench import Bench
from simulator.conformance.laws import Rulebook, observe, play
from simulator.conformance.report import Report
from simulator.conformance.service import Answer, Service
from simulator.conformance.shapes import ShapeJudge, judge_shape
from simulator.conformance.world import controlled_world
from simulator.engine.text.progress import SILENT, ProgressListener


def play_laws(
    report: Report, shapes: ShapeJudge, rulebook: Rulebook, listener: ProgressListener[None] = SILENT
) -> None:
    """Play the laws against the report's target and enter the verdicts. Raise `MissingField` if there is no token."""
    settings, tally = report.settings, report.tally
    answers: dict[str, Counter[str]] = defaultdict(Counter)

    def on_answer(answer: Answer) -> None:
        bench.answer = answer
        judge_shape(tally, shapes, answer)
        observe(rulebook.always, tally, answer)
        answers[answer.operation][answer.short] += 1

    def event_faults(kind: str, raw: str) -> Iterator[tuple[str, str, bool]]:
        for fault in shapes.event_faults(kind, raw):
            yield fault.place, fault.message, fault.promise

    service = Service(settings.base_url, settings.public_key, settings.secret_key, on_answer)
    writes = settings.mode == "full"
    tally.assumed = rulebook.assumed
    tally.knows([row.rule for row in rulebook.always])
    control = settings.control_url if writes else None
    with controlled_world(control, settings.public_key, settings.control_token) as world:
        bench = Bench(service, tally, world, writes=writes, hook=settings.webhook_url, event_faults=event_faults)
        try:
            play(bench, rulebook.laws, rulebook.provide, listener)
        finally:
            bench.close()
    for row in rulebook.always:
        if not tally.judged.get(row.rule.name):
            tally.unjudged[row.rule.name] = "no response of this run has such a field"
    for operation, counts in answers.items():
        report.answers.setdefault(operation, Counter()).update(counts)
    report.calls += sum(counts.total() for counts in answers.values())
