"""Last-used times of worlds across restarts and replicas, and the age of unsaved writes."""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from simulator.engine.durable import gathering, persistence
from tests.service.durable.stores import StoreServer, over_store, persistence_of, play, turns
from tests.service.durable.test_sharing import Here, run
from tests.support import QUOTE

HOUR = 3600.0


def later(runtime: Any, seconds: float) -> None:
    """Advance the clock of the last-used times."""
    uses = runtime.meter.uses
    real = uses.seconds
    uses.seconds = lambda: real() + seconds


async def idle(client: Any) -> dict[str, int]:
    return {row["id"]: row["idle_seconds"] for row in (await client("GET", "/usage")).json()["data"]}


def test_a_restart_does_not_count_as_use_of_a_world(tmp_path: Path) -> None:
    path = tmp_path / "worlds.db"

    async def make(server: StoreServer) -> None:
        await server.control("POST", "/worlds", {"id": "team"})

    play(path, make)
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE worlds SET used_ms = used_ms - 3600000 WHERE id = 'team'")
    connection.close()

    async def look(server: StoreServer) -> None:
        told = await idle(server.control)
        assert 3600 <= told["team"] <= 3660
        assert told["default"] < 60
        assert (await server.control("POST", "/prune", {"idle": "50m"})).json()["ended"] == ["team"]

    play(path, look)

    async def look_again(server: StoreServer) -> None:
        assert list(await idle(server.control)) == ["default"]

    play(path, look_again)


def known(server: StoreServer, world: str) -> Any:
    """Return the state of saving of a world."""
    return persistence_of(server.application)._tracked[world]


def used_ms(path: Path) -> dict[str, int]:
    with sqlite3.connect(path) as connection:
        told = dict(connection.execute("SELECT id, used_ms FROM worlds"))
    connection.close()
    return told


def test_a_read_is_a_use_that_is_saved_at_the_end(tmp_path: Path) -> None:
    path = tmp_path / "worlds.db"

    async def make(server: StoreServer) -> None:
        await server.control("POST", "/worlds", {"id": "team"})
        with sqlite3.connect(path) as connection:
            connection.execute("UPDATE worlds SET used_ms = 1")
        connection.close()
        known(server, "team").used_ms -= 2 * gathering.SLACK_MS
        await server.client.get(f"{server.origin}/_simulator/clock", headers={"X-Simulator-World": "team"})

    play(path, make)
    assert used_ms(path)["team"] > 1
    assert used_ms(path)["default"] == 1


def test_a_write_saves_an_old_last_used_time(tmp_path: Path) -> None:
    async def act(server: StoreServer) -> None:
        await server.api("POST", "/quotes", QUOTE)
        before = len([batch for batch in server.store.batches if batch.uses])
        await server.api("POST", "/quotes", QUOTE)
        assert len([batch for batch in server.store.batches if batch.uses]) == before
        known(server, "default").used_ms -= int(2 * gathering.USES_SECONDS * 1000)
        await server.api("POST", "/quotes", QUOTE)
        (use,) = server.store.batches[-1].uses.values()
        assert use.objects == 5
        assert use.journal_bytes > 0

    play(tmp_path / "worlds.db", act)


