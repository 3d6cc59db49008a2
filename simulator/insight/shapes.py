"""What the traffic tells: the findings of advice, and the coverage report."""

from __future__ import annotations

from typing import Annotated, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from simulator.wire.advice import Severity
from simulator.wire.shapes import Count, Timestamp

Percent = Annotated[float, Field(ge=0, le=100)]


class Finding(TypedDict):
    """`requests` are ids of interface calls, `evidence` ids of anything else; `world` stands in lists of all worlds."""

    id: str
    world: NotRequired[str]
    kind: str
    severity: Severity
    subject: str
    message: str
    what_to_do: str
    clause: str
    count: Count
    requests: list[str]
    evidence: list[str]
    first_at: Timestamp | None
    last_at: Timestamp | None


class AdviceList(TypedDict):
    data: list[Finding]


class FirstEvidence(TypedDict):
    world: str
    id: str


class CoverageItem(TypedDict):
    item: str
    covered: bool
    first: FirstEvidence | None


class OperationItem(CoverageItem):
    method: str
    path: str
    called: Count
    succeeded: Count


class ErrorItem(CoverageItem):
    operation: str
    code: str
    hits: Count


class StateItem(CoverageItem):
    kind: str
    state: str
    hits: Count


TransitionItem = TypedDict(
    "TransitionItem",
    {
        "item": str,
        "covered": bool,
        "first": FirstEvidence | None,
        "kind": str,
        "from": str,
        "trigger": str,
        "to": str,
        "hits": Count,
    },
)


class EventItem(CoverageItem):
    emitted: Count
    delivered: Count
    acknowledged: Count


class ListItem(CoverageItem):
    path: str
    pages: Count
    further_pages: Count


class PracticeItem(CoverageItem):
    meaning: str
    hits: Count


class CoverageTotals(TypedDict):
    """`percent` is rounded down, so that 100 means everything."""

    title: str
    covered: Count
    total: Count
    percent: Percent


class OperationCoverage(CoverageTotals):
    items: list[OperationItem]


class ErrorCoverage(CoverageTotals):
    items: list[ErrorItem]


class StateCoverage(CoverageTotals):
    items: list[StateItem]


class TransitionCoverage(CoverageTotals):
    items: list[TransitionItem]


class EventCoverage(CoverageTotals):
    items: list[EventItem]


class ListCoverage(CoverageTotals):
    items: list[ListItem]


class PracticeCoverage(CoverageTotals):
    items: list[PracticeItem]


class CoverageDimensions(TypedDict):
    operations: OperationCoverage
    errors: ErrorCoverage
    states: StateCoverage
    transitions: TransitionCoverage
    events: EventCoverage
    lists: ListCoverage
    practices: PracticeCoverage


class UndeclaredError(TypedDict):
    item: str
    hits: Count


class CoverageReport(TypedDict):
    world: str
    covered: Count
    total: Count
    percent: Percent
    dimensions: CoverageDimensions
    undeclared: list[UndeclaredError]
