"""The format of webhook signatures (section "Webhooks" of the specification; decisions W1 and W2).

Tools check signatures before they load other packages of the ramp, so this module does not import those packages.
"""

from __future__ import annotations

from simulator.engine.rows.signature import Signature
from simulator.kernel.clock import MINUTE_MS
from simulator.providers.ramp.key_forms import MODES, prefix

SIGNATURE = Signature(
    timestamp_header="X-Timestamp",
    signature_header="X-Signature",
    signed_string=lambda timestamp, raw: timestamp.encode() + b"." + raw,
    key_prefixes={environment: prefix("whk", environment) for environment in MODES},
    tolerance_ms=5 * MINUTE_MS,
)
