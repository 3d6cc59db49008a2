"""Data about the request that created a resource, saved with the resource."""

from __future__ import annotations

from typing import ClassVar

from simulator.kernel.dataclass import dataclass
from simulator.kernel.store import TableKey
from simulator.kernel.texts import NO_MEMBERS, JsonText
from simulator.kernel.world import World


@dataclass(frozen=True, slots=True)
class RequestOrigin:
    """The body of a request, the scenario that it selected for new resources, and its trace context.

    The scenario and the trace context are "" if the request has none.
    """

    body: JsonText = NO_MEMBERS
    scenario: str = ""
    trace: str = ""

    saved_as: ClassVar[str] = "Origin"
    """The class name in exported worlds."""

    @property
    def says_something(self) -> bool:
        """Return True if the request had a body, a scenario or a trace.

        All empty bodies share one object, so this check does not decompress a body.
        """
        return self.body is not NO_MEMBERS or self.scenario != "" or self.trace != ""


NOTHING_CARRIED = RequestOrigin()

ORIGINS = TableKey("origins", RequestOrigin)
"""The data about the requests that created records, by record id."""


def present_origin(world: World) -> RequestOrigin:
    """Return the data about the request whose transaction is in progress, or empty data if there is none."""
    origin = world.origin
    return origin if isinstance(origin, RequestOrigin) else NOTHING_CARRIED


def origin_of(world: World, record_id: str) -> RequestOrigin:
    """Return the data about the request that created a resource, or empty data if there is none."""
    return world.store[ORIGINS].get(record_id) or NOTHING_CARRIED
