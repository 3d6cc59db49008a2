"""The reference page as one world sees it: with its keys in the samples, and envelopes that it signed.

The page itself is made once. What is put in here takes the place of marks, so that a call costs a few replacements.
"""

from __future__ import annotations

import html
import re

from simulator.engine.rows.service import signing_of
from simulator.engine.rows.vocabulary import identity_of
from simulator.engine.webhooks import webhook_key
from simulator.kernel.world import DEFAULT_WORLD, World

SIGNATURE = "@signature@"
WORLD_HEADER = "@world@"
_ENVELOPE = re.compile(rf'data-t=(\d+) data-s="{SIGNATURE}">([^<]*)<'.encode())


def own_page(page: bytes, world: World) -> bytes:
    """The page with the sandbox keys of a world, whose control calls name it."""
    pair, key = identity_of(world).credentials(world)["sandbox"], webhook_key(world, "sandbox")
    for usual, own in (("pk", pair["public_key"]), ("sk", pair["secret_key"]), ("whk", key)):
        page = page.replace(f"{usual}_test_simulator".encode(), own.encode())
    signature = signing_of(world).signature
    header = f" -H 'X-Simulator-World: {world.id}'" if world.id != DEFAULT_WORLD else ""

    def signed(found: re.Match[bytes]) -> bytes:
        raw = html.unescape(found[2].decode()).encode()
        return found[0].replace(SIGNATURE.encode(), signature.sign(key, found[1].decode(), raw).encode())

    return _ENVELOPE.sub(signed, page).replace(WORLD_HEADER.encode(), header.encode())
