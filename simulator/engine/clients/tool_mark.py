"""The header on requests that the simulator's own tools send, for example to register endpoints.

Advice and coverage evaluate an integration, so they ignore requests with this header. No client sends it by accident,
because its name is reserved and its value must be the name of a tool.
"""

from __future__ import annotations

from collections.abc import Mapping

HEADER = "X-Simulator-Tool"
_NAME = HEADER.lower()
TOOLS = ("certify", "conform", "dashboard", "kit", "mcp")


def marked(tool: str) -> Mapping[str, str]:
    """Return the header that marks a request as sent by this tool, which must be one of `TOOLS`."""
    assert tool in TOOLS
    return {HEADER: tool}


def marks(headers: Mapping[str, str]) -> bool:
    """Return True if one of the simulator's own tools sent a request with these headers. Their names are lower case."""
    return headers.get(_NAME) in TOOLS
