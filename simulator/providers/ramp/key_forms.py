"""The form of the service's keys and tokens: `sk_test_…` in the sandbox, `sk_live_…` in production.

Clients check for live keys before they load a room, so this module imports none.
"""

from __future__ import annotations

from simulator.engine.clients.guard import LiveKeys

MODES = {"sandbox": "test", "production": "live"}
"""The word for each environment in its keys and tokens."""
WELL_KNOWN = "simulator"
"""The part after the prefix in the keys of the world `default`."""


def prefix(part: str, environment: str) -> str:
    """Return the prefix of a key or token: `pk` (public), `sk` (secret), `whk` (webhook) or `tok` of an environment."""
    return f"{part}_{MODES[environment]}_"


LIVE_KEYS = LiveKeys(
    [prefix(part, "production") for part in ("pk", "sk", "whk")],
    own=WELL_KNOWN,
    place="simulated production",
    example=prefix("sk", "production") + WELL_KNOWN,
)
