"""Response types of advice and coverage."""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired, TypeAlias

from pydantic import Field
from typing_extensions import TypedDict

from simulator.engine.insight.lessons import CodeChange
from simulator.engine.records.advice import SEVERITY_MEANINGS, Severity
from simulator.engine.text.shapes import Count, Meanings, Timestamp

Percent = Annotated[float, Field(ge=0, le=100)]


STANDINGS = {
    "assumed": "The specification is silent, so the simulator made a choice.",
    "observed": "A running service was observed to behave this way.",
}
"""The state of knowledge about an assumption: assumed or observed."""
Standing: TypeAlias = Annotated[Literal["assumed", "observed"], Meanings(STANDINGS)]


class RestsOn(TypedDict):
    id: str
    """The id of the assumption."""
    standing: Standing
    """Whether the behaviour is assumed or observed."""
    observed_at: str | None
    """The date of the observation; null if the behaviour is assumed."""


class Finding(TypedDict):
    """A finding about the integrator's traffic."""

    id: str
    """The id of the finding."""
    world: NotRequired[str]
    """The id of the world, in lists that cover all worlds."""
    kind: str
    """The kind of finding."""
    severity: Annotated[Severity, Meanings(SEVERITY_MEANINGS)]
    """The severity of the finding."""
    subject: str
    """The subject of the finding."""
    message: str
    """A description of the observed problem."""
    what_to_do: str
    """The recommended change."""
    clause: str
    """The clause of the specification."""
    why: str
    """Why the finding matters in production. Empty if that is obvious."""
    changes: list[CodeChange]
    """The code to change, in Python and as HTTP. Empty if the code is not the cause."""
    clause_links: list[str]
    """Paths of pages on this server that document the clause."""
    rests_on: NotRequired[list[RestsOn]]
    """The assumptions that the clause cites.

    Absent if the clause cites no assumptions, or if the world is not based on a file of observations.
    """
    request_links: list[str]
    """Dashboard paths of the newest requests in `requests`."""
    count: Count
    """The number of times that this was seen."""
    requests: list[str]
    """The ids of the API requests that are evidence of the finding."""
    evidence: list[str]
    """The ids of other evidence, such as events and deliveries."""
    first_at: Timestamp | None
    """When this was first seen, or null if the time is unknown."""
    last_at: Timestamp | None
    """When this was last seen, or null if the time is unknown."""


class AdviceList(TypedDict):
    data: list[Finding]
    """The findings, sorted by when they were last seen, most recent last."""
    dropped: NotRequired[Count]
    """How many older requests the journal has dropped. These were not searched. Absent if there are none."""
    truncated: NotRequired[Literal[True]]
    """Present if the journal has dropped older requests."""


class FirstEvidence(TypedDict):
    world: str
    """The id of the world that contains the first evidence."""
    id: str
    """The id of the request, event or other object that is the first evidence."""


class CoverageItem(TypedDict):
    item: str
    """The name of the item."""
    covered: bool
    """Whether traffic exercised the item."""
    first: FirstEvidence | None
    """The first evidence, or null if there is none."""


class OperationItem(CoverageItem):
    method: str
    """The method of the operation."""
    path: str
    """The path of the operation."""
    called: Count
    """How often the operation was called."""
    succeeded: Count
    """The number of calls with a 2xx response."""


class ErrorItem(CoverageItem):
    operation: str
    """The operation that declares the error."""
    code: str
    """The code of the error."""
    hits: Count
    """How often the error was returned."""


class StateItem(CoverageItem):
    kind: str
    """The kind of resource."""
    state: str
    """The state."""
    hits: Count
    """How many resources entered the state."""


_Source = TypedDict(
    "_Source", {"from": Annotated[str, Field(description="The state before, or `(none)` for a new resource.")]}
)


class TransitionItem(CoverageItem, _Source):
    kind: str
    """The kind of resource."""
    trigger: str
    """The trigger of the transition in the state table."""
    to: str
    """The state after the transition."""
    hits: Count
    """How often the transition happened."""


class EventItem(CoverageItem):
    emitted: Count
    """How often the event was emitted."""
    delivered: Count
    """How many attempts were made to deliver the event."""
    acknowledged: Count
    """How many of these attempts got a 2xx response."""


class ListItem(CoverageItem):
    path: str
    """The path of the list."""
    pages: Count
    """How many pages were read."""
    further_pages: Count
    """How many of these pages were after the first page."""


class PracticeItem(CoverageItem):
    meaning: str
    """A description of the good practice."""
    hits: Count
    """How often the practice was seen."""


class CoverageTotals(TypedDict):
    """The totals of one dimension of coverage, such as operations or errors."""

    title: str
    """A description of the dimension."""
    covered: Count
    """How many items were exercised."""
    total: Count
    """How many items there are."""
    percent: Percent
    """The percentage of items exercised, rounded down. 100 means all items."""


class OperationCoverage(CoverageTotals):
    items: list[OperationItem]
    """All items, including items that were not exercised."""


class ErrorCoverage(CoverageTotals):
    items: list[ErrorItem]
    """All items, including items that were not exercised."""


class StateCoverage(CoverageTotals):
    items: list[StateItem]
    """All items, including items that were not exercised."""


class TransitionCoverage(CoverageTotals):
    items: list[TransitionItem]
    """All items, including items that were not exercised."""


class EventCoverage(CoverageTotals):
    items: list[EventItem]
    """All items, including items that were not exercised."""


class ListCoverage(CoverageTotals):
    items: list[ListItem]
    """All items, including items that were not exercised."""


class PracticeCoverage(CoverageTotals):
    items: list[PracticeItem]
    """All items, including items that were not exercised."""


class CoverageDimensions(TypedDict):
    operations: OperationCoverage
    """Operations that were called successfully."""
    errors: ErrorCoverage
    """Errors that operations returned."""
    states: StateCoverage
    """States that resources entered."""
    transitions: TransitionCoverage
    """Transitions that happened."""
    events: EventCoverage
    """Events that were acknowledged."""
    lists: ListCoverage
    """Lists that were read past their first page."""
    practices: PracticeCoverage
    """Good practices that were seen."""


class UndeclaredError(TypedDict):
    item: str
    """The operation and an error code that it returned but does not declare."""
    hits: Count
    """How often the error was returned."""


class CoverageReport(TypedDict):
    world: str
    """The id of the world, or `*` for all worlds."""
    covered: Count
    """How many items of all dimensions were exercised."""
    total: Count
    """How many items there are."""
    percent: Percent
    """The percentage of items exercised, rounded down."""
    dimensions: CoverageDimensions
    """The totals and items of each dimension."""
    undeclared: list[UndeclaredError]
    """Errors that were returned although their operation does not declare them."""
