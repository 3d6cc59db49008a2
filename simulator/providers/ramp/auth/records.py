"""Key pairs and their tokens (section "Authentication" of the specification)."""

from __future__ import annotations

from simulator.engine.clients.guard import with_checksum
from simulator.engine.records.codec import StateError
from simulator.engine.rows.kind import Record
from simulator.engine.worlds.directory import directory_of
from simulator.kernel.dataclass import dataclass
from simulator.kernel.fields import Milliseconds
from simulator.kernel.ids import derive, text_of
from simulator.kernel.store import TableKey
from simulator.kernel.table import Table
from simulator.kernel.world import DEFAULT_WORLD, World
from simulator.providers.ramp.key_forms import WELL_KNOWN, prefix

TOKEN_LIFETIME_SECONDS = 3600

PERMISSIONS = ("read", "ramps", "wallet", "wallets", "beneficiaries", "recurring", "profile", "webhooks")
"""All permissions that a key pair can have (decision H18)."""

_KEY_LENGTH = 24
_TOKEN_LENGTH = 40
_LONGEST = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyPair(Record):
    """A public key and a secret key with their permissions. The public key is the record id."""

    kind = "api_key"
    secret_key: str
    label: str
    permissions: tuple[str, ...] = PERMISSIONS

    @property
    def public_key(self) -> str:
        return self.id


@dataclass(frozen=True, slots=True)
class Token:
    """A bearer token, its expiry time, and the key pair that it was issued for."""

    text: str
    public_key: str
    expires_at_ms: Milliseconds
    wall_expires_at_ms: Milliseconds = 0
    """With a scaled clock, the earliest wall-clock time at which the token expires (decision H17). Otherwise 0."""


KEY_PAIRS = TableKey("api_keys", KeyPair, per_environment=True, check=lambda key, pair: _check_credential(key))


def _check_token(key: str, token: Token) -> None:
    if token.text != key:
        raise StateError("text", "it must equal the key of the row")
    _check_credential(key)


def _check_credential(text: str) -> None:
    """Raise `StateError` if a client could not send a key or token in a header."""
    if not (text.isascii() and text.isprintable() and 1 <= len(text) <= _LONGEST):
        raise StateError("", f"a key or token must have 1 to {_LONGEST} printable ASCII characters")


TOKENS = TableKey("tokens", Token, per_environment=True, check=_check_token)


def key_pairs(world: World, environment: str) -> Table[KeyPair]:
    """Return an environment's key pairs by public key, oldest first, including revoked ones."""
    return world.store[KEY_PAIRS.of(environment)]


def tokens(world: World, environment: str) -> Table[Token]:
    """Return an environment's tokens, keyed by token string."""
    return world.store[TOKENS.of(environment)]


def key_texts(world: World, environment: str, number: int) -> tuple[str, str]:
    """Return the public key and the secret key of the key pair with the given number, counted from 0. All but the first
    key pair of the default world are derived from the world's id and seed, so no two worlds share keys.
    """
    pk, sk = prefix("pk", environment), prefix("sk", environment)
    if world.keys_of == DEFAULT_WORLD and number == 0:
        return pk + WELL_KNOWN, sk + WELL_KNOWN
    public, secret = (
        with_checksum(text_of(derive("key", world.keys_of, world.seed, environment, part, number), _KEY_LENGTH))
        for part in ("public", "secret")
    )
    return pk + public, sk + secret


def new_token_text(world: World, environment: str) -> str:
    """Return a token that this process has not issued, so that tokens from before a reset or restore stay invalid."""
    while True:
        directory_of(world).tokens_issued += 1
        number = directory_of(world).tokens_issued
        text = text_of(derive("token", world.keys_of, world.seed, environment, number), _TOKEN_LENGTH)
        token = prefix("tok", environment) + text
        if token not in directory_of(world):  # an imported world may already contain the token
            return token
