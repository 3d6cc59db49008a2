"""Response types that several control calls share: events, results of advancing the clock, and common fields."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, NotRequired

import orjson
from pydantic import Field
from typing_extensions import TypedDict

from simulator.engine.scenario.language.shapes import StoppedScenario
from simulator.engine.server.running.advance import Receipt
from simulator.engine.text.shapes import ENVIRONMENT, Count, Listed, Timestamp
from simulator.kernel.clock import format_timestamp

Environment = Annotated[str, Listed(ENVIRONMENT)]
AnyObject = Mapping[str, Any]


class EnvelopeData(TypedDict):
    object: AnyObject
    """The full resource at the time of the event."""


class Envelope(TypedDict):
    id: str
    """The event's id."""
    type: str
    """The event type."""
    created_at: Timestamp
    """When it was emitted, in simulated time."""
    livemode: bool
    """Whether the event was emitted in production."""
    data: EnvelopeData
    """The resource that the event is about."""


class EnvelopeList(TypedDict):
    data: list[Envelope]
    """The envelopes, oldest first."""


def embedded(raw: bytes) -> Any:
    """Wrap encoded JSON for `dumps`, which then writes these bytes unchanged."""
    return orjson.Fragment(raw)


class Dropped(TypedDict):
    """Fields of a list whose oldest items may have been dropped."""

    dropped: NotRequired[Count]
    """The number of items that were dropped; omitted if there are none."""
    truncated: NotRequired[Literal[True]]
    """Present if items were dropped."""


def describe_dropped(count: int) -> Dropped:
    """Return the fields for a list that lost `count` items, or {} if `count` is 0."""
    return {"dropped": count, "truncated": True} if count else {}


class StoppedScenarios(TypedDict):
    stopped_scenarios: NotRequired[list[StoppedScenario]]
    """The scenarios that failed and were stopped during the call; omitted if there are none."""


class TriggerStep(TypedDict):
    did: str
    """A description of the step."""
    at: Timestamp
    """The simulated time of the step."""


class TriggerAnswer(TypedDict):
    """The event that was produced, and the steps that led to it."""

    event: Envelope
    """The event that was produced."""
    target: str
    """The id of the resource that the event is about."""
    steps: list[TriggerStep]
    """The steps, in order."""
    events: list[Envelope]
    """All events that the steps emitted."""
    advanced_to: Timestamp | None
    """The simulated time that the clock was advanced to; null if it was not advanced."""
    stopped_scenarios: NotRequired[list[StoppedScenario]]
    """The scenarios that failed and were stopped during the call; omitted if there are none."""


AdvanceReceipt = TypedDict(
    "AdvanceReceipt",
    {
        "from": Annotated[Timestamp, Field(description="The simulated time before the call.")],
        "now": Annotated[Timestamp, Field(description="The simulated time afterwards.")],
        "fired": Annotated[Count, Field(description="The number of timers that fired.")],
        "events": Annotated[list[str], Field(description="The ids of the emitted events.")],
        "deliveries": Annotated[Count, Field(description="The number of delivery attempts made.")],
        "reached": Annotated[bool, Field(description="Whether the clock reached the requested point.")],
        "stopped": NotRequired[Annotated[str, Field(description="Why an advance with `until` ended.")]],
        "cancelled": NotRequired[Annotated[Literal[True], Field(description="Present if the advance was cancelled.")]],
        "stopped_scenarios": NotRequired[
            Annotated[list[StoppedScenario], Field(description="The scenarios that failed and were stopped.")]
        ],
    },
)


def show_receipt(receipt: Receipt, *, reached: bool) -> AdvanceReceipt:
    """Render the result of advancing the clock. `reached` is True if the clock reached the requested time."""
    return {
        "from": format_timestamp(receipt.from_ms),
        "now": format_timestamp(receipt.to_ms),
        "fired": receipt.fired,
        "events": receipt.events,
        "deliveries": receipt.deliveries,
        "reached": reached,
    }
