"""Shapes that several control calls share: events, causes, and what a call may add to any answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, NotRequired

import orjson
from typing_extensions import TypedDict

from simulator.engine.scenario.language.shapes import StoppedScenario
from simulator.engine.text.shapes import EnvironmentName, Timestamp

Environment = Annotated[str, EnvironmentName()]
AnyObject = Mapping[str, Any]


class EnvelopeData(TypedDict):
    object: AnyObject
    """The full resource at the time of the event."""


class Envelope(TypedDict):
    id: str
    """The event's id."""
    type: str
    """What it tells."""
    created_at: Timestamp
    """When it was emitted, in simulated time."""
    livemode: bool
    """Whether it comes from production."""
    data: EnvelopeData
    """What it is about."""


class EnvelopeList(TypedDict):
    data: list[Envelope]
    """The envelopes, oldest first."""


def embedded(raw: bytes) -> Any:
    """JSON that is ready made, to be put into an answer byte for byte; of whatever shape it was made."""
    return orjson.Fragment(raw)


class StoppedScenarios(TypedDict):
    stopped_scenarios: NotRequired[list[StoppedScenario]]
    """The scenarios that were stopped meanwhile; left out when there were none."""


class TriggerStep(TypedDict):
    did: str
    """What was done, in words."""
    at: Timestamp
    """When, in simulated time."""


class TriggerAnswer(TypedDict):
    """The way to an event: the event, what it is about, what was done, and where the clock went (null: nowhere)."""

    event: Envelope
    """The event that was reached."""
    target: str
    """The resource it tells of, by id."""
    steps: list[TriggerStep]
    """What was done on the way."""
    events: list[Envelope]
    """All events that were emitted on the way."""
    advanced_to: Timestamp | None
    """Where the clock was moved to; null when it was not moved."""
    stopped_scenarios: NotRequired[list[StoppedScenario]]
    """The scenarios that were stopped meanwhile; left out when there were none."""
