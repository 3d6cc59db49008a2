"""The proof that a call was sent on by a replica of the same database, and not by anybody who knows the header.

The proof ties the header to one replica, one world and one call: method, path, query, bearer and body. Nobody can use
it for another call. The same call, sent again with it, is only not sent on any more, and its token is asked for anyway.
"""

from __future__ import annotations

import hmac
from hashlib import sha256

from starlette.types import Scope

from simulator.engine.text.json import dumps

FORWARDED = b"x-rampsim-forwarded"
"""The header of a call that another replica has sent on: the world that it found the call to want."""
PROOF = b"x-rampsim-proof"
"""The header that proves it."""
_TIED = (b"authorization", b"x-simulator-world")
"""The headers by which a call finds its world."""


def proof_of(secret: bytes, address: str, world: str, scope: Scope, body: bytes) -> str:
    """Return the proof for a call that is sent on to the replica at an address."""
    said = [
        address,
        world,
        scope["method"],
        path_of(scope).decode("latin-1"),
        scope["query_string"].decode("latin-1"),
        *(f"{name.decode()}: {value.decode('latin-1')}" for name, value in scope["headers"] if name in _TIED),
        sha256(body).hexdigest(),
    ]
    return hmac.new(secret, dumps(said), sha256).hexdigest()


def path_of(scope: Scope) -> bytes:
    """Return the path of a request as it goes on the wire."""
    path: bytes = scope.get("raw_path") or scope["path"].encode()
    return path


def take_out(scope: Scope) -> tuple[Scope, dict[bytes, bytes]]:
    """Return the request without the headers of a forwarding, and these headers."""
    headers = [(name, value) for name, value in scope["headers"] if name not in (FORWARDED, PROOF)]
    if len(headers) == len(scope["headers"]):
        return scope, {}
    return {**scope, "headers": headers}, {n: value for n, value in scope["headers"] if n in (FORWARDED, PROOF)}


def proved_world(secret: bytes, address: str, given: dict[bytes, bytes], scope: Scope, body: bytes) -> str | None:
    """Return the world that another replica found a call to want, or None if no replica has sent it on."""
    if not given or not secret:  # the store has not been opened yet
        return None
    world = given.get(FORWARDED, b"").decode("latin-1")
    wanted = proof_of(secret, address, world, scope, body)
    return world if hmac.compare_digest(wanted.encode(), given.get(PROOF, b"")) else None
