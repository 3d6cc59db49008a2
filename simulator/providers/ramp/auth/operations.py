"""Tokens, access checks, and key pairs (section "Authentication" of the specification; decisions H2, H17, H18). Tokens
have no expiry timer: each request compares the token's expiry time with the clock.
"""

from __future__ import annotations

from collections.abc import Iterator

from simulator.engine.records.codec import StateError
from simulator.engine.records.records import create, forget_record, move
from simulator.engine.rows.action import Action, ActionCall
from simulator.engine.rows.error import ApiError, ControlError
from simulator.engine.rows.operation import Call, Caller, Operation, OperationDecorator
from simulator.engine.text.fields import Wrong, wrong
from simulator.engine.text.json import JsonObject
from simulator.engine.worlds.directory import directory_of
from simulator.engine.worlds.settings import assumes
from simulator.kernel.clock import DAY_MS, SECOND_MS
from simulator.kernel.world import World
from simulator.providers.ramp.auth import bodies, records
from simulator.providers.ramp.auth.records import KeyPair, Token
from simulator.providers.ramp.auth.shapes import TokenResponse, render_key_pair, render_new_key_pair, render_token
from simulator.providers.ramp.auth.states import ENVIRONMENT_MISMATCH, INVALID_CREDENTIALS, KEY_PAIR
from simulator.providers.ramp.key_forms import MODES, prefix
from simulator.providers.ramp.profile import require_active, require_kyc, require_production_access

operation = OperationDecorator("Authentication")

_FIRST_LABEL = "Default"
_NEXT_LABEL = "API key"
_SWEPT = "tokens.hour"


@operation(
    "POST /auth/token",
    "Exchange a key pair for a Bearer token",
    token=False,
    profile_gate=False,
    idempotent=False,
    refuses_with="invalid_request",
    errors=("invalid_request", "invalid_credentials", "environment_mismatch", "production_access_required"),
)
def create_token(call: Call[bodies.TokenBody, None, None]) -> TokenResponse:
    """Exchanges a key pair for a token. The token is valid for `expires_in` seconds in the key pair's environment.
    Every other request must send the token in the header `Authorization: Bearer <access_token>`. Tokens cannot be
    refreshed. If a request returns 401, exchange the key pair again. The request fails with invalid_credentials if the
    key pair is wrong or revoked, and with environment_mismatch if it belongs to the other environment.
    """
    world, environment = call.world, call.environment
    public_key, secret_key = call.body.public_key, call.body.secret_key
    named = {_environment_of(public_key, "pk"), _environment_of(secret_key, "sk")}
    if None in named:
        raise INVALID_CREDENTIALS.error("The keys have no known prefix. Use a public key pk_… and a secret key sk_….")
    if named != {environment}:
        raise ENVIRONMENT_MISMATCH.error(
            f"The two keys are not both from the {environment} environment. Send a public key and a secret "
            "key from the same environment."
        )
    pair = records.key_pairs(world, environment).get(public_key)
    if pair is None or pair.secret_key != secret_key or pair.status != "active":
        raise INVALID_CREDENTIALS.error("The key pair does not match or is revoked.")
    require_access(world, environment)
    lifetime_ms = records.TOKEN_LIFETIME_SECONDS * SECOND_MS
    token = Token(
        records.new_token_text(world, environment),
        public_key,
        expires_at_ms=world.now_ms + lifetime_ms,
        wall_expires_at_ms=call.wall_ms + lifetime_ms if call.wall_ms else 0,
    )
    _forget_lapsed(world, call.wall_ms)
    records.tokens(world, environment).put(token.text, token)
    directory_of(world)[token.text] = world.id
    return render_token(token)


def _environment_of(key: str, part: str) -> str | None:
    """Return the environment in a key's prefix, or None if the prefix is unknown. `part` is `pk` or `sk`."""
    return next((one for one in MODES if key.startswith(prefix(part, one))), None)


def _forget_lapsed(world: World, wall_ms: int) -> None:
    """Delete tokens that expired more than a day ago, at most once an hour. Call this function inside a transaction.
    Requests with a younger token are still assigned to this world.
    """
    if not world.is_first_in_hour(_SWEPT):
        return
    for environment in world.environments:
        table = records.tokens(world, environment)
        for token in list(table.values()):
            if world.now_ms - token.expires_at_ms >= DAY_MS and _is_expired(world, token, wall_ms):
                table.delete(token.text)
                directory_of(world).pop(token.text, None)


def _is_expired(world: World, token: Token, wall_ms: int) -> bool:
    """Return True if a token has expired. With a scaled clock, it must also have expired in wall-clock time."""
    still_on_the_wall = world.clock.mode == "scaled" and wall_ms < token.wall_expires_at_ms
    return world.now_ms >= token.expires_at_ms and not still_on_the_wall


def token_holder(world: World, environment: str, token: str, wall_ms: int = 0) -> KeyPair:
    """Return the key pair that a token was issued for.

    Raise `ApiError` 401 unauthorized if the token is unknown, expired, revoked, or issued for the other environment.
    `wall_ms` is the wall-clock time in milliseconds. Clients cache tokens by wall-clock time even if the world's clock
    is scaled, so the expiry check needs both clocks (decision H17).
    """
    issued = records.tokens(world, environment).get(token)
    if issued is None:
        raise ApiError("unauthorized", "The access token is missing or invalid. Request one with POST /auth/token.")
    if _is_expired(world, issued, wall_ms):
        raise ApiError("unauthorized", "The access token has expired. Request a new one with POST /auth/token.")
    pair = records.key_pairs(world, environment).get(issued.public_key)
    if pair is None or pair.status != "active":
        raise ApiError("unauthorized", "The key pair of this access token was revoked.")
    return pair


