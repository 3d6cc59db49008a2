"""The mark on calls that the simulator's own tools make: their sign-ins, registrations and examinations.

Advice and coverage are about an integration, so they leave marked calls out. A tool marks its calls with a header that
no client sends by accident: its name is reserved, and its value has to be the name of a tool.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

HEADER = "X-Simulator-Tool"
_NAME = HEADER.lower()
TOOLS = ("certify", "conform", "dashboard", "kit", "mcp")


def marked(tool: str) -> Mapping[str, str]:
    """Return the header that marks a call of one of the `TOOLS`."""
    assert tool in TOOLS
    return {HEADER: tool}


def is_marked(headers: Iterable[tuple[str, str]]) -> bool:
    """Return True if a call with these headers, names in lower case, is one of the simulator's own tools."""
    return any(name == _NAME and value in TOOLS for name, value in headers)
