"""Where a simulator is found: its default address, and the path of its control interface."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import quote

DEFAULT_HOST = "127.0.0.1"
DEFAULT_PORT = 8642
DEFAULT_URL = f"http://{DEFAULT_HOST}:{DEFAULT_PORT}"
CONTROL_BASE = "/_simulator"
WORLD_BASE = "/_worlds/"
"""What lies below `/_worlds/ID` is the server as that world's clients see it: control calls need no header there."""


def listening(variables: Mapping[str, str]) -> str:
    """Where `serve` listens with the same variables; one that listens everywhere is found on loopback."""
    host, port = variables.get("SIMULATOR_HOST") or DEFAULT_HOST, variables.get("SIMULATOR_PORT") or DEFAULT_PORT
    host = {"0.0.0.0": DEFAULT_HOST, "::": "::1"}.get(host, host)
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def inbox_path(world_id: str, name: str) -> str:
    """Return the path at which an inbox takes the webhooks of a world.

    The path names the world, so that a server that shares its worlds with others knows which of them has it.
    """
    return f"{WORLD_BASE}{quote(world_id, safe='')}{CONTROL_BASE}/inbox/{quote(name, safe='')}"
