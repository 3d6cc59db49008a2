"""The proof that a request was forwarded by another replica that uses the same database.

A forwarding replica adds a header with the world's id. Without the proof, any caller could set this header. The proof
covers the replica, the world, and the request's method, path, query, bearer token and body. Replaying the same request
gains nothing, because the request is not forwarded again and its token is checked.
"""

from __future__ import annotations

import hmac
from hashlib import sha256

from starlette.types import Scope

from simulator.engine.text.json import dumps

FORWARDED = b"x-rampsim-forwarded"
"""A header of forwarded requests. The header contains the id of the world that the forwarding replica found."""
PROOF = b"x-rampsim-proof"
"""The header that contains the proof."""
_BOUND = (b"authorization", b"x-simulator-world")
"""The request headers that determine the world."""


def proof_of(secret: bytes, address: str, world: str, scope: Scope, body: bytes) -> str:
    """Return the proof (a MAC) for a request that is forwarded to the replica at `address`."""
    said = [
        address,
        world,
        scope["method"],
        path_of(scope).decode("latin-1"),
        scope["query_string"].decode("latin-1"),
        *(f"{name.decode()}: {value.decode('latin-1')}" for name, value in scope["headers"] if name in _BOUND),
        sha256(body).hexdigest(),
    ]
    return hmac.new(secret, dumps(said), sha256).hexdigest()


def path_of(scope: Scope) -> bytes:
    """Return the path of a request exactly as it was sent."""
    path: bytes = scope.get("raw_path") or scope["path"].encode()
    return path


def take_out(scope: Scope) -> tuple[Scope, dict[bytes, bytes]]:
    """Return a request without the headers that a forwarding replica adds, and these headers."""
    headers = [(name, value) for name, value in scope["headers"] if name not in (FORWARDED, PROOF)]
    if len(headers) == len(scope["headers"]):
        return scope, {}
    return {**scope, "headers": headers}, {n: value for n, value in scope["headers"] if n in (FORWARDED, PROOF)}


def proved_world(secret: bytes, address: str, given: dict[bytes, bytes], scope: Scope, body: bytes) -> str | None:
    """Return the id of the world that another replica has found for this request, or None if none has forwarded it."""
    if not given or not secret:  # The store has not been opened yet.
        return None
    world = given.get(FORWARDED, b"").decode("latin-1")
    wanted = proof_of(secret, address, world, scope, body)
    return world if hmac.compare_digest(wanted.encode(), given.get(PROOF, b"")) else None
