"""Traces that callers bring along (W3C Trace Context): what of them goes out again with the webhooks that follow.

A call without a well-formed `traceparent` begins no trace: nothing is sent that nobody asked for.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from simulator.engine.records.origins import origin_of
from simulator.kernel.ids import derive
from simulator.kernel.journal import Event
from simulator.kernel.world import World

HEADER = "traceparent"

_FORM = r"([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-[!-~]*)?"  # compiled at first use: few bring one
_KNOWN_VERSION = "00"
_NO_VERSION = "ff"
_SAMPLED = 1


def parent_of(headers: Mapping[str, str]) -> str:
    """The trace of a request, from its headers (names in lower case); "" without a well-formed one."""
    given = headers.get(HEADER)
    return "" if given is None else read(given)


def read(given: str) -> str:
    """A `traceparent` with what this version knows of it; "" for a malformed one, which counts as none.

    A later version may have more after a further dash. Of the flags `sampled` alone is known.
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
    """The trace of an event: that of the request which caused it, else of the one that made its object; "" for none."""
    found = event.trace or origin_of(world, event.object_id).trace
    return read(found) if found else ""  # it may come from a document that somebody has written


def child_of(parent: str, *parts: str) -> str:
    """The same trace with a span of its own, which the parts fix."""
    version, trace, _, flags = parent.split("-")
    return f"{version}-{trace}-{derive('span', trace, *parts)[:8].hex()}-{flags}"
