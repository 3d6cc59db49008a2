"""Trace contexts from callers (W3C Trace Context), which are passed on to the resulting webhooks.

A request without a well-formed `traceparent` starts no trace. The simulator therefore never sends a trace that the
caller did not start.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from simulator.engine.records.origins import origin_of
from simulator.kernel.ids import derive
from simulator.kernel.journal import Event
from simulator.kernel.world import World

HEADER = "traceparent"

# Compiled on first use, because it is rarely needed.
_FORM = r"([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-[!-~]*)?"
_KNOWN_VERSION = "00"
_NO_VERSION = "ff"
_SAMPLED = 1


def parent_of(headers: Mapping[str, str]) -> str:
    """Return the trace context in request headers, or "" if it is missing or malformed. Names are in lower case."""
    given = headers.get(HEADER)
    return "" if given is None else read(given)


def read(given: str) -> str:
    """Return a `traceparent` reduced to the parts that this version supports, or "" if it is malformed.

    Fields that a later version appends are removed. The only supported flag is `sampled`.
    """
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
    """Return the trace context for an event.

    The context comes from the request that caused the event, otherwise from the request that created the object. Return
    "" if neither request has one.
    """
    found = event.trace or origin_of(world, event.object_id).trace
    return read(found) if found else ""  # The trace may come from a handwritten document.


def child_of(parent: str, *parts: str) -> str:
    """Return a trace context with a new span id, which is derived from the trace id and the strings in `parts`."""
    version, trace, _, flags = parent.split("-")
    return f"{version}-{trace}-{derive('span', trace, *parts)[:8].hex()}-{flags}"
