"""Where a simulator is found: its default address, and the path of its control interface."""

from __future__ import annotations

from collections.abc import Mapping

DEFAULT_HOST = "127.0.0.1"
DEFAULT_PORT = 8642
DEFAULT_URL = f"http://{DEFAULT_HOST}:{DEFAULT_PORT}"
CONTROL_BASE = "/_simulator"


def listening(variables: Mapping[str, str]) -> str:
    """Where `serve` listens with the same variables; one that listens everywhere is found on loopback."""
    host, port = variables.get("SIMULATOR_HOST") or DEFAULT_HOST, variables.get("SIMULATOR_PORT") or DEFAULT_PORT
    host = {"0.0.0.0": DEFAULT_HOST, "::": "::1"}.get(host, host)
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
