"""The identity of the ramp: key pairs and tokens of the room `auth`, users of the room `profile`."""

from __future__ import annotations

from simulator.engine.rows.identity import Identity
from simulator.providers.ramp import auth, profile

IDENTITY = Identity(
    caller=auth.token_holder,
    check_gates=auth.check_gates,
    keys=auth.all_keys,
    tokens=auth.all_tokens,
    credentials=auth.credentials,
    rekey=auth.rekey,
    account=profile.profile_of,
    other_users=profile.platform_users,
)
