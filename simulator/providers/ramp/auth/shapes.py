"""How tokens and key pairs are shown: the table "Token response"; key pairs only by the control interface."""

from __future__ import annotations

from typing import Literal

from typing_extensions import TypedDict

from simulator.engine.text.json import JsonObject
from simulator.engine.text.shapes import Clauses, Count
from simulator.kernel.clock import format_timestamp
from simulator.kernel.world import World
from simulator.providers.ramp.auth.records import TOKEN_LIFETIME_SECONDS, KeyPair, Token


class TokenResponse(TypedDict):
    """A token for the calls of one environment."""

    access_token: str
    """The token; every other call sends it as `Authorization: Bearer <access_token>`."""
    token_type: Literal["Bearer"]
    """How the token is sent: always `Bearer`."""
    expires_in: Count
    """For how many seconds the token is good. There is no refresh: exchange the key pair again."""


def render_token(token: Token) -> TokenResponse:
    return {"access_token": token.text, "token_type": "Bearer", "expires_in": TOKEN_LIFETIME_SECONDS}


def render_key_pair(world: World, pair: KeyPair) -> JsonObject:
    """A key pair without its secret, which is shown only once."""
    return {
        "public_key": pair.public_key,
        "label": pair.label,
        "permissions": list(pair.permissions),
        "status": pair.status,
        "created_at": format_timestamp(pair.created_at_ms),
    }


def render_new_key_pair(pair: KeyPair) -> JsonObject:
    """A key pair at the moment of its making, with its secret."""
    return {
        "public_key": pair.public_key,
        "secret_key": pair.secret_key,
        "label": pair.label,
        "permissions": list(pair.permissions),
        "created_at": format_timestamp(pair.created_at_ms),
    }


CLAUSES: Clauses = {"Token response": (TokenResponse,)}
