"""Authentication: API key pairs, tokens, and key permissions."""

from __future__ import annotations

from simulator.engine.rows.kind import Kind
from simulator.engine.rows.room import Room
from simulator.providers.ramp.auth import operations
from simulator.providers.ramp.auth.operations import (
    all_keys,
    all_tokens,
    check_gates,
    credentials,
    permits,
    rekey,
    require_access,
    token_holder,
)
from simulator.providers.ramp.auth.records import KEY_PAIRS, TOKENS
from simulator.providers.ramp.auth.shapes import CLAUSES, render_key_pair
from simulator.providers.ramp.auth.states import ERRORS, KEY_PAIR

ROOM = Room(
    "auth",
    operations=(operations.create_token,),
    actions=operations.ACTIONS,
    tables=(TOKENS,),
    kinds=(Kind("api_key", KEY_PAIRS, render_key_pair, KEY_PAIR, listed=False),),
    setup=operations.set_up,
    verify=operations.verify,
    clauses=lambda: CLAUSES,
    errors=ERRORS,
)
