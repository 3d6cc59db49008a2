"""The default address of a simulator, and the base path of its control API."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import quote

DEFAULT_HOST = "127.0.0.1"
DEFAULT_PORT = 8642
DEFAULT_URL = f"http://{DEFAULT_HOST}:{DEFAULT_PORT}"
CONTROL_BASE = "/_simulator"
WORLD_BASE = "/_worlds/"
"""The prefix of `/_worlds/ID`, the base path for clients of one world. Control requests below it need no header."""


def listening(variables: Mapping[str, str]) -> str:
    """Return the URL at which clients on this machine reach `serve`, if these environment variables configure it."""
    host, port = variables.get("SIMULATOR_HOST") or DEFAULT_HOST, variables.get("SIMULATOR_PORT") or DEFAULT_PORT
    host = {"0.0.0.0": DEFAULT_HOST, "::": "::1"}.get(host, host)
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def inbox_path(world_id: str, name: str) -> str:
    """Return the path at which an inbox receives webhooks. Replicas use the world id in it to find the owner."""
    return f"{WORLD_BASE}{quote(world_id, safe='')}{CONTROL_BASE}/inbox/{quote(name, safe='')}"
