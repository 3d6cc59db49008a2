"""Replicas with control tokens, and requests from strangers and other teams."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import asyncpg
import httpx
import pytest

from simulator.engine.durable.shared.reader import LOCKS
from simulator.kernel.world import DEFAULT_WORLD
from tests.service.durable.test_sharing import Here, run

ADMIN = {"Authorization": "Bearer all-of-it-0123456789"}
TEAM_A = {"Authorization": "Bearer a-secret-0123456789"}
TEAM_B = {"Authorization": "Bearer b-secret-0123456789"}
FORGED = {"X-Rampsim-Forwarded": "anything", "X-Rampsim-Proof": "0" * 64}

Play = Callable[..., Awaitable[None]]
Playing = Callable[[int, Play], None]


@pytest.fixture
def play(database: str, tmp_path: Path) -> Playing:
    """Run a test on replicas with a token for all worlds and one for each of two teams."""
    rows = [
        {"name": "admin", "token": "all-of-it-0123456789", "worlds": "*"},
        {"name": "team-a", "token": "a-secret-0123456789", "worlds": "team-a-", "most_worlds": 3},
        {"name": "team-b", "token": "b-secret-0123456789", "worlds": "team-b-"},
    ]
    path = tmp_path / "tokens.json"
    path.write_text(json.dumps({"tokens": rows}))
    return lambda count, play: run(database, count, play, control_tokens=path)


async def make(replica: Here, world: str, bearer: dict[str, str], **more: Any) -> httpx.Response:
    return await replica.http.post("/_simulator/worlds", json={"id": world, **more}, headers=bearer)


async def sign_in(replica: Here, made: httpx.Response) -> dict[str, str]:
    keys = made.json()["credentials"]["sandbox"]
    told = await replica.http.post("/v1/auth/token", json={n: keys[n] for n in ("public_key", "secret_key")})
    return {"Authorization": f"Bearer {told.raise_for_status().json()['access_token']}"}


async def kept(replica: Here) -> list[Any]:
    """Return everything that a stranger could have written to the database, and the held locks."""
    async with replica.sharing.store._read() as connection:
        return [
            await connection.fetch("SELECT id, epoch, owner, base IS NULL FROM worlds ORDER BY id"),
            await connection.fetch("SELECT * FROM credentials ORDER BY credential"),
            await connection.fetch("SELECT objid FROM pg_locks WHERE locktype = 'advisory' AND classid = $1", LOCKS),
        ]


async def rest(replica: Here, *worlds: str) -> None:
    """Release worlds."""
    released = replica.released(*worlds)
    replica.sharing.idle_seconds = 0
    await released.wait()
    replica.sharing.idle_seconds = 60


def error(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]["code"]


# Calls that only look as if another replica had sent them


def test_a_forged_forwarding_is_as_good_as_none(play: Playing) -> None:
    async def playing(one: Here, two: Here) -> None:
        assert (await make(one, "team-a-1", TEAM_A)).status_code == 201
        mine = await sign_in(two, await make(two, "team-b-1", TEAM_B))
        generation = two.sharing.generation
        for world in ("anything", "team-b-1", "team-a-1", DEFAULT_WORLD):
            headers = {**TEAM_A, **FORGED, "X-Rampsim-Forwarded": world}
            again = await make(two, "team-a-1", headers, replace=True)
            assert again.status_code == 201, again.text
            elsewhere = await make(two, "team-b-1", headers, replace=True)
            assert error(elsewhere) == (403, "forbidden")
            shown = await two.http.get("/v1/profile", headers={**mine, **FORGED, "X-Rampsim-Forwarded": world})
            assert shown.status_code == 200, shown.text
        assert (two.sharing.generation, two.sharing.machine.owned()) == (generation, ["team-b-1"])
        assert one.sharing.machine.owned() == ["team-a-1"]

    play(2, playing)


def test_forwarding_is_proved_and_invisible(play: Playing) -> None:
    async def playing(one: Here, two: Here) -> None:
        mine = await sign_in(one, await make(one, "team-a-1", TEAM_A))
        seen: list[bool] = []
        asking = one.sharing.ask

        async def ask(world: str, *, is_forwarded: bool, **more: Any) -> Any:
            seen.append(is_forwarded)
            return await asking(world, is_forwarded=is_forwarded, **more)

        one.sharing.ask = ask  # type: ignore[method-assign]  # the test sees each call
        for replica in (one, two):
            assert (await replica.http.get("/v1/profile", headers=mine)).status_code == 200
        assert seen == [False, True]
        calls = await one.http.get("/_worlds/team-a-1/_simulator/requests", headers=TEAM_A)
        here, hopped = ({name.lower() for name in call["headers"]} for call in calls.json()["data"][-2:])
        assert here == hopped
        assert hopped <= here

    play(2, playing)


# Strangers


def test_a_stranger_writes_locks_and_loads_nothing(play: Playing) -> None:
    async def playing(one: Here, two: Here) -> None:
        await make(one, "team-a-1", TEAM_A)
        await rest(one, "team-a-1")
        before = await kept(two)
        document = {"tables": {"api_keys": [["pk_test_of_nobody", {}]]}}
        snapshots = "/_simulator/snapshots/snap_1"
        for method, path, body in [
            ("POST", "/_simulator/worlds", {"id": "junk"}),
            ("GET", "/_simulator/worlds", None),
            ("GET", "/_simulator/worlds?limit=1", None),
            ("GET", "/_simulator/worlds/team-a-1", None),
            ("DELETE", "/_simulator/worlds/team-a-1", None),
            ("PUT", "/_simulator/state", document),
            ("PUT", "/_worlds/team-a-1/_simulator/state", document),
            ("GET", "/_worlds/team-a-1/_simulator/requests", None),
            ("GET", "/_simulator/stream?world=team-a-1", None),
            ("POST", f"{snapshots}/restore", {}),
            ("POST", "/_simulator/prune", {"world": "team-a-1"}),
            ("POST", "/_worlds/team-a-1/_simulator/inbox/mine", {}),
            ("POST", "/_worlds/junk/_simulator/inbox/mine", {}),
            ("GET", "/_simulator", None),
        ]:
            for headers in ({}, FORGED, {"Authorization": "Bearer wrong"}):
                answer = await two.http.request(method, path, json=body, headers=headers)
                assert error(answer) == (401, "unauthorized"), (method, path, answer.text)
                assert "team-a-1" not in answer.text
        for path in ("/_simulator/docs/", "/llms.txt", "/_simulator/dashboard", "/_worlds/team-a-1/_simulator/docs/"):
            assert (await two.http.get(path)).status_code == 200, path
        assert await kept(two) == before
        assert (one.sharing.machine.owned(), two.sharing.machine.owned()) == ([], [])

    play(2, playing)


def test_a_stranger_learns_no_world_by_its_keys(play: Playing) -> None:
    async def playing(one: Here) -> None:
        made = await make(one, "team-b-secret", TEAM_B)
        key = made.json()["credentials"]["sandbox"]["public_key"]
        document = {"tables": {"api_keys": [[key, {}], ["pk_test_of_nobody", {}]]}}
        nobody = await one.http.put("/_simulator/state", json=document)
        assert error(nobody) == (401, "unauthorized")
        await make(one, "team-a-1", TEAM_A)
        other = await one.http.put("/_worlds/team-a-1/_simulator/state", json=document, headers=TEAM_A)
        assert other.status_code == 400, other.text
        elsewhere = await one.http.put("/_worlds/team-b-secret/_simulator/state", json=document, headers=TEAM_A)
        assert error(elsewhere) == (404, "not_found")
        for answer in (nobody, other):
            assert "team-b" not in answer.text
        admin = await one.http.put("/_worlds/team-a-1/_simulator/state", json=document, headers=ADMIN)
        assert error(admin) == (409, "already_exists")
        assert await one.sharing.store.world_of("pk_test_of_nobody") is None

    play(1, playing)


def test_a_team_does_not_reach_worlds_of_another(play: Playing) -> None:
    async def playing(one: Here, two: Here) -> None:
        await make(one, "team-b-1", TEAM_B)
        taken = await one.http.post("/_worlds/team-b-1/_simulator/snapshots", json={}, headers=TEAM_B)
        await rest(one, "team-b-1")
        before = await kept(two)
        snapshot = taken.json()["id"]
        for method, path, body in [
            ("GET", "/_simulator/worlds/team-b-1", None),
            ("DELETE", "/_simulator/worlds/team-b-1", None),
            ("GET", "/_worlds/team-b-1/_simulator/requests", None),
            ("POST", "/_worlds/team-b-1/_simulator/reset", {}),
            ("GET", f"/_simulator/snapshots/{snapshot}", None),
            ("POST", f"/_simulator/snapshots/{snapshot}/restore", {}),
            ("POST", "/_simulator/worlds", {"id": "team-a-9", "from_snapshot": snapshot}),
            ("GET", "/_simulator/stream?world=team-b-1", None),
        ]:
            answer = await two.http.request(method, path, json=body, headers=TEAM_A)
            assert error(answer) == (404, "not_found"), (method, path, answer.text)
        assert error(await make(two, "team-b-9", TEAM_A)) == (403, "forbidden")
        assert await kept(two) == before

    play(2, playing)


def test_a_world_that_was_not_created_is_released(play: Playing) -> None:
    async def playing(one: Here) -> None:
        for number in range(3):
            assert (await make(one, f"team-a-{number}", TEAM_A, scenarios=["none"])).status_code == 404
        assert await one.sharing.store.due() == []  # any question, after which the worlds below are looked at
        released = one.released("team-b-1")
        assert (await make(one, "team-b-1", TEAM_B, scenarios=["none"])).status_code == 404
        await released.wait()
        assert await kept(one) == [[], [], []]

    play(1, playing)


def test_a_name_that_no_store_can_hold_is_refused(play: Playing) -> None:
    async def playing(one: Here) -> None:
        await make(one, "team-a-1", TEAM_A)
        for world in ("a\0b", "a" * 2000, "ä", "\ufffe"):
            assert (await make(one, world, ADMIN)).status_code == 400
            assert (await make(one, "team-a-2", ADMIN, from_snapshot=world)).status_code in (400, 404)
            pruned = await one.http.post("/_simulator/prune", json={"world": world}, headers=ADMIN)
            assert pruned.status_code in (400, 404), pruned.text
            signed = await one.http.post("/v1/auth/token", json={"public_key": world, "secret_key": "x"})
            assert signed.status_code == 401, signed.text
            document = {"tables": {"api_keys": [[world, {}]]}}
            put = await one.http.put("/_worlds/team-a-1/_simulator/state", json=document, headers=ADMIN)
            assert put.status_code == 400, put.text
        assert (await one.http.get("/_simulator/worlds/a%00b", headers=ADMIN)).status_code == 404
        assert (await one.http.get("/_simulator/snapshots/a%00b", headers=ADMIN)).status_code == 404
        assert (await one.http.get("/_worlds/a%00b/_simulator/requests", headers=ADMIN)).status_code == 404
        assert one.sharing.generation == 0

    play(1, playing)


# Bodies


@pytest.mark.parametrize(
    ("path", "size", "status"),
    [("/_simulator/state", 64_000_000, 401), ("/_simulator/worlds", 64_000_000, 401), ("/x/_simulator", 9, 404)],
)
def test_the_body_of_a_refused_request_is_not_read(play: Playing, path: str, size: int, status: int) -> None:
    async def playing(one: Here) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", one.http.base_url.port)
        body = b"{}       " if size == 9 else b""
        writer.write(f"PUT {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {size}\r\n\r\n".encode() + body)
        assert (await asyncio.wait_for(reader.readline(), 10)).split()[1] == b"%d" % status
        writer.close()

    play(1, playing)


def test_a_body_that_breaks_off_logs_no_traceback(play: Playing, caplog: pytest.LogCaptureFixture) -> None:
    async def playing(one: Here) -> None:
        for path in ("/v1/quotes", "/_simulator/worlds"):
            _, writer = await asyncio.open_connection("127.0.0.1", one.http.base_url.port)
            head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: {ADMIN['Authorization']}\r\n"
            writer.write(f"{head}Content-Length: 100\r\n\r\n{{".encode())
            await writer.drain()
            assert (await one.http.get("/_simulator/health")).status_code == 200
            writer.close()
            await writer.wait_closed()
            assert (await one.http.get("/_simulator/health")).status_code == 200

    with caplog.at_level(logging.ERROR):
        play(1, playing)
    assert [record for record in caplog.records if record.exc_info] == []


# What goes wrong with the database


@pytest.mark.parametrize(
    "raised",
    [
        asyncpg.InternalClientError("got result for unknown protocol state 3"),
        asyncpg.InterfaceError("connection is closed"),
        AttributeError("'NoneType' object has no attribute 'send'"),
        asyncpg.PostgresConnectionError("gone"),
    ],
)
def test_any_exception_of_the_driver_is_503(play: Playing, raised: Exception) -> None:
    class Broken:
        def is_closed(self) -> bool:
            return False

        def terminate(self) -> None:
            """It has no connection."""

        def __getattr__(self, name: str) -> Any:
            raise raised

    async def playing(one: Here) -> None:
        for path, headers in [
            ("/_simulator/worlds", ADMIN),
            ("/_simulator/snapshots/snap_1", ADMIN),
            ("/v1/profile", {"Authorization": "Bearer unknown"}),
        ]:
            await one.sharing.store.close_reading()
            one.sharing.store._reading = Broken()
            answer = await one.http.get(path, headers=headers)
            wanted = "service_unavailable" if path.startswith("/v1") else "storage_unavailable"
            assert error(answer) == (503, wanted)
            one.sharing.store._reading = None

    play(1, playing)


def test_an_exception_in_the_fallback_app_is_an_error_envelope(play: Playing, caplog: pytest.LogCaptureFixture) -> None:
    async def playing(one: Here) -> None:
        async def defect(**_: Any) -> None:
            raise ZeroDivisionError

        one.sharing.ask = defect  # type: ignore[assignment, method-assign]  # a defect
        answer = await one.http.get("/_worlds/team-a-1/_simulator/requests", headers=ADMIN)
        assert error(answer) == (500, "internal_error")

    play(1, playing)


# Lists and limits


@pytest.mark.parametrize("limit", ["9" * 5000, "-1", "1.5", "²", "x"])
def test_a_limit_that_is_not_a_number_is_refused(play: Playing, limit: str) -> None:
    async def playing(one: Here) -> None:
        answer = await one.http.get("/_simulator/worlds", params={"limit": limit}, headers=ADMIN)
        assert error(answer) == (400, "invalid_parameter")

    play(1, playing)


def test_a_limit_counts_only_worlds_of_its_token(play: Playing) -> None:
    async def playing(one: Here, two: Here) -> None:
        for world, bearer in (("team-a-1", TEAM_A), ("team-a-2", TEAM_A), ("team-b-1", TEAM_B)):
            assert (await make(one, world, bearer)).status_code == 201

        async def listed(limit: str, bearer: dict[str, str]) -> list[str]:
            answer = await two.http.get("/_simulator/worlds", params={"limit": limit}, headers=bearer)
            return [world["id"] for world in answer.raise_for_status().json()["data"]]

        assert await listed("1", TEAM_A) == ["team-a-2"]
        assert await listed("2", TEAM_A) == ["team-a-1", "team-a-2"]
        assert await listed("", TEAM_A) == ["team-a-1", "team-a-2"]
        assert await listed("0", TEAM_A) == []
        assert await listed("1", ADMIN) == ["team-b-1"]

    play(2, playing)


@pytest.mark.parametrize("named", [True, False])
def test_most_worlds_holds_across_replicas(play: Playing, named: bool) -> None:
    async def playing(*replicas: Here) -> None:
        asked = [
            replica.http.post(
                "/_simulator/worlds", json={"id": f"team-a-{number}-{turn}"} if named else {}, headers=TEAM_A
            )
            for turn in range(4)
            for number, replica in enumerate(replicas)
        ]
        answers = await asyncio.gather(*asked)
        assert sorted(answer.status_code for answer in answers) == [201] * 3 + [507] * 5
        ended = next(answer.json()["id"] for answer in answers if answer.status_code == 201)
        gone = await replicas[0].http.delete(f"/_simulator/worlds/{ended}", headers=TEAM_A)
        assert gone.status_code == 204
        again = await asyncio.gather(
            *(make(replica, f"team-a-{replica.http.base_url.port}", TEAM_A) for replica in replicas)
        )
        assert sorted(answer.status_code for answer in again) == [201, 507]

    play(2, playing)


# Inboxes


def test_an_inbox_url_works_on_any_replica(play: Playing) -> None:
    async def playing(one: Here, two: Here) -> None:
        mine = await sign_in(one, await make(one, "team-a-1", TEAM_A))
        below = "/_worlds/team-a-1/_simulator"
        subscribed = await two.http.post(f"{below}/inbox/mine/subscribe", json={}, headers=TEAM_A)
        assert subscribed.status_code == 201, subscribed.text
        listed = await two.http.get(f"{below}/inbox", headers=TEAM_A)
        (entry,) = listed.json()["data"]
        assert entry["url"] == subscribed.json()["url"]
        assert entry["url"].endswith("/_worlds/team-a-1/_simulator/inbox/mine")
        url = f"{two.http.base_url}{below}/inbox/other".replace(":80/", "/")
        made = await two.http.post("/v1/webhooks", json={"url": url, "events": ["*"]}, headers=mine)
        assert made.status_code == 201, made.text
        for replica in (one, two):
            came = await replica.http.get(f"{below}/inbox/other", headers=TEAM_A)
            assert [json.loads(row["body"])["type"] for row in came.json()["data"]] == ["webhook.test"]

    play(2, playing)
