"""POST /auth/token, and the permissions of its tokens (chapter "Authentication", decisions H17 and H18)."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from simulator.engine.records.records import INDEX
from simulator.engine.rows.error import ApiError
from simulator.engine.rows.operation import Call
from simulator.engine.worlds.directory import directory_of, enter_into, forget, register
from simulator.kernel.clock import HOUR_MS
from simulator.kernel.journal import Cause
from simulator.kernel.world import World
from simulator.providers.ramp import auth, profile, reference
from simulator.providers.ramp.auth import credentials, permits, require_access, token_holder
from simulator.providers.ramp.auth.records import PERMISSIONS, TOKENS
from simulator.providers.ramp.provider import IDENTITY
from tests.support import act, advance, find_operation, invoke, make_world

ROOMS = (reference.ROOM, profile.ROOM, auth.ROOM)
EXCHANGE = find_operation(ROOMS, "POST", "/auth/token")

TEST_PAIR = {"public_key": "pk_test_simulator", "secret_key": "sk_test_simulator"}
LIVE_PAIR = {"public_key": "pk_live_simulator", "secret_key": "sk_live_simulator"}


@pytest.fixture
def world() -> World:
    return make_world(*ROOMS)


def exchange(world: World, pair: dict[str, Any], environment: str = "sandbox") -> str:
    token: str = invoke(world, EXCHANGE, pair, environment=environment)["access_token"]
    return token


def refusal(world: World, body: dict[str, Any], environment: str = "sandbox") -> tuple[int, str, str | None]:
    with pytest.raises(ApiError) as raised:
        invoke(world, EXCHANGE, body, environment=environment)
    return raised.value.status, raised.value.code, raised.value.param


def test_a_pair_is_exchanged_for_a_bearer_token_of_an_hour(world: World) -> None:
    answer = invoke(world, EXCHANGE, TEST_PAIR)
    assert list(answer) == ["access_token", "token_type", "expires_in"]
    assert (answer["token_type"], answer["expires_in"]) == ("Bearer", 3600)
    assert token_holder(world, "sandbox", answer["access_token"]).public_key == "pk_test_simulator"


def test_token_exchange_needs_no_token_profile_or_idempotency_key() -> None:
    assert not EXCHANGE.token
    assert not EXCHANGE.profile_gate
    assert not EXCHANGE.idempotent
    assert (EXCHANGE.status, EXCHANGE.group) == (200, "")


def test_each_exchange_returns_a_new_token_and_all_work(world: World) -> None:
    first, second = exchange(world, TEST_PAIR), exchange(world, TEST_PAIR)
    assert first != second
    for token in (first, second):
        token_holder(world, "sandbox", token)


@pytest.mark.parametrize("field", ["public_key", "secret_key"])
@pytest.mark.parametrize("value", ["absent", None, 7, True, [], {}])
def test_a_missing_or_mistyped_key_is_an_invalid_request_naming_the_field(
    world: World, field: str, value: object
) -> None:
    """Decisions H4 and H17."""
    body: dict[str, Any] = {name: key for name, key in TEST_PAIR.items() if name != field or value != "absent"}
    if value != "absent":
        body[field] = value
    assert refusal(world, body) == (400, "invalid_request", field)


@pytest.mark.parametrize(
    ("public_key", "secret_key"),
    [
        ("pk_test_simulator", "sk_test_wrong"),
        ("pk_test_unknown", "sk_test_simulator"),
        ("", ""),
        ("pk_test", "sk_test_simulator"),
        ("PK_TEST_simulator", "sk_test_simulator"),
        ("sk_test_simulator", "pk_test_simulator"),
        ("nonsense", "sk_live_simulator"),
    ],
)
def test_an_unknown_pair_or_prefix_is_invalid_credentials(world: World, public_key: str, secret_key: str) -> None:
    """Decision H17."""
    body = {"public_key": public_key, "secret_key": secret_key}
    assert refusal(world, body) == (401, "invalid_credentials", None)


@pytest.mark.parametrize(
    ("body", "environment"),
    [
        (LIVE_PAIR, "sandbox"),
        (TEST_PAIR, "production"),
        ({"public_key": "pk_test_simulator", "secret_key": "sk_live_simulator"}, "sandbox"),
        ({"public_key": "pk_live_simulator", "secret_key": "sk_test_simulator"}, "sandbox"),
        ({"public_key": "pk_test_simulator", "secret_key": "sk_live_simulator"}, "production"),
        ({"public_key": "pk_live_unknown", "secret_key": "sk_live_unknown"}, "sandbox"),
    ],
)
def test_keys_of_the_other_environment_are_a_mismatch_even_if_unknown(
    world: World, body: dict[str, str], environment: str
) -> None:
    """Decision H17."""
    assert refusal(world, body, environment) == (401, "environment_mismatch", None)


def test_a_live_pair_works_on_production_and_its_token_only_there(world: World) -> None:
    token = exchange(world, LIVE_PAIR, "production")
    assert token_holder(world, "production", token).environment == "production"
    with pytest.raises(ApiError) as raised:
        token_holder(world, "sandbox", token)
    assert (raised.value.status, raised.value.code) == (401, "unauthorized")


def test_a_token_is_expired_from_exactly_an_hour_on(world: World) -> None:
    """Decision H17."""
    token = exchange(world, TEST_PAIR)
    advance(world, world.now_ms + 3_599_999)
    token_holder(world, "sandbox", token)
    advance(world, world.now_ms + 1)
    with pytest.raises(ApiError, match="unauthorized"):
        token_holder(world, "sandbox", token)


def test_tokens_expire_without_a_timer(world: World) -> None:
    before = len(world.agenda)
    exchange(world, TEST_PAIR)
    assert len(world.agenda) == before


@pytest.mark.parametrize("token", ["", "nonsense", "pk_test_simulator", "sk_test_simulator"])
def test_malformed_token_is_unauthorized(world: World, token: str) -> None:
    with pytest.raises(ApiError) as raised:
        token_holder(world, "sandbox", token)
    assert (raised.value.status, raised.value.code) == (401, "unauthorized")


def test_without_production_access_live_keys_and_tokens_are_refused(world: World) -> None:
    """Decision H18."""
    require_access(world, "production")
    act(world, ROOMS, "set_production_access", granted=False)
    assert refusal(world, LIVE_PAIR, "production") == (403, "production_access_required", None)
    with pytest.raises(ApiError) as raised:
        require_access(world, "production")
    assert (raised.value.status, raised.value.code) == (403, "production_access_required")
    exchange(world, TEST_PAIR)
    require_access(world, "sandbox")


def test_a_wrong_live_pair_is_refused_as_such_even_without_production_access(world: World) -> None:
    act(world, ROOMS, "set_production_access", granted=False)
    assert refusal(world, LIVE_PAIR | {"secret_key": "sk_live_wrong"}, "production")[1] == "invalid_credentials"


def test_a_refused_exchange_leaves_no_trace(world: World) -> None:
    before, known = world.store.tables(), dict(directory_of(world))
    refusal(world, TEST_PAIR | {"secret_key": "sk_test_wrong"})
    assert world.store.tables() == before
    assert directory_of(world) == known


def test_the_default_world_has_the_known_keys_with_any_seed() -> None:
    assert credentials(make_world(*ROOMS, seed=99)) == {"sandbox": TEST_PAIR, "production": LIVE_PAIR}


def test_other_worlds_derive_their_keys_from_id_and_seed() -> None:
    def keys(world_id: str, seed: int) -> dict[str, dict[str, str]]:
        return credentials(make_world(*ROOMS, seed=seed, world_id=world_id))

    assert keys("a", 1) == keys("a", 1)
    texts = [
        key for shown in (keys("a", 1), keys("a", 2), keys("b", 1)) for pair in shown.values() for key in pair.values()
    ]
    assert len(set(texts)) == len(texts)
    own = keys("a", 1)
    assert own["sandbox"]["public_key"].startswith("pk_test_")
    assert own["sandbox"]["secret_key"].startswith("sk_test_")
    assert own["production"]["public_key"].startswith("pk_live_")
    assert own["production"]["secret_key"].startswith("sk_live_")


def test_the_directory_has_public_keys_and_tokens_but_no_secrets() -> None:
    world = make_world(*ROOMS, world_id="a")
    pairs = credentials(world)
    token = exchange(world, pairs["sandbox"])
    for text in (pairs["sandbox"]["public_key"], pairs["production"]["public_key"], token):
        assert directory_of(world)[text] == "a"
    assert not any(pair["secret_key"] in directory_of(world) for pair in pairs.values())


def test_tokens_of_two_worlds_never_collide() -> None:
    one, other = make_world(*ROOMS, world_id="a"), make_world(*ROOMS, world_id="b")
    assert exchange(one, credentials(one)["sandbox"]) != exchange(other, credentials(other)["sandbox"])


def test_a_token_from_before_a_reset_is_never_issued_again() -> None:
    before = make_world(*ROOMS)
    token = exchange(before, TEST_PAIR)
    after = make_world(*ROOMS)
    enter_into(directory_of(before), after)
    assert exchange(after, TEST_PAIR) != token
    with pytest.raises(ApiError, match="unauthorized"):
        token_holder(after, "sandbox", token)


@pytest.mark.parametrize(
    ("permissions", "group", "reads", "allowed"),
    [
        (PERMISSIONS, "wallet", False, True),
        (("read",), "wallet", True, True),
        (("read",), "wallet", False, False),
        (("wallet",), "wallet", False, True),
        (("wallet",), "wallet", True, True),
        (("wallet",), "wallets", True, False),
        (("ramps",), "beneficiaries", False, False),
        ((), "", True, True),
        ((), "", False, True),
        ((), "profile", True, False),
    ],
)
def test_key_can_call_only_permitted_operations(
    world: World, permissions: tuple[str, ...], group: str, reads: bool, allowed: bool
) -> None:
    """Decision H18."""
    created = act(world, ROOMS, "create_key", permissions=list(permissions)).resource
    assert created is not None
    key = next(key for key in IDENTITY.keys(world) if key.public_key == created["public_key"])
    assert permits(key, group, reads) is allowed


def test_an_imported_world_is_entered_into_the_directory() -> None:
    origin = make_world(*ROOMS, world_id="a")
    pair = credentials(origin)["sandbox"]
    token = exchange(origin, pair)
    imported = make_world(*ROOMS, world_id="b")
    forget(imported, IDENTITY.directory_entries(imported))
    imported.store.replace(origin.store.tables())
    register(imported, IDENTITY.directory_entries(imported))
    assert credentials(imported)["sandbox"] == pair
    assert directory_of(imported) == dict.fromkeys((token, *IDENTITY.public_keys(origin)), "b")


def test_the_tokens_of_a_deleted_world_are_never_issued_again(world: World) -> None:
    token = exchange(world, TEST_PAIR)
    forget(world, IDENTITY.directory_entries(world))
    assert not directory_of(world)
    again = make_world(*ROOMS)
    enter_into(directory_of(world), again)
    assert exchange(again, TEST_PAIR) != token


def test_deleting_a_world_leaves_tokens_of_other_worlds(world: World) -> None:
    token = exchange(world, TEST_PAIR)
    directory_of(world)[token] = "another"
    forget(world, IDENTITY.directory_entries(world))
    assert dict(directory_of(world)) == {token: "another"}


def test_expired_tokens_are_dropped_a_day_later(world: World) -> None:
    old = [exchange(world, TEST_PAIR) for _ in range(50)]
    advance(world, world.now_ms + 20 * HOUR_MS)
    recent = exchange(world, TEST_PAIR)
    advance(world, world.now_ms + 6 * HOUR_MS)
    fresh = exchange(world, TEST_PAIR)
    assert [token.text for token in world.store[TOKENS.of("sandbox")].values()] == [recent, fresh]
    assert not set(old) & set(directory_of(world))
    assert {recent, fresh} <= set(directory_of(world))


def test_under_a_scaled_clock_a_token_also_lives_for_an_hour_of_the_wall_clock(world: World) -> None:
    """Decision H17: clients keep their own clock."""
    world.clock.mode, began_ms = "scaled", 1_800_000_000_000
    call = Call(world, "sandbox", {}, body=SimpleNamespace(**TEST_PAIR), wall_ms=began_ms)
    with world.change(Cause("request", "exchange_token")):
        shown: Any = EXCHANGE.action(call)
    token = shown["access_token"]
    advance(world, world.now_ms + 50 * HOUR_MS)
    exchange(world, TEST_PAIR)
    token_holder(world, "sandbox", token, began_ms + HOUR_MS - 1)
    for mode, wall_ms in (("scaled", began_ms + HOUR_MS), ("manual", began_ms), ("real", began_ms)):
        world.clock.mode = mode
        with pytest.raises(ApiError, match="unauthorized"):
            token_holder(world, "sandbox", token, wall_ms)


def test_under_a_slow_scaled_clock_a_token_lives_for_its_simulated_hour(world: World) -> None:
    world.clock.mode = "scaled"
    token = exchange(world, TEST_PAIR)
    advance(world, world.now_ms + HOUR_MS - 1)
    token_holder(world, "sandbox", token, wall_ms=2_000_000_000_000)


def test_a_fork_gets_its_own_keys_and_no_tokens(world: World) -> None:
    token = exchange(world, TEST_PAIR)
    added = act(world, ROOMS, "create_key").resource
    assert added is not None
    fork = make_world(*ROOMS, world_id="fork")
    laid = credentials(fork)
    fork.store.replace(world.store.tables())
    with fork.change(Cause("start", "fork")):
        auth.rekey(fork)
    assert credentials(fork) == laid
    assert len(IDENTITY.public_keys(fork)) == 2
    assert not fork.store[TOKENS.of("sandbox")].values()
    assert not any(key in fork.store[INDEX] for key in (added["public_key"], "pk_test_simulator"))
    with pytest.raises(ApiError, match="unauthorized"):
        token_holder(fork, "sandbox", token)
    token_holder(world, "sandbox", token)
    exchange(fork, laid["sandbox"])
