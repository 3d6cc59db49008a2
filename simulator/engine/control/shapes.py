"""Shapes that several control calls share: events, causes, and what a call may add to any answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, NotRequired

import orjson
from pydantic import Field
from typing_extensions import TypedDict

from simulator.engine.scenario.language.shapes import StoppedScenario
from simulator.engine.server.running.advance import Receipt
from simulator.engine.text.shapes import Count, EnvironmentName, Timestamp
from simulator.kernel.clock import format_timestamp

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


AdvanceReceipt = TypedDict(
    "AdvanceReceipt",
    {
        "from": Annotated[Timestamp, Field(description="The simulated time before.")],
        "now": Annotated[Timestamp, Field(description="The simulated time afterwards.")],
        "fired": Annotated[Count, Field(description="How many timers fired.")],
        "events": Annotated[list[str], Field(description="The ids of the events that were emitted.")],
        "deliveries": Annotated[Count, Field(description="How many attempts to deliver events were made.")],
        "reached": Annotated[bool, Field(description="Whether it came to where it was to go.")],
        "stopped": NotRequired[Annotated[str, Field(description="Why it stopped before; left out when it did not.")]],
        "cancelled": NotRequired[Annotated[Literal[True], Field(description="There when it was called off.")]],
        "stopped_scenarios": NotRequired[
            Annotated[list[StoppedScenario], Field(description="The scenarios that were stopped meanwhile.")]
        ],
    },
)


def show_receipt(receipt: Receipt, *, reached: bool) -> AdvanceReceipt:
    """What an advance did; `reached`: whether it came to where it was to go."""
    return {
        "from": format_timestamp(receipt.from_ms),
        "now": format_timestamp(receipt.to_ms),
        "fired": receipt.fired,
        "events": receipt.events,
        "deliveries": receipt.deliveries,
        "reached": reached,
    }
