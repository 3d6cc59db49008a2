"""Shapes that several control calls share: events, causes, and what a call may add to any answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, NotRequired

import orjson
from pydantic import WithJsonSchema
from typing_extensions import TypedDict

from simulator.kernel.world import ENVIRONMENTS
from simulator.scenario.shapes import StoppedScenario
from simulator.wire.shapes import Timestamp

Environment = Annotated[str, WithJsonSchema({"enum": list(ENVIRONMENTS), "type": "string"})]
AnyObject = Mapping[str, Any]


class EnvelopeData(TypedDict):
    object: AnyObject


class Envelope(TypedDict):
    id: str
    type: str
    created_at: Timestamp
    livemode: bool
    data: EnvelopeData


class EnvelopeList(TypedDict):
    data: list[Envelope]


def embedded(raw: bytes) -> Any:
    """JSON that is ready made, to be put into an answer byte for byte; of whatever shape it was made."""
    return orjson.Fragment(raw)


class StoppedScenarios(TypedDict):
    stopped_scenarios: NotRequired[list[StoppedScenario]]


class TriggerStep(TypedDict):
    did: str
    at: Timestamp


class TriggerAnswer(TypedDict):
    """The way to an event: the event, what it is about, what was done, and where the clock went (null: nowhere)."""

    event: Envelope
    target: str
    steps: list[TriggerStep]
    events: list[Envelope]
    advanced_to: Timestamp | None
    stopped_scenarios: NotRequired[list[StoppedScenario]]
