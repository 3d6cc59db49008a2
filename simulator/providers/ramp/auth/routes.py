"""The operation of authentication, POST /auth/token, and the key actions."""

from __future__ import annotations

from simulator.engine.rows.action import Action
from simulator.engine.rows.operation import Operation
from simulator.providers.ramp.auth import actions, bodies
from simulator.providers.ramp.auth.shapes import TokenResponse

TAG = "Authentication"


OPERATIONS = (
    Operation(
        "POST",
        "/auth/token",
        "create_token",
        TAG,
        "Exchange a key pair for a Bearer token",
        actions.exchange,
        lambda: TokenResponse,
        body=lambda: bodies.TokenBody,
        token=False,
        profile_gate=False,
        idempotent=False,
        refuses_with="invalid_request",
        errors=("invalid_request", "invalid_credentials", "environment_mismatch", "production_access_required"),
        description=(
            "Exchanges a key pair for a token that is good for `expires_in` seconds in the environment of the "
            "pair. Every other operation needs one, as `Authorization: Bearer <access_token>`. There is no "
            "refresh: exchange the pair again once a call answers 401. Refused with invalid_credentials for a "
            "wrong or revoked pair, and with environment_mismatch for a pair of the other environment."
        ),
    ),
)

ACTIONS = (
    Action(
        "create_key",
        "a further key pair is made in the dashboard",
        actions.create_key,
        parameters=lambda: bodies.NewKey,
        check=actions.check_key,
    ),
    Action("revoke_key", "a key pair stops working at once", actions.revoke_key, parameters=lambda: bodies.RevokedKey),
)
