"""The responses that show a scenario and its progress.

Shapes with `extra="allow"` have further fields: those of the scenario's document, or of the logbook entry.
"""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired

from pydantic import Field, with_config
from typing_extensions import TypedDict

from simulator.engine.text.shapes import Count, Timestamp


class ScenarioEntry(TypedDict):
    name: str
    """The name."""
    description: str
    """A sentence about what it does."""
    source: str
    """The file, or the kind of upload."""
    active: bool
    """Whether the scenario is active."""
    stopped: Annotated[str | None, Field(description="Why the simulator stopped it; null if it did not.")]


class ScenarioWarning(TypedDict):
    """Something that is possible in a scenario, but probably not intended."""

    path: str
    """The path in the document."""
    line: int
    """The line, from 1."""
    column: int
    """The column, from 1."""
    message: str
    """The warning."""


@with_config(extra="allow")
class LogEntry(TypedDict):
    """A rule that fired, or the outcome of a step."""

    at: Timestamp
    """The simulated time."""
    part: str
    """The path of the rule or step in the document."""
    place: str
    """Its file and line."""


@with_config(extra="allow")
class FailedStep(LogEntry):
    """A step that raised an unexpected exception and was undone."""

    object: str | None
    """The id of the resource that it acted on, or null."""
    action: str
    """The action of the step."""
    error: str
    """The class of the exception."""
    reason: str
    """The class and the message of the exception."""


@with_config(extra="allow")
class StopEntry(LogEntry):
    """A time at which the simulator stopped the scenario."""

    name: str
    """The name of the scenario."""
    reason: str
    """Why it was stopped."""


@with_config(extra="ignore")  # otherwise it would inherit `allow` from ScenarioProgress
class PendingStep(TypedDict):
    """A pending step. It has no due time while it waits for networks that are down."""

    due_at: Timestamp | None
    """The due time; null while the step waits for a network."""
    waiting_for: NotRequired[list[str]]
    """The networks that it waits for; omitted if there are none."""
    part: str
    """The path of the step in the document."""
    place: str
    """Its file and line."""
    object: str | None
    """The id of the resource that it will act on, or null."""
    action: str
    """The action, or `scenario NAME` for a hand-over."""


@with_config(extra="allow")
class ScenarioProgress(TypedDict):
    name: str
    """The name."""
    description: str
    """A sentence about what it does."""
    source: str
    """The file, or the kind of upload."""
    text: NotRequired[str]
    """The text of the file, with comments; omitted for an uploaded scenario."""
    active: bool
    """Whether the scenario is active."""
    rules_fired: list[LogEntry]
    """The rules that fired, oldest first."""
    steps_done: list[LogEntry]
    """The steps that were carried out."""
    skipped: list[LogEntry]
    """The steps that were refused and skipped."""
    failed: list[FailedStep]
    """The steps that broke."""
    stopped: list[StopEntry]
    """Each time that the simulator stopped the scenario."""
    pending: list[PendingStep]
    """The pending steps, in firing order."""
    dropped: NotRequired[Count]
    """The number of older entries that the world's logbook has dropped, of all scenarios; omitted if 0."""
    truncated: NotRequired[Literal[True]]
    """Present if entries were dropped."""


class StoppedScenario(TypedDict):
    name: str
    """The name of the scenario."""
    reason: str
    """Why it was stopped."""
    at: Timestamp
    """The simulated time."""
