"""The operation of authentication, POST /auth/token, and the parameters of the key actions."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from simulator.resources.auth import actions
from simulator.resources.auth.shapes import TokenResponse
from simulator.wire.fields import Body, Name, Text
from simulator.wire.operation import Operation
from simulator.wire.triggers import Trigger

TAG = "Authentication"


class TokenBody(Body):
    public_key: Annotated[str, Field(description="Starts with pk_test_ or pk_live_.")]
    secret_key: Annotated[str, Field(description="Starts with sk_test_ or sk_live_.")]


class NewKey(Body):
    label: Name | None = None
    permissions: list[str] | None = None


class RevokedKey(Body):
    public_key: Text


OPERATIONS = (
    Operation(
        "POST",
        "/auth/token",
        "create_token",
        TAG,
        "Exchange a key pair for a Bearer token",
        actions.exchange,
        TokenResponse,
        body=TokenBody,
        token=False,
        profile_gate=False,
        idempotent=False,
        refuses_with="invalid_request",
        errors=("invalid_request", "invalid_credentials", "environment_mismatch", "production_access_required"),
    ),
)

TRIGGERS = (
    Trigger(
        "create_key",
        "a further key pair is made in the dashboard",
        actions.create_key,
        parameters=NewKey,
        check=actions.check_key,
    ),
    Trigger("revoke_key", "a key pair stops working at once", actions.revoke_key, parameters=RevokedKey),
)
