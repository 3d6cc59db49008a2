"""What a request says: its token, its key pair, its body (decisions H4, H12, H13 and S26)."""

from __future__ import annotations

from typing import Any

from simulator.server.messages import Incoming
from simulator.wire.errors import ApiError
from simulator.wire.json import MAX_BYTES, JsonObject, loads


def token_of(incoming: Incoming) -> str | None:
    """The Bearer token of a request, None where it sends none."""
    scheme, _, token = incoming.headers.get("authorization", "").partition(" ")
    return token.strip() or None if scheme.lower() == "bearer" else None


def public_key_of(incoming: Incoming) -> str | None:
    """The public key in the body of a token exchange: it alone ties even a refused call to a world (decision S26)."""
    if not incoming.body:
        return None
    try:
        body: Any = loads(incoming.body)
    except ValueError:
        return None
    key = body.get("public_key") if isinstance(body, dict) else None
    return key if isinstance(key, str) else None


def body_of(incoming: Incoming) -> JsonObject:
    """The JSON object of a body; an empty one counts as {} (decisions H4, H12, H13)."""
    if incoming.body is None:
        raise ApiError("invalid_request", f"The body is larger than {MAX_BYTES} bytes.")
    if not incoming.body:
        return {}
    kind = incoming.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json" and not (kind.startswith("application/") and kind.endswith("+json")):
        raise ApiError("invalid_request", "Send the body with Content-Type: application/json.")
    try:
        body: Any = loads(incoming.body)
    except ValueError as error:
        raise ApiError("invalid_request", f"The body is not valid JSON: {error}.") from None
    if not isinstance(body, dict):
        raise ApiError("invalid_request", "The body must be a JSON object.")
    return body
