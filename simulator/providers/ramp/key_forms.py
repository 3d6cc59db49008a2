"""The format of keys and tokens (`sk_test_…` in the sandbox, `sk_live_…` in production), and the token request. Clients
check for live keys before they load the ramp, so this module does not import other packages of it.
"""

from __future__ import annotations

from simulator.engine.clients.guard import LiveKeys
from simulator.engine.rows.signature import Signature
from simulator.engine.rows.token_exchange import TokenExchange
from simulator.kernel.clock import MINUTE_MS

MODES = {"sandbox": "test", "production": "live"}
"""The part of a key or token that identifies its environment."""
WELL_KNOWN = "simulator"
"""The part of the keys after the prefix, for the world named `default`."""


def prefix(part: str, environment: str) -> str:
    """Return the prefix of an environment's keys or tokens. `part` is `pk`, `sk`, `whk` (webhook) or `tok`."""
    return f"{part}_{MODES[environment]}_"


LIVE_KEYS = LiveKeys(
    [prefix(part, "production") for part in ("pk", "sk", "whk")],
    own=WELL_KNOWN,
    place="simulated production",
    example=prefix("sk", "production") + WELL_KNOWN,
)
TOKEN_EXCHANGE = TokenExchange("/auth/token", token_field="access_token")
SIGNATURE = Signature(
    timestamp_header="X-Timestamp",
    signature_header="X-Signature",
    signed_string=lambda timestamp, raw: timestamp.encode() + b"." + raw,
    key_prefixes={environment: prefix("whk", environment) for environment in MODES},
    tolerance_ms=5 * MINUTE_MS,
)
