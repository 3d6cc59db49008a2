"""Response shapes of advice and coverage."""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from simulator.engine.insight.lessons import CodeChange
from simulator.engine.records.advice import SEVERITY_MEANINGS, Severity
from simulator.engine.text.shapes import Count, Meanings, Timestamp

Percent = Annotated[float, Field(ge=0, le=100)]


class Finding(TypedDict):
    """A finding about the integrator's traffic."""

    id: str
    """The id of the finding."""
    world: NotRequired[str]
    """The world of the finding, in lists of all worlds."""
    kind: str
    """The kind of finding."""
    severity: Annotated[Severity, Meanings(SEVERITY_MEANINGS)]
    """The severity of the finding."""
    subject: str
    """The subject of the finding."""
    message: str
    """A description of what was seen."""
    what_to_do: str
    """The recommended action for the integrator."""
    clause: str
    """The clause of the specification."""
    why: str
    """Why it matters in production. Empty if that is obvious."""
    changes: list[CodeChange]
    """The code to change, in Python and as HTTP, if there is any."""
    clause_links: list[str]
    """Paths of this server's pages about the clause."""
    request_links: list[str]
    """Dashboard paths of the newest of these calls."""
    count: Count
    """How often it was seen."""
    requests: list[str]
    """The ids of the API calls that show it."""
    evidence: list[str]
    """The ids of anything else that shows it."""
    first_at: Timestamp | None
    """When it was first seen, or null if that is unknown."""
    last_at: Timestamp | None
    """When it was last seen, or null if that is unknown."""


class AdviceList(TypedDict):
    data: list[Finding]
    """The findings. The one that was seen last is at the end."""
    dropped: NotRequired[Count]
    """How many older calls the journal has dropped, which were not searched. Absent if there are none."""
    truncated: NotRequired[Literal[True]]
    """Present if the journal has dropped older calls."""


class FirstEvidence(TypedDict):
    world: str
    """The world where it was first seen."""
    id: str
    """The call, event or resource that first showed it."""


class CoverageItem(TypedDict):
    item: str
    """The item to exercise."""
    covered: bool
    """Whether it was exercised."""
    first: FirstEvidence | None
    """The first evidence, or null if there is none yet."""


class OperationItem(CoverageItem):
    method: str
    """The method of the operation."""
    path: str
    """The path of the operation."""
    called: Count
    """How often it was called."""
    succeeded: Count
    """How often the response was 2xx."""


class ErrorItem(CoverageItem):
    operation: str
    """The operation that declares the error."""
    code: str
    """The code of the error."""
    hits: Count
    """How often it was returned."""


class StateItem(CoverageItem):
    kind: str
    """The kind of resource."""
    state: str
    """The state."""
    hits: Count
    """How many resources entered it."""


_Source = TypedDict(
    "_Source", {"from": Annotated[str, Field(description="The state before, or `(none)` for a new resource.")]}
)


class TransitionItem(CoverageItem, _Source):
    kind: str
    """The kind of resource."""
    trigger: str
    """The trigger in its state table."""
    to: str
    """The state afterwards."""
    hits: Count
    """How often it was taken."""


class EventItem(CoverageItem):
    emitted: Count
    """How often it was emitted."""
    delivered: Count
    """How many attempts were made to deliver it."""
    acknowledged: Count
    """How many of them got a 2xx response."""


class ListItem(CoverageItem):
    path: str
    """The path of the list."""
    pages: Count
    """How many pages were read."""
    further_pages: Count
    """How many of them were beyond the first."""


class PracticeItem(CoverageItem):
    meaning: str
    """The behaviour of a robust integration."""
    hits: Count
    """How often it was seen."""


class CoverageTotals(TypedDict):
    """Totals of a dimension. `percent` is rounded down, so 100 means everything."""

    title: str
    """A description of the dimension."""
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
    """Errors that operations returned."""
    states: StateCoverage
    """States that resources entered."""
    transitions: TransitionCoverage
    """Transitions of the state tables that were taken."""
    events: EventCoverage
    """Events that were acknowledged."""
    lists: ListCoverage
    """Lists that were read beyond their first page."""
    practices: PracticeCoverage
    """Good practices that were seen."""


class UndeclaredError(TypedDict):
    item: str
    """An error that was returned although its operation does not declare it."""
    hits: Count
    """How often it was returned."""


class CoverageReport(TypedDict):
    world: str
    """The world, or `*` for all."""
    covered: Count
    """How many items of all dimensions were exercised."""
    total: Count
    """How many there are."""
    percent: Percent
    """The share in percent, rounded down."""
    dimensions: CoverageDimensions
    """The same by dimension."""
    undeclared: list[UndeclaredError]
    """Errors that were returned and are not in the contract."""
