"""The state table of key pairs, which cannot be activated again, and the error codes of this package (section
"Authentication").
"""

from __future__ import annotations

from simulator.engine.rows.error import ErrorCode
from simulator.kernel.machine import Machine, Move

KEY_PAIR = Machine(
    "key pair",
    initial=(Move("create_key", "active"),),
    rows={"active": (Move("revoke_key", "revoked"),), "revoked": ()},
)

INVALID_CREDENTIALS = ErrorCode(
    "invalid_credentials", 401, "the key pair does not match or is revoked", after="unauthorized"
)
ENVIRONMENT_MISMATCH = ErrorCode("environment_mismatch", 401, "a sandbox key on production or the reverse")

ERRORS = (INVALID_CREDENTIALS, ENVIRONMENT_MISMATCH)
