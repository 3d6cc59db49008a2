"""What the traffic tells: the findings of advice, and the coverage report."""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from simulator.engine.insight.lessons import CodeChange
from simulator.engine.records.advice import SEVERITY_MEANINGS, Severity
from simulator.engine.text.shapes import Count, Meanings, Timestamp

Percent = Annotated[float, Field(ge=0, le=100)]


class Finding(TypedDict):
    """Something about the integrator's traffic that is worth a look."""

    id: str
    """Names the finding."""
    world: NotRequired[str]
    """The world it is of; in lists of all worlds."""
    kind: str
    """What sort of finding it is."""
    severity: Annotated[Severity, Meanings(SEVERITY_MEANINGS)]
    """How much it matters."""
    subject: str
    """What it is about."""
    message: str
    """What was seen, in words."""
    what_to_do: str
    """What the integrator should do."""
    clause: str
    """Where the specification speaks of it."""
    why: str
    """Why it hurts in production; empty where that says itself."""
    changes: list[CodeChange]
    """The code to change, in Python and as HTTP, as far as there is such code."""
    clause_links: list[str]
    """Where the pages of this server tell what the clause says: paths."""
    request_links: list[str]
    """Where the dashboard shows the newest of the calls: paths."""
    count: Count
    """How often it was seen."""
    requests: list[str]
    """The interface calls that show it, by their ids."""
    evidence: list[str]
    """Whatever else shows it, by ids."""
    first_at: Timestamp | None
    """When it was first seen; null where no moment is known."""
    last_at: Timestamp | None
    """When it was last seen; null where no moment is known."""


class AdviceList(TypedDict):
    data: list[Finding]
    """The findings, the one that was seen last at the end."""
    dropped: NotRequired[Count]
    """How many older calls the journal has dropped, which nothing is found in; left out where there are none."""
    truncated: NotRequired[Literal[True]]
    """Present where the journal has dropped older calls."""


class FirstEvidence(TypedDict):
    world: str
    """The world in which it was first seen."""
    id: str
    """The call, event or resource that showed it first."""


class CoverageItem(TypedDict):
    item: str
    """What was to be exercised."""
    covered: bool
    """Whether it was."""
    first: FirstEvidence | None
    """What showed it first; null while nothing has."""


class OperationItem(CoverageItem):
    method: str
    """The method of the operation."""
    path: str
    """The path of the operation."""
    called: Count
    """How often it was called."""
    succeeded: Count
    """How often it was answered 2xx."""


class ErrorItem(CoverageItem):
    operation: str
    """The operation that declares the error."""
    code: str
    """The code of the error."""
    hits: Count
    """How often it was answered."""


class StateItem(CoverageItem):
    kind: str
    """The kind of resource."""
    state: str
    """The state."""
    hits: Count
    """How many came into it."""


_Source = TypedDict("_Source", {"from": Annotated[str, Field(description="The state before; empty for a beginning.")]})


class TransitionItem(CoverageItem, _Source):
    kind: str
    """The kind of resource."""
    trigger: str
    """The move of its state table."""
    to: str
    """The state afterwards."""
    hits: Count
    """How often it was made."""


class EventItem(CoverageItem):
    emitted: Count
    """How often it was emitted."""
    delivered: Count
    """How many attempts were made to deliver it."""
    acknowledged: Count
    """How many of them were answered 2xx."""


class ListItem(CoverageItem):
    path: str
    """The path of the list."""
    pages: Count
    """How many pages were read."""
    further_pages: Count
    """How many of them were beyond the first."""


class PracticeItem(CoverageItem):
    meaning: str
    """What a good integration does there."""
    hits: Count
    """How often it was seen."""


class CoverageTotals(TypedDict):
    """`percent` is rounded down, so that 100 means everything."""

    title: str
    """What this dimension counts, in words."""
    covered: Count
    """How many items were exercised."""
    total: Count
    """How many there are."""
    percent: Percent
    """The share in percent, rounded down."""


class OperationCoverage(CoverageTotals):
    items: list[OperationItem]
    """Every item, exercised or not."""


class ErrorCoverage(CoverageTotals):
    items: list[ErrorItem]
    """Every item, exercised or not."""


class StateCoverage(CoverageTotals):
    items: list[StateItem]
    """Every item, exercised or not."""


class TransitionCoverage(CoverageTotals):
    items: list[TransitionItem]
    """Every item, exercised or not."""


class EventCoverage(CoverageTotals):
    items: list[EventItem]
    """Every item, exercised or not."""


class ListCoverage(CoverageTotals):
    items: list[ListItem]
    """Every item, exercised or not."""


class PracticeCoverage(CoverageTotals):
    items: list[PracticeItem]
    """Every item, exercised or not."""


class CoverageDimensions(TypedDict):
    operations: OperationCoverage
    """Operations called with success."""
    errors: ErrorCoverage
    """Errors of operations that were answered."""
    states: StateCoverage
    """States that resources came into."""
    transitions: TransitionCoverage
    """Moves of the state tables that were made."""
    events: EventCoverage
    """Events that were acknowledged."""
    lists: ListCoverage
    """Lists that were read beyond their first page."""
    practices: PracticeCoverage
    """Good practices that were seen."""


class UndeclaredError(TypedDict):
    item: str
    """An error that was answered although its operation does not declare it."""
    hits: Count
    """How often it was."""


class CoverageReport(TypedDict):
    world: str
    """The world, or `*` for all."""
    covered: Count
    """How many items were exercised, of all dimensions."""
    total: Count
    """How many there are."""
    percent: Percent
    """The share in percent, rounded down."""
    dimensions: CoverageDimensions
    """The same by dimension."""
    undeclared: list[UndeclaredError]
    """Errors that were answered and are not in the contract."""
