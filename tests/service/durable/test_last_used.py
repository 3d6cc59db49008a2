"""When worlds were last used, across restarts and across replicas; and how far the store lags behind."""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from simulator.engine.durable import last_used
from tests.service.durable.stores import Kept, over_store, persistence_of, play, turns
from tests.service.durable.test_sharing import Here, run
from tests.support import QUOTE

HOUR = 3600.0


def later(runtime: Any, seconds: float) -> None:
    """Let it be so much later, for what tells when worlds were used."""
    uses = runtime.meter.uses
    real = uses.seconds
    uses.seconds = lambda: real() + seconds


async def idle(client: Any) -> dict[str, int]:
    return {row["id"]: row["idle_seconds"] for row in (await client("GET", "/usage")).json()["data"]}


def test_a_restart_is_no_use_of_a_world(tmp_path: Path) -> None:
    path = tmp_path / "worlds.db"

    async def make(kept: Kept) -> None:
        await kept.control("POST", "/worlds", {"id": "team"})

    play(path, make)
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE worlds SET used_ms = used_ms - 3600000 WHERE id = 'team'")
    connection.close()

    async def look(kept: Kept) -> None:
        told = await idle(kept.control)
        assert 3600 <= told["team"] <= 3660
        assert told["default"] < 60
        assert (await kept.control("POST", "/prune", {"idle": "50m"})).json()["ended"] == ["team"]

    play(path, look)

    async def look_again(kept: Kept) -> None:
        assert list(await idle(kept.control)) == ["default"]

    play(path, look_again)


def known(kept: Kept, world: str) -> Any:
    """What the keeper knows of a world."""
    return persistence_of(kept.application)._tracked[world]


def used_ms(path: Path) -> dict[str, int]:
    with sqlite3.connect(path) as connection:
        told = dict(connection.execute("SELECT id, used_ms FROM worlds"))
    connection.close()
    return told


def test_what_only_reads_is_a_use_that_is_kept_at_the_end(tmp_path: Path) -> None:
    path = tmp_path / "worlds.db"

    async def make(kept: Kept) -> None:
        await kept.control("POST", "/worlds", {"id": "team"})
        with sqlite3.connect(path) as connection:
            connection.execute("UPDATE worlds SET used_ms = 1")
        connection.close()
        known(kept, "team").used_ms -= 2 * last_used.SLACK_MS
        await kept.client.get(f"{kept.origin}/_simulator/clock", headers={"X-Simulator-World": "team"})

    play(path, make)
    assert used_ms(path)["team"] > 1
    assert used_ms(path)["default"] == 1


def test_the_first_write_after_a_while_tells_of_the_use(tmp_path: Path) -> None:
    async def act(kept: Kept) -> None:
        await kept.api("POST", "/quotes", QUOTE)
        before = len([batch for batch in kept.store.batches if batch.uses])
        await kept.api("POST", "/quotes", QUOTE)
        assert len([batch for batch in kept.store.batches if batch.uses]) == before
        known(kept, "default").used_ms -= int(2 * last_used.USES_SECONDS * 1000)
        await kept.api("POST", "/quotes", QUOTE)
        (use,) = kept.store.batches[-1].uses.values()
        assert use.objects == 5
        assert use.journal_bytes > 0

    play(tmp_path / "worlds.db", act)


def test_now_and_then_it_looks_for_worlds_that_were_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(last_used, "USES_SECONDS", 0.01)

    async def act(kept: Kept) -> None:
        await kept.control("GET", "/clock")
        known(kept, "default").used_ms -= 2 * last_used.SLACK_MS
        while not any(batch.uses and not batch.changes for batch in kept.store.batches):
            await asyncio.sleep(0)

    play(tmp_path / "worlds.db", act)


def test_the_lag_is_the_age_of_what_waits_longest(tmp_path: Path) -> None:
    async def act(kept: Kept) -> None:
        persistence = kept.application.runtime.persistence
        assert persistence is not None
        await kept.control("GET", "/clock")
        assert persistence.lag_seconds() == 0
        kept.store.hold()
        first = asyncio.create_task(kept.api("POST", "/quotes", QUOTE))
        await kept.store.begun.wait()
        lag = persistence.lag_seconds()
        assert lag > 0
        second = asyncio.create_task(kept.control("POST", "/advance", {"by": "1s"}))
        await turns()
        assert persistence.lag_seconds() > lag
        page = (await kept.control("GET", "/metrics")).text
        (line,) = [row for row in page.splitlines() if row.startswith("rampsim_journal_lag_seconds ")]
        assert float(line.split()[1]) > lag
        kept.store.let_go()
        await asyncio.gather(first, second)
        assert persistence.lag_seconds() == 0

    play(tmp_path / "worlds.db", act)


def test_a_file_of_the_format_before_is_upgraded(tmp_path: Path) -> None:
    path = tmp_path / "worlds.db"
    made: dict[str, Any] = {}

    async def make(kept: Kept) -> None:
        made.update((await kept.api("POST", "/quotes", QUOTE)).json())

    play(path, make)
    with sqlite3.connect(path) as connection:
        for column in ("used_ms", "objects", "journal_bytes"):
            connection.execute(f"ALTER TABLE worlds DROP COLUMN {column}")
        connection.execute("UPDATE about SET value = '1' WHERE name = 'format'")
    connection.close()

    async def look(kept: Kept) -> None:
        assert (await kept.api("GET", f"/quotes/{made['id']}")).json() == made
        assert (await idle(kept.control))["default"] < 60

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


def test_any_replica_tells_of_all_worlds_and_loads_none_for_it(database: str) -> None:
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


def test_a_world_that_moves_to_another_replica_is_not_used_by_that(database: str) -> None:
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


def test_any_replica_ends_what_nobody_uses_wherever_it_is(database: str) -> None:
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
def test_what_is_wrong_with_a_call_is_said_as_ever(database: str, body: Any) -> None:
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


def test_a_quota_of_worlds_counts_those_of_other_replicas(database: str, tmp_path: Path) -> None:
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
