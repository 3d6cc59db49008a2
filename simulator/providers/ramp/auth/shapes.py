"""Response models for tokens (table "Token response") and for key pairs, which only the control API returns."""

from __future__ import annotations

from typing import Literal

from typing_extensions import TypedDict

from simulator.engine.text.json import JsonObject
from simulator.engine.text.shapes import Clauses, Count
from simulator.kernel.clock import format_timestamp
from simulator.kernel.world import World
from simulator.providers.ramp.auth.records import TOKEN_LIFETIME_SECONDS, KeyPair, Token


class TokenResponse(TypedDict):
    """A token for requests in one environment."""

    access_token: str
    """The token. Send it with every other request as `Authorization: Bearer <access_token>`."""
    token_type: Literal["Bearer"]
    """The token type, which is always `Bearer`."""
    expires_in: Count
    """The lifetime of the token in seconds. A token cannot be refreshed. When it expires, exchange the key pair again.
    """


def render_token(token: Token) -> TokenResponse:
    return {"access_token": token.text, "token_type": "Bearer", "expires_in": TOKEN_LIFETIME_SECONDS}


def render_key_pair(world: World, pair: KeyPair) -> JsonObject:
    """Return a key pair without its secret key. The secret key is only shown once, when the key pair is created."""
    return {
        "public_key": pair.public_key,
        "label": pair.label,
        "permissions": list(pair.permissions),
        "status": pair.status,
        "created_at": format_timestamp(pair.created_at_ms),
    }


def render_new_key_pair(pair: KeyPair) -> JsonObject:
    """Return a new key pair with its secret key."""
    return {
        "public_key": pair.public_key,
        "secret_key": pair.secret_key,
        "label": pair.label,
        "permissions": list(pair.permissions),
        "created_at": format_timestamp(pair.created_at_ms),
    }


CLAUSES: Clauses = {"Token response": (TokenResponse,)}
