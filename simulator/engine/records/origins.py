"""What the request that makes a resource carries, kept with the resource."""

from __future__ import annotations

from typing import ClassVar

from simulator.kernel.dataclass import dataclass
from simulator.kernel.store import TableKey
from simulator.kernel.texts import NO_MEMBERS, JsonText
from simulator.kernel.world import Origin, World


@dataclass(frozen=True, slots=True)
class RequestOrigin(Origin):
    """The body of a request, the scenario that it chose for what it makes, and its trace ("" = none)."""

    body: JsonText = NO_MEMBERS
    scenario: str = ""
    trace: str = ""

    saved_as: ClassVar[str] = "Origin"
    """The name in documents of a world."""

    @property
    def says_something(self) -> bool:
        """Whether it carried anything; there is one text of the empty object, so none has to be unpacked to know."""
        return self.body is not NO_MEMBERS or self.scenario != "" or self.trace != ""


NOTHING_CARRIED = RequestOrigin()

ORIGINS = TableKey("origins", RequestOrigin)
"""What the requests carried that made records, by the ids of these."""


def present_origin(world: World) -> RequestOrigin:
    """What the request carried whose change is under way."""
    origin = world.origin
    return origin if isinstance(origin, RequestOrigin) else NOTHING_CARRIED


def origin_of(world: World, record_id: str) -> RequestOrigin:
    """What the request that made a resource carried."""
    return world.store[ORIGINS].get(record_id) or NOTHING_CARRIED
