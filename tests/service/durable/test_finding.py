"""Requests for worlds that a replica does not own: random ids, worlds of other replicas, deleted worlds."""

from __future__ import annotations

import asyncio

from tests.campaigns.benchmarks.client import QUOTE
from tests.service.durable.test_sharing import Here, run


async def _sign_in_to(one: Here, world: dict[str, dict[str, dict[str, str]]]) -> dict[str, str]:
    """Sign in to a world and return the headers of its requests."""
    keys = world["credentials"]["sandbox"]
    made = await one.post("/v1/auth/token", {"public_key": keys["public_key"], "secret_key": keys["secret_key"]})
    return {"Authorization": f"Bearer {made['access_token']}"}


def test_a_world_with_a_drawn_id_can_move(database: str) -> None:
    async def play(one: Here, two: Here) -> None:
        made = await one.post("/_simulator/worlds", {})
        headers = await _sign_in_to(one, made)
        quote = await one.post("/v1/quotes", QUOTE, **headers)
        released = one.released(made["id"])
        one.sharing.idle_seconds = 0
        await released.wait()
        two.http.headers.update(headers)
        assert await two.get(f"/v1/quotes/{quote['id']}") == quote
        assert made["id"] in two.sharing.machine.owned()

    run(database, 2, play)


def test_an_unused_world_with_a_drawn_id_is_released(database: str) -> None:
    async def play(one: Here, two: Here) -> None:
        made = await one.post("/_simulator/worlds", {})
        released = one.released(made["id"])
        one.sharing.idle_seconds = 0
        await released.wait()
        assert (await two.get(f"/_simulator/worlds/{made['id']}"))["id"] == made["id"]
        assert made["id"] in two.sharing.machine.owned()

    run(database, 2, play)


def test_a_fork_into_an_id_of_another_replica_is_refused(database: str) -> None:
    async def play(one: Here, two: Here) -> None:
        await one.post("/_simulator/worlds", {"id": "team"})
        snapshot = await one.post("/_worlds/team/_simulator/snapshots", {})
        await two.post("/_simulator/worlds", {"id": "taken"})
        for replica in (one, two):
            fork = {"id": "taken", "from_snapshot": snapshot["id"]}
            answer = await replica.http.post("/_simulator/worlds", json=fork)
            assert (answer.status_code, answer.json()["error"]["code"]) == (409, "already_exists")
            answer = await replica.http.post("/_simulator/worlds", json={**fork, "replace": True})
            assert (answer.status_code, answer.json()["error"]["code"]) == (409, "already_exists")
            assert "The world taken already exists: another server owns it" in answer.json()["error"]["message"]

    run(database, 2, play)


def test_a_draining_replica_forwards_requests(database: str) -> None:
    async def play(one: Here, two: Here) -> None:
        await one.sign_in()
        two.http.headers["Authorization"] = one.http.headers["Authorization"]
        await one.post("/_simulator/worlds", {"id": "idle"})
        await two.post("/_simulator/worlds", {"id": "other"})
        made = await one.post("/v1/quotes", QUOTE)
        await one.sharing.drain()
        assert await one.get(f"/v1/quotes/{made['id']}") == made
        assert (await one.get("/_simulator/worlds/idle"))["id"] == "idle"
        await one.post("/_simulator/worlds", {"id": "new"})
        assert sorted(two.sharing.machine.owned()) == ["default", "idle", "new", "other"]

    run(database, 2, play)


def test_of_two_concurrent_imports_with_the_same_keys_one_wins(database: str) -> None:
    async def play(one: Here, two: Here) -> None:
        await one.post("/_simulator/worlds", {"id": "original"})
        document = (await one.http.get("/_worlds/original/_simulator/state")).content
        assert (await one.http.delete("/_simulator/worlds/original")).status_code == 204
        for replica, world in ((one, "a"), (two, "b")):
            await replica.post("/_simulator/worlds", {"id": world})
        puts = [
            replica.http.put(f"/_worlds/{world}/_simulator/state", content=document)
            for replica, world in ((one, "a"), (two, "b"))
        ]
        answers = await asyncio.gather(*puts)
        assert sorted(answer.status_code for answer in answers) == [200, 409], [answer.text for answer in answers]

    run(database, 2, play)


def test_a_token_of_a_world_that_has_ended_is_refused_everywhere(database: str) -> None:
    async def play(one: Here, two: Here) -> None:
        made = await one.post("/_simulator/worlds", {"id": "team"})
        headers = await _sign_in_to(one, made)
        for replica in (one, two):
            assert (await replica.http.get("/v1/profile", headers=headers)).status_code == 200
        assert (await one.http.delete("/_simulator/worlds/team")).status_code == 204
        keys = made["credentials"]["sandbox"]
        for replica in (one, two):
            assert (await replica.http.get("/v1/profile", headers=headers)).status_code == 401
            body = {"public_key": keys["public_key"], "secret_key": keys["secret_key"]}
            assert (await replica.http.post("/v1/auth/token", json=body)).status_code == 401
        calls = (await one.get("/_simulator/requests"))["data"]
        assert [call["path"] for call in calls].count("/v1/profile") == 2

    run(database, 2, play)


def test_unowned_worlds_are_listed_but_not_taken(database: str) -> None:
    async def play(one: Here, two: Here) -> None:
        for world in ("still", "running"):
            clock = {"mode": "scaled", "rate": 1000} if world == "running" else {}
            await one.post("/_simulator/worlds", {"id": world, "clock": clock})
        await one.post("/_worlds/still/_simulator/clock/advance", {"by": "5m"})
        before = (await one.get("/_simulator/worlds"))["data"]
        assert sorted(one.sharing.machine.owned()) == ["running", "still"]
        released = one.released("still", "running")
        one.sharing.idle_seconds = 0
        await released.wait()
        after = (await two.get("/_simulator/worlds"))["data"]
        assert two.sharing.machine.owned() == []
        origins = [str(replica.http.base_url).rstrip("/") for replica in (one, two)]
        for was, shown in zip(before, after, strict=True):
            for keys in was["credentials"].values():
                keys["base_url"] = keys["base_url"].replace(*origins)
            assert {**was, "clock": None} == {**shown, "clock": None}
        assert before[0]["clock"] == after[0]["clock"]
        assert before[1]["clock"]["now"] < after[1]["clock"]["now"]
        assert (await two.get("/_simulator/worlds?limit=1"))["data"][0]["id"] == "running"

    run(database, 2, play)
