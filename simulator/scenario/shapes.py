"""What a scenario and its progress look like to who asks.

What `extra="allow"` stands over carries further members: those of the scenario as written, or of what a rule was about.
"""

from __future__ import annotations

from typing import Annotated, NotRequired

from pydantic import Field, with_config
from typing_extensions import TypedDict

from simulator.wire.shapes import Timestamp


class ScenarioEntry(TypedDict):
    name: str
    description: str
    source: str
    active: bool
    stopped: Annotated[str | None, Field(description="Why the simulator stopped it.")]


class ScenarioWarning(TypedDict):
    """What is possible in a scenario, but probably not meant; line and column from 1."""

    path: str
    line: int
    column: int
    message: str


@with_config(extra="allow")
class LogEntry(TypedDict):
    """What a rule or step did: its path in the file, `file:line`, and what it was about."""

    at: Timestamp
    part: str
    place: str


@with_config(extra="allow")
class FailedStep(LogEntry):
    """A step that broke: the class of the exception, and the exception in words."""

    object: str | None
    action: str
    error: str
    reason: str


@with_config(extra="allow")
class StopEntry(LogEntry):
    """Why a scenario was stopped, and by which step."""

    name: str
    reason: str


@with_config(extra="ignore")  # else it would be open, like the progress that it is a part of
class PendingStep(TypedDict):
    """A step to come. While it waits for networks that are down it has no due time, and names them."""

    due_at: Timestamp | None
    waiting_for: NotRequired[list[str]]
    part: str
    place: str
    object: str | None
    action: str


@with_config(extra="allow")
class ScenarioProgress(TypedDict):
    name: str
    description: str
    source: str
    active: bool
    rules_fired: list[LogEntry]
    steps_done: list[LogEntry]
    skipped: list[LogEntry]
    failed: list[FailedStep]
    stopped: list[StopEntry]
    pending: list[PendingStep]


class StoppedScenario(TypedDict):
    name: str
    reason: str
    at: Timestamp
