"""What a scenario and its progress look like to who asks.

What `extra="allow"` stands over carries further members: those of the scenario as written, or of what a rule was about.
"""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired

from pydantic import Field, with_config
from typing_extensions import TypedDict

from simulator.engine.text.shapes import Count, Timestamp


class ScenarioEntry(TypedDict):
    name: str
    """Names the scenario."""
    description: str
    """What it does, in a sentence."""
    source: str
    """The file it is from, or how it was uploaded."""
    active: bool
    """Whether it acts now."""
    stopped: Annotated[str | None, Field(description="Why the simulator stopped it.")]


class ScenarioWarning(TypedDict):
    """What is possible in a scenario, but probably not meant; line and column from 1."""

    path: str
    """The place in the document."""
    line: int
    """Its line, from 1."""
    column: int
    """Its column, from 1."""
    message: str
    """What is probably not meant."""


@with_config(extra="allow")
class LogEntry(TypedDict):
    """What a rule or step did: its path in the file, `file:line`, and what it was about."""

    at: Timestamp
    """When, in simulated time."""
    part: str
    """The place of the rule or step in the document."""
    place: str
    """File and line of it."""


@with_config(extra="allow")
class FailedStep(LogEntry):
    """A step that broke: the class of the exception, and the exception in words."""

    object: str | None
    """The resource it acted on, by id; null where there was none."""
    action: str
    """The action that it performed."""
    error: str
    """The class of the exception."""
    reason: str
    """The exception in words."""


@with_config(extra="allow")
class StopEntry(LogEntry):
    """Why a scenario was stopped, and by which step."""

    name: str
    """The step that stopped it."""
    reason: str
    """Why it was stopped."""


@with_config(extra="ignore")  # else it would be open, like the progress that it is a part of
class PendingStep(TypedDict):
    """A step to come. While it waits for networks that are down it has no due time, and names them."""

    due_at: Timestamp | None
    """When it is due; null while it waits for a network."""
    waiting_for: NotRequired[list[str]]
    """The networks that it waits for; left out when it waits for none."""
    part: str
    """The place of the step in the document."""
    place: str
    """File and line of it."""
    object: str | None
    """The resource it will act on, by id; null where there is none."""
    action: str
    """The action that it will perform."""


@with_config(extra="allow")
class ScenarioProgress(TypedDict):
    name: str
    """Names the scenario."""
    description: str
    """What it does, in a sentence."""
    source: str
    """The file it is from, or how it was uploaded."""
    text: NotRequired[str]
    """The file as it is written, with its comments; left out of one that was uploaded."""
    active: bool
    """Whether it acts now."""
    rules_fired: list[LogEntry]
    """The rules that took an event or a new resource, oldest first."""
    steps_done: list[LogEntry]
    """The steps that were carried out."""
    skipped: list[LogEntry]
    """The steps that were refused and so passed over."""
    failed: list[FailedStep]
    """The steps that broke."""
    stopped: list[StopEntry]
    """How often, when and why the simulator stopped it."""
    pending: list[PendingStep]
    """The steps to come."""
    dropped: NotRequired[Count]
    """How many older entries of the world's logbook are gone, of whichever scenarios; left out where none is."""
    truncated: NotRequired[Literal[True]]
    """Present where entries are gone."""


class StoppedScenario(TypedDict):
    name: str
    """The scenario that was stopped."""
    reason: str
    """Why it was."""
    at: Timestamp
    """When, in simulated time."""
