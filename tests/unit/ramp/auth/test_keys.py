"""The actions create_key and revoke_key, and the state table of a key pair."""

from __future__ import annotations

from typing import Any

import pytest

from simulator.engine.records.records import find, move, present, render
from simulator.engine.rows.error import ApiError, ControlError
from simulator.engine.worlds.directory import directory_of
from simulator.kernel.journal import Cause
from simulator.kernel.machine import IllegalMove
from simulator.kernel.world import World
from simulator.providers.ramp import auth, profile, reference
from simulator.providers.ramp.auth import credentials, token_holder
from simulator.providers.ramp.auth.records import PERMISSIONS
from simulator.providers.ramp.auth.states import KEY_PAIR
from tests.support import act, event_types, find_operation, invoke, make_world

ROOMS = (reference.ROOM, profile.ROOM, auth.ROOM)
EXCHANGE = find_operation(ROOMS, "POST", "/auth/token")


@pytest.fixture
def world() -> World:
    return make_world(*ROOMS)


def created(world: World, environment: str = "sandbox", **values: Any) -> dict[str, Any]:
    resource = act(world, ROOMS, "create_key", environment=environment, **values).resource
    return {**present(resource)}


def exchange(world: World, pair: dict[str, Any], environment: str = "sandbox") -> str:
    body = {name: pair[name] for name in ("public_key", "secret_key")}
    token: str = invoke(world, EXCHANGE, body, environment=environment)["access_token"]
    return token


def control_refusal(world: World, action: str, **values: Any) -> tuple[int, str, str | None]:
    before = world.store.tables()
    with pytest.raises(ControlError) as raised:
        act(world, ROOMS, action, **values)
    assert world.store.tables() == before
    return raised.value.status, raised.value.code, raised.value.param


def test_a_new_key_shows_its_secret_label_permissions_and_moment(world: World) -> None:
    key = created(world, label="CI", permissions=["wallet", "read", "wallet"])
    assert list(key) == ["public_key", "secret_key", "label", "permissions", "created_at"]
    assert key["public_key"].startswith("pk_test_")
    assert key["secret_key"].startswith("sk_test_")
    assert (key["label"], key["permissions"]) == ("CI", ["wallet", "read"])
    assert key["created_at"] == "2026-01-05T08:00:00.000Z"


def test_a_new_key_may_do_everything_by_default_and_nothing_with_no_permissions(world: World) -> None:
    assert created(world)["permissions"] == list(PERMISSIONS)
    assert created(world, permissions=[])["permissions"] == []


def test_old_and_new_pair_both_work_until_one_is_revoked(world: World) -> None:
    old, new = credentials(world)["sandbox"], created(world)
    old_token, new_token = exchange(world, old), exchange(world, new)
    assert directory_of(world)[new["public_key"]] == world.id
    act(world, ROOMS, "revoke_key", public_key=old["public_key"])
    with pytest.raises(ApiError, match="unauthorized"):
        token_holder(world, "sandbox", old_token)
    with pytest.raises(ApiError, match="invalid_credentials"):
        exchange(world, old)
    assert token_holder(world, "sandbox", new_token).public_key == new["public_key"]


def test_the_shown_credentials_are_the_oldest_pair_that_works(world: World) -> None:
    first, second = credentials(world)["sandbox"], created(world)
    assert credentials(world)["sandbox"] == first
    act(world, ROOMS, "revoke_key", public_key=first["public_key"])
    assert credentials(world)["sandbox"]["public_key"] == second["public_key"]
    act(world, ROOMS, "revoke_key", public_key=second["public_key"])
    assert credentials(world)["sandbox"] == first


def test_keys_are_made_and_revoked_in_the_environment_of_the_action(world: World) -> None:
    live = created(world, "production")
    assert live["public_key"].startswith("pk_live_")
    exchange(world, live, "production")
    missing = control_refusal(world, "revoke_key", public_key=live["public_key"])
    assert missing == (404, "not_found", "public_key")
    act(world, ROOMS, "revoke_key", environment="production", public_key=live["public_key"])
    with pytest.raises(ApiError, match="invalid_credentials"):
        exchange(world, live, "production")


def test_new_keys_differ_from_each_other_and_repeat_with_id_and_seed(world: World) -> None:
    keys = [created(world)["public_key"], created(world)["public_key"]]
    assert len(set(keys)) == 2
    again = make_world(*ROOMS)
    assert [created(again)["public_key"], created(again)["public_key"]] == keys


def test_a_revoked_key_is_shown_without_its_secret(world: World) -> None:
    done = act(world, ROOMS, "revoke_key", public_key="pk_test_simulator")
    assert done.resource == {
        "public_key": "pk_test_simulator",
        "label": "Default",
        "permissions": list(PERMISSIONS),
        "status": "revoked",
        "created_at": "2026-01-05T08:00:00.000Z",
    }
    assert list(done.events) == []


@pytest.mark.parametrize(
    ("action", "values", "refusal"),
    [
        ("create_key", {"permissions": ["read", "everything"]}, (400, "invalid_parameter", "permissions")),
        ("create_key", {"permissions": [1]}, (400, "invalid_parameter", "permissions")),
        ("create_key", {"permissions": "read"}, (400, "invalid_parameter", "permissions")),
        ("create_key", {"label": 3}, (400, "invalid_parameter", "label")),
        ("revoke_key", {}, (400, "missing_parameter", "public_key")),
        ("revoke_key", {"public_key": 3}, (400, "invalid_parameter", "public_key")),
        ("revoke_key", {"public_key": "pk_test_unknown"}, (404, "not_found", "public_key")),
    ],
)
def test_key_actions_name_the_wrong_parameter(
    world: World, action: str, values: dict[str, Any], refusal: tuple[int, str, str]
) -> None:
    assert control_refusal(world, action, **values) == refusal


def test_a_key_is_revoked_only_once(world: World) -> None:
    act(world, ROOMS, "revoke_key", public_key="pk_test_simulator")
    assert control_refusal(world, "revoke_key", public_key="pk_test_simulator") == (409, "invalid_transition", None)


def test_keys_emit_no_events(world: World) -> None:
    act(world, ROOMS, "revoke_key", public_key=created(world)["public_key"])
    assert event_types(world) == []


def test_the_state_table_begins_active_and_ends_revoked() -> None:
    begun = KEY_PAIR.begin("create_key")
    assert (begun.target, begun.events) == ("active", ())
    assert [(cell.on, cell.target, cell.events) for cell in KEY_PAIR.rows["active"]] == [("revoke_key", "revoked", ())]
    assert KEY_PAIR.rows["revoked"] == ()


def test_moves_outside_the_state_table_raise_and_change_nothing(world: World) -> None:
    act(world, ROOMS, "revoke_key", public_key="pk_test_simulator")
    pair: Any = find(world, "pk_test_simulator")
    before = world.store.tables()
    with pytest.raises(IllegalMove), world.change(Cause("action", "test")):
        move(world, pair, "revoke_key")
    assert world.store.tables() == before
    assert "secret_key" not in render(world, pair)
