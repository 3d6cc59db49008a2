"""The responses that describe a scenario and its progress. Shapes with `extra="allow"` have further fields, from the
scenario's document or the logbook entry.
"""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired

from pydantic import Field, with_config
from typing_extensions import TypedDict

from simulator.engine.scenario.files.library import FileProblem
from simulator.engine.text.shapes import Count, Timestamp


class ScenarioEntry(TypedDict):
    name: str
    """The scenario's name."""
    description: str
    """A one-sentence description of the scenario."""
    source: str
    """The file name, or `uploaded` for an uploaded scenario."""
    active: bool
    """Whether the scenario is active."""
    stopped: Annotated[str | None, Field(description="Why the simulator stopped it; null if it did not.")]


class ScenarioWarning(FileProblem):
    """Something in a scenario that is possible but probably not intended."""


@with_config(extra="allow")
class LogEntry(TypedDict):
    """A rule that fired, or the result of a step."""

    at: Timestamp
    """The simulated time."""
    part: str
    """The path of the rule or step in the document."""
    place: str
    """The file and line of the rule or step."""


@with_config(extra="allow")
class FailedStep(LogEntry):
    """A step that raised an unexpected exception and was undone."""

    object: str | None
    """The id of the resource that the step acted on, or null."""
    action: str
    """The action of the step."""
    error: str
    """The class of the exception."""
    reason: str
    """The class and message of the exception."""


@with_config(extra="allow")
class StopEntry(LogEntry):
    """A logbook entry that records that the simulator stopped the scenario."""

    name: str
    """The name of the scenario."""
    reason: str
    """The reason why the scenario was stopped."""


@with_config(extra="ignore")  # Otherwise, it would inherit `allow` from ScenarioProgress.
class PendingStep(TypedDict):
    """A pending step. A step that waits for an unavailable network has no due time."""

    due_at: Timestamp | None
    """The due time, or null while the step is waiting for an unavailable network."""
    waiting_for: NotRequired[list[str]]
    """The unavailable networks that the step is waiting for; omitted if there are none."""
    part: str
    """The path of the step in the document."""
    place: str
    """The file and line of the step."""
    object: str | None
    """The id of the resource that the step will act on, or null."""
    action: str
    """The action, or `scenario NAME` for a handover."""


@with_config(extra="allow")
class ScenarioProgress(TypedDict):
    name: str
    """The scenario's name."""
    description: str
    """A one-sentence description of the scenario."""
    source: str
    """The file name, or `uploaded` for an uploaded scenario."""
    text: NotRequired[str]
    """The text of the file, including comments; omitted for an uploaded scenario."""
    active: bool
    """Whether the scenario is active."""
    rules_fired: list[LogEntry]
    """The rules that fired, from oldest to newest."""
    steps_done: list[LogEntry]
    """The steps that were carried out."""
    skipped: list[LogEntry]
    """The steps that were skipped because their action was refused."""
    failed: list[FailedStep]
    """The steps that failed with an unexpected exception."""
    stopped: list[StopEntry]
    """One entry for each time that the simulator stopped the scenario."""
    pending: list[PendingStep]
    """The pending steps, in firing order."""
    dropped: NotRequired[Count]
    """The number of older entries, of all scenarios, that were dropped from the world's logbook; omitted if 0."""
    truncated: NotRequired[Literal[True]]
    """True if older entries were dropped; otherwise omitted."""


class StoppedScenario(TypedDict):
    name: str
    """The name of the scenario."""
    reason: str
    """The reason why the scenario was stopped."""
    at: Timestamp
    """The simulated time."""
