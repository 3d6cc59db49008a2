"""The clients of a world: they authenticate automatically, and are closed with the world."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import anyio
import httpx
import pytest

from simulator.testing import SimulatorError, World


def sign_ins(world: World) -> int:
    return len(world.requests(path="/auth/token"))


def test_a_client_signs_in_once(kit: World) -> None:
    assert [kit.client.get("/profile").status_code for _ in range(3)] == [200, 200, 200]
    assert sign_ins(kit) == 1


def test_the_clients_of_an_environment_share_the_token(kit: World) -> None:
    async def go() -> int:
        async with kit.async_client as client:
            return (await client.get("/profile")).status_code

    kit.client.get("/profile")
    assert anyio.run(go) == 200
    assert sign_ins(kit) == 1


def test_a_token_that_has_lapsed_on_the_simulated_clock_is_renewed(kit: World) -> None:
    kit.client.get("/profile")
    kit.advance("61m")
    assert kit.client.get("/profile").status_code == 200
    assert [row["status"] for row in kit.requests()] == [200, 200, 401, 200, 200]


def test_a_call_that_is_refused_again_is_not_repeated_forever(kit: World) -> None:
    with kit.fault("GET /profile", respond={"status": 401, "code": "unauthorized"}) as fault:
        assert kit.client.get("/profile").status_code == 401
        assert fault.hits == 2


def test_a_401_that_persists_with_a_new_token_is_returned(kit: World) -> None:
    with kit.fault("GET /profile", respond={"status": 401, "code": "environment_mismatch"}) as fault:
        assert kit.client.get("/profile").json()["error"]["code"] == "environment_mismatch"
        assert fault.hits == 1


def test_the_answer_of_a_sign_in_that_is_refused_is_that_of_the_call(kit: World) -> None:
    kit.act("set_production_access", granted=False)
    answer = kit.production.get("/profile")
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "production_access_required")


def test_a_sign_in_that_is_garbled_is_shown_as_it_came(kit: World) -> None:
    with kit.fault("POST /auth/token", malformed="garbage"):
        assert kit.client.get("/profile").text.startswith("<html>")
        with pytest.raises(SimulatorError, match="is not from a simulator's"):
            kit.token()
    assert kit.client.get("/profile").status_code == 200


def test_after_a_key_is_revoked_the_client_shows_it(kit: World) -> None:
    kit.client.get("/profile")
    kit.act("revoke_key", public_key=kit.keys.public_key)
    assert kit.client.get("/profile").json()["error"]["code"] == "invalid_credentials"


def test_a_call_with_its_own_token_is_unchanged(kit: World) -> None:
    answer = kit.client.get("/profile", headers={"Authorization": "Bearer nonsense"})
    assert answer.status_code == 401
    assert sign_ins(kit) == 0


def test_sandbox_and_production_are_apart(kit: World) -> None:
    assert kit.client.get("/profile").status_code == kit.production.get("/profile").status_code == 200
    assert [row["environment"] for row in kit.requests(path="/profile")] == ["sandbox", "production"]
    assert kit.production.base_url.path.startswith("/production/v1")


def test_a_token_for_a_client_of_ones_own(kit: World) -> None:
    with httpx.Client(transport=kit.link.transport(), trust_env=False) as own:
        for token, base in ((kit.token(), kit.base_url), (kit.token("production"), kit.production_url)):
            assert own.get(f"{base}/profile", headers={"Authorization": f"Bearer {token}"}).status_code == 200
    assert kit.token() != kit.token()


def test_a_token_that_is_refused_says_why(kit: World) -> None:
    kit.act("set_production_access", granted=False)
    with pytest.raises(SimulatorError, match="roduction") as caught:
        kit.token("production")
    assert (caught.value.status, caught.value.code) == (403, "production_access_required")


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_the_async_client_works_under_asyncio_and_trio(kit: World, backend: str) -> None:
    async def go() -> list[int]:
        client = kit.async_client
        first = (await client.get("/profile")).status_code
        found: list[int] = []

        async def one() -> None:
            found.append((await client.get("/profile")).status_code)

        async with anyio.create_task_group() as group:
            for _ in range(5):
                group.start_soon(one)
        return [first, *found]

    assert anyio.run(go, backend=backend) == [200] * 6
    assert sign_ins(kit) == 1


def test_the_async_client_outlives_an_event_loop(kit: World) -> None:
    async def go() -> int:
        return (await kit.async_client.get("/profile")).status_code

    assert [anyio.run(go) for _ in range(3)] == [200] * 3


def test_the_clients_are_closed_with_the_world_and_the_others_continue(kit: World) -> None:
    with kit.fork() as other:
        assert other.client.get("/profile").status_code == 200
    with pytest.raises(RuntimeError, match="closed"):
        other.client.get("/profile")
    assert kit.client.get("/profile").status_code == 200


ENDINGS: dict[str, Callable[[World, Any], None]] = {
    "reset": lambda world, snapshot: world.reset(),
    "restore": lambda world, snapshot: world.restore(snapshot),
}


@pytest.mark.parametrize("ending", ENDINGS)
def test_clients_authenticate_again_after_a_restore(kit: World, ending: str) -> None:
    snapshot = kit.snapshot()
    kit.client.get("/profile")
    ENDINGS[ending](kit, snapshot)
    answers: list[int] = []  # the journal does not show a call whose token belongs to no world
    kit.client.event_hooks = {"response": [lambda response: answers.append(response.status_code)]}
    assert kit.client.get("/profile").status_code == 200
    assert answers == [200, 200]


def test_a_client_is_not_made_before_it_is_used(kit: World, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[object] = []
    monkeypatch.setattr(httpx, "Client", lambda **given: made.append(given))
    assert kit.now
    assert made == []
