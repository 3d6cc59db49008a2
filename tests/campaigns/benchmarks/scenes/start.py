"""The time from the start of the process to the first created quote, and the memory at that point.

The time is CPU time, because a start waits for nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tests.campaigns.benchmarks.client import QUOTE, signed_in
from tests.campaigns.benchmarks.plan import Plan, sample
from tests.campaigns.benchmarks.results import Sample
from tests.campaigns.benchmarks.servers import TWIN, Subject


def measure(simulators: Sequence[Subject], plan: Plan) -> Iterator[Sample]:
    subjects = [TWIN, *simulators]
    for subject in subjects:  # what a first start makes, as compiled modules, is there for the ones that count
        list(_start(subject))
    for _ in range(plan.rounds):
        for subject in subjects:
            yield from _start(subject)


def _start(subject: Subject) -> Iterator[Sample]:
    with subject.running() as server, signed_in(server) as client:
        client.call("POST", "/v1/quotes", QUOTE)
        spent, memory = server.cpu, server.resident
    yield sample("start", subject, spent)
    yield sample("memory-start", subject, memory / 1e6)
