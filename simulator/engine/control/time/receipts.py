"""The receipt of an advance of the clock."""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from simulator.engine.scenario.language.shapes import StoppedScenario
from simulator.engine.server.running.advance import Receipt
from simulator.engine.text.shapes import Count, Timestamp
from simulator.kernel.clock import format_timestamp

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
