"""Authentication: key pairs, tokens, and what a key is allowed."""

from __future__ import annotations

from simulator.resources.auth.actions import (
    credentials,
    forget,
    key_pair,
    known_keys,
    permits,
    register,
    rekey,
    require_access,
    set_up,
    token_holder,
)
from simulator.resources.auth.records import KEY_PAIRS, TOKENS, key_pairs
from simulator.resources.auth.routes import ACTIONS, OPERATIONS
from simulator.resources.auth.shapes import CLAUSES, render_key_pair
from simulator.resources.auth.states import KEY_PAIR
from simulator.wire.assumptions import assume
from simulator.wire.records import Kind
from simulator.wire.room import Room

ROOM = Room(
    "auth",
    operations=OPERATIONS,
    actions=ACTIONS,
    tables=(TOKENS,),
    kinds=(Kind("api_key", KEY_PAIRS, render_key_pair, KEY_PAIR, listed=False),),
    setup=set_up,
    clauses=CLAUSES,
)

ASSUMPTIONS = assume(
    "the token exchange and key pairs",
    "Exchange wrong, mixed and revoked keys at the real token operation and look at status and code.",
    ("key-order", "A wrong pair is refused before missing production access is looked at: 401 goes before 403."),
    ("key-prefix", "A public key without pk_ or a secret key without sk_ has no known prefix, swapped ones included."),
    ("key-permissions", "A new key pair without permissions gets all; an empty list allows only what is free to all."),
    ("key-environment", "create_key and revoke_key work in the environment that the action applies to."),
    ("key-revoked-twice", "Revoking a revoked key pair is 409 invalid_transition."),
    ("key-shown", "Of several key pairs a world shows the oldest that is not revoked."),
)

__all__ = [
    "ROOM",
    "credentials",
    "forget",
    "key_pair",
    "key_pairs",
    "known_keys",
    "permits",
    "register",
    "rekey",
    "require_access",
    "token_holder",
]