def test_last_used_times_are_saved_at_intervals(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(persistence, "USES_SECONDS", 0.01)

    async def act(server: StoreServer) -> None:
        await server.control("GET", "/clock")
        known(server, "default").used_ms -= 2 * gathering.SLACK_MS
        while not any(batch.uses and not batch.changes for batch in server.store.batches):
            await asyncio.sleep(0)

    play(tmp_path / "worlds.db", act)


def test_the_lag_is_the_age_of_what_waits_longest(tmp_path: Path) -> None:
    async def act(server: StoreServer) -> None:
        persistence = server.application.runtime.persistence
        assert persistence is not None
        await server.control("GET", "/clock")
        assert persistence.lag_seconds() == 0
        server.store.hold()
        first = asyncio.create_task(server.api("POST", "/quotes", QUOTE))
        await server.store.begun.wait()
        lag = persistence.lag_seconds()
        assert lag > 0
        second = asyncio.create_task(server.control("POST", "/advance", {"by": "1s"}))
        await turns()
        assert persistence.lag_seconds() > lag
        page = (await server.control("GET", "/metrics")).text
        (line,) = [row for row in page.splitlines() if row.startswith("rampsim_journal_lag_seconds ")]
        assert float(line.split()[1]) > lag
        server.store.let_go()
        await asyncio.gather(first, second)
        assert persistence.lag_seconds() == 0

    play(tmp_path / "worlds.db", act)


def test_a_file_of_the_format_before_is_upgraded(tmp_path: Path) -> None:
    path = tmp_path / "worlds.db"
    made: dict[str, Any] = {}

    async def make(server: StoreServer) -> None:
        made.update((await server.api("POST", "/quotes", QUOTE)).json())

    play(path, make)
    with sqlite3.connect(path) as connection:
        for column in ("used_ms", "objects", "journal_bytes"):
            connection.execute(f"ALTER TABLE worlds DROP COLUMN {column}")
        connection.execute("UPDATE about SET value = '1' WHERE name = 'format'")
    connection.close()

    async def look(server: StoreServer) -> None:
        assert (await server.api("GET", f"/quotes/{made['id']}")).json() == made
        assert (await idle(server.control))["default"] < 60

    play(path, look)

    async def open_again() -> None:
        async with over_store(path) as kept:
            assert (await kept.api("GET", f"/quotes/{made['id']}")).status_code == 200

    asyncio.run(open_again())


# Replicas


def asking(here: Here) -> Any:
    return lambda method, path: here.http.request(method, f"/_simulator{path}")


async def change(database: str, statement: str) -> None:
    connection = await asyncpg.connect(database, server_settings={"search_path": "rampsim"})
    await connection.execute(statement)
    await connection.close()


def test_any_replica_lists_all_worlds_without_loading_them(database: str) -> None:
    async def act(one: Here, two: Here) -> None:
        await one.post("/_simulator/worlds", {"id": "team"})
        assert two.sharing.machine.owned() == []
        assert set(await idle(asking(two))) == {"team"}
        released = one.released("team")
        one.sharing.idle_seconds = 0
        await released.wait()
        row = (await two.get("/_simulator/usage"))["data"][0]
        assert (row["id"], row["objects"]) == ("team", 2)
        assert row["idle_seconds"] < 60
        assert two.sharing.machine.owned() == []

    run(database, 2, act)


def test_moving_to_another_replica_is_not_a_use(database: str) -> None:
    async def act(one: Here, two: Here) -> None:
        await one.post("/_simulator/worlds", {"id": "team"})
        released = one.released("team")
        one.sharing.idle_seconds = 0
        await released.wait()
        await change(database, "UPDATE worlds SET used_ms = used_ms - 3600000")
        await two.get("/_simulator/worlds/team")  # to look at it is no use
        assert two.sharing.machine.owned() == ["team"]
        assert 3600 <= (await idle(asking(two)))["team"] <= 3660

    run(database, 2, act)


def test_any_replica_prunes_idle_worlds_of_all(database: str) -> None:
    async def act(one: Here, two: Here) -> None:
        await one.post("/_simulator/worlds", {"id": "nowhere"})
        released = one.released("nowhere")
        one.sharing.idle_seconds = 0
        await released.wait()
        one.sharing.idle_seconds = 60
        for here, world in ((one, "here"), (two, "there"), (two, "busy")):
            await here.post("/_simulator/worlds", {"id": world})
        later(one.application.runtime, HOUR)
        later(two.application.runtime, HOUR)
        await two.http.get("/_simulator/clock", headers={"X-Simulator-World": "busy"})
        await change(database, "UPDATE worlds SET used_ms = used_ms - 3600000")
        dry = await one.post("/_simulator/prune", {"idle": "30m", "dry_run": True})
        assert set(dry["ended"]) == {"here", "there", "nowhere", "busy"}  # of the others it is known to the minute
        told = await one.post("/_simulator/prune", {"idle": "30m"})
        assert set(told["ended"]) == {"here", "there", "nowhere"}
        assert [row["id"] for row in (await one.get("/_simulator/worlds"))["data"]] == ["busy"]

    run(database, 2, act)


@pytest.mark.parametrize("body", [[], {}, {"idle": "1M"}, {"idle": "7d", "dry_run": "x"}, {"idle": "7d", "what": 1}])
def test_invalid_requests_get_the_usual_errors(database: str, body: Any) -> None:
    async def act(one: Here) -> None:
        answer = await one.http.post("/_simulator/prune", json=body)
        assert answer.status_code == 400
        assert answer.json()["error"]["code"] in ("missing_parameter", "invalid_parameter", "invalid_request")

    run(database, 1, act)


def test_a_database_of_the_format_before_is_upgraded(database: str) -> None:
    async def make(one: Here) -> None:
        await one.post("/_simulator/worlds", {"id": "team"})

    run(database, 1, make)
    columns = ", ".join(f"DROP COLUMN {name}" for name in ("used_ms", "objects", "journal_bytes"))
    older = f"ALTER TABLE worlds {columns}; UPDATE about SET value = '1' WHERE name = 'format'"
    asyncio.run(change(database, older))

    async def look(one: Here) -> None:
        assert (await idle(asking(one)))["team"] < 60
        await one.get("/_simulator/worlds/team")

    run(database, 1, look)


def test_a_world_quota_counts_worlds_of_all_replicas(database: str, tmp_path: Path) -> None:
    tokens = tmp_path / "tokens.yaml"
    tokens.write_text("tokens: [{name: a, token: a-secret-0123456789, worlds: a-, most_worlds: 1}]")

    async def act(one: Here, two: Here) -> None:
        for here in (one, two):
            here.http.headers["Authorization"] = "Bearer a-secret-0123456789"
        await one.post("/_simulator/worlds", {"id": "a-1"})
        refused = await two.http.post("/_simulator/worlds", json={"id": "a-2"})
        assert (refused.status_code, refused.json()["error"]["code"]) == (507, "simulator_quota_exceeded")
        assert [row["id"] for row in (await two.get("/_simulator/worlds"))["data"]] == ["a-1"]

    run(database, 2, act, control_tokens=tokens)
