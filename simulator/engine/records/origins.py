"""Data about the request that created a resource, saved with the resource, and its trace context (W3C Trace Context).

The trace context is passed on to the resulting webhooks. A request without a well-formed `traceparent` starts no trace.
The simulator therefore never sends a trace that the caller did not start.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import ClassVar

from simulator.kernel.dataclass import dataclass
from simulator.kernel.ids import derive
from simulator.kernel.journal import Event
from simulator.kernel.store import TableKey
from simulator.kernel.texts import NO_MEMBERS, JsonText
from simulator.kernel.world import World


@dataclass(frozen=True, slots=True)
class RequestOrigin:
    """The body of a request, the scenario that it selected for new resources, and its trace context ("" if none)."""

    body: JsonText = NO_MEMBERS
    scenario: str = ""
    trace: str = ""

    saved_as: ClassVar[str] = "Origin"
    """The class name in exported worlds."""

    @property
    def says_something(self) -> bool:
        """True if there is a body, a scenario or a trace. All empty bodies are one object, so none is decompressed."""
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


TRACE_HEADER = "traceparent"
_FORM = r"([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-[!-~]*)?"
_KNOWN_VERSION = "00"
_NO_VERSION = "ff"
_SAMPLED = 1


def parent_of(headers: Mapping[str, str]) -> str:
    """Return the trace context in request headers, or "" if it is missing or malformed. Names are in lower case."""
    given = headers.get(TRACE_HEADER)
    return "" if given is None else read_trace(given)


def read_trace(given: str) -> str:
    """Return a `traceparent` without fields and flags of later versions (only `sampled` stays), or "" if malformed."""
    found = re.fullmatch(_FORM, given)
    if found is None:
        return ""
    version, trace, parent, flags, more = found.groups()
    if version == _NO_VERSION or (version == _KNOWN_VERSION and more is not None):
        return ""
    if not trace.strip("0") or not parent.strip("0"):
        return ""
    return f"{_KNOWN_VERSION}-{trace}-{parent}-{int(flags, 16) & _SAMPLED:02x}"


def trace_of(world: World, event: Event) -> str:
    """Return the trace context of the request that caused an event, or else that created its object, or ""."""
    found = event.trace or origin_of(world, event.object_id).trace
    return read_trace(found) if found else ""  # The trace may come from a handwritten document.


def child_of(parent: str, *parts: str) -> str:
    """Return a trace context with a new span id, which is derived from the trace id and the strings in `parts`."""
    version, trace, _, flags = parent.split("-")
    return f"{version}-{trace}-{derive('span', trace, *parts)[:8].hex()}-{flags}"