def require_access(world: World, environment: str) -> None:
    """Raise `ApiError` 403 production_access_required if a live key is used without production access."""
    if environment == "production":
        require_production_access(world)


def permits(key: Caller, operation_group: str, reads: bool) -> bool:
    """Return True if a key pair may call an operation in a permission group (decision H18). The permission `read` is
    enough if the operation only `reads`. All key pairs may call the operations in the group "".
    """
    return not operation_group or operation_group in key.permissions or (reads and "read" in key.permissions)


def credentials(world: World) -> dict[str, dict[str, str]]:
    """Return the key pair to use in each environment, as {environment: {public_key, secret_key}}: the oldest active key
    pair, or the oldest one if none is active.
    """
    shown = {}
    for environment in world.environments:
        pairs = list(records.key_pairs(world, environment).values())
        pair = next((pair for pair in pairs if pair.status == "active"), pairs[0])
        shown[environment] = {"public_key": pair.public_key, "secret_key": pair.secret_key}
    return shown


def verify(world: World) -> None:
    """Raise `StateError` if a saved world has an environment without a key pair."""
    for environment in world.environments:
        if not records.key_pairs(world, environment).rows:
            table = records.KEY_PAIRS.of(environment).text
            raise StateError(f"tables.{table}", "a world needs at least one active key pair in each environment")


def set_up(world: World) -> None:
    """Create a key pair in each environment of a new world."""
    for environment in world.environments:
        _make(world, environment, _FIRST_LABEL, records.PERMISSIONS)


def _make(world: World, environment: str, label: str, permissions: tuple[str, ...]) -> KeyPair:
    number = world.next_sequence(f"keys.{environment}") - 1
    public_key, secret_key = records.key_texts(world, environment, number)
    pair = create(
        world,
        KeyPair(
            id=public_key,
            environment=environment,
            sequence=world.next_sequence("record"),
            created_at_ms=world.now_ms,
            updated_at_ms=world.now_ms,
            secret_key=secret_key,
            label=label,
            permissions=permissions,
        ),
        "create_key",
    )
    directory_of(world)[public_key] = world.id
    return pair


def check_key(wanted: bodies.NewKey) -> Iterator[Wrong]:
    """Yield the errors in the parameters of create_key."""
    for name in wanted.permissions or ():
        if name not in records.PERMISSIONS:
            yield wrong("permissions", f"{name!r} is not one of {', '.join(records.PERMISSIONS)}")


def create_key(call: ActionCall[None, bodies.NewKey]) -> JsonObject:
    """Create another key pair in the environment. Existing key pairs stay valid."""
    wanted: list[str] | None = call.parameters.permissions
    permissions = records.PERMISSIONS if wanted is None else tuple(dict.fromkeys(wanted))
    return render_new_key_pair(_make(call.world, call.environment, call.parameters.label or _NEXT_LABEL, permissions))


def revoke_key(call: ActionCall[None, bodies.RevokedKey]) -> JsonObject:
    """Revoke a key pair and all tokens issued to it."""
    pair = records.key_pairs(call.world, call.environment).get(call.parameters.public_key)
    if pair is None:
        raise ApiError("not_found", f"There is no such key pair in the {call.environment} environment.", "public_key")
    if not KEY_PAIR.permits(pair.status, "revoke_key"):
        raise ControlError(409, "invalid_transition", "This key pair is already revoked.", allowed=[])
    return render_key_pair(call.world, move(call.world, pair, "revoke_key"))


def all_keys(world: World) -> list[KeyPair]:
    """Return the key pairs of all environments, oldest first in each, including revoked ones."""
    return [pair for environment in world.environments for pair in records.key_pairs(world, environment).values()]


def all_tokens(world: World) -> list[str]:
    """Return all tokens of a world that have not been deleted."""
    return [token.text for environment in world.environments for token in records.tokens(world, environment).values()]


def rekey(world: World) -> None:
    """Replace the key pairs of a forked world and delete its tokens. Call this function inside a world transaction."""
    for environment in world.environments:
        for public_key in [pair.public_key for pair in records.key_pairs(world, environment).values()]:
            records.key_pairs(world, environment).delete(public_key)
            forget_record(world, public_key)
        for text in [token.text for token in records.tokens(world, environment).values()]:
            records.tokens(world, environment).delete(text)
        world.set_sequence(f"keys.{environment}", 0)
    set_up(world)


ACTIONS = (
    Action(
        "create_key",
        "a second key pair is created, as in the dashboard",
        create_key,
        parameters=lambda: bodies.NewKey,
        check=check_key,
    ),
    Action("revoke_key", "a key pair is revoked immediately", revoke_key, parameters=lambda: bodies.RevokedKey),
)


def check_gates(operation: Operation, call: Call) -> None:
    """Raise `ApiError` 403 if a check fails. The checks run in this order: environment, key permissions, profile, KYC.
    A control call that acts for the account uses no key.
    """
    if not operation.token:
        return
    require_access(call.world, call.environment)
    if call.caller is not None and not permits(call.caller, operation.group, operation.reads):
        raise ApiError("forbidden", "This key pair lacks the permission for this operation.")
    if operation.profile_gate:
        require_active(call.world)
    if operation.money or (operation.profile_gate and assumes(call.world, "H18", "kyc_for_every_call")):
        require_kyc(call.world)
