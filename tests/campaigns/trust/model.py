"""`python -m tests.campaigns.trust.model`: measures each assumption of the model in README.md at a small size."""

from __future__ import annotations

import argparse
import asyncio
import time
from contextlib import AsyncExitStack
from typing import Any

from simulator.engine.durable.backend import Batch, WorldBegan, WorldChanged
from simulator.engine.durable.shared.postgres import PostgresStore
from tests.campaigns.benchmarks.machine import described, resident_bytes
from tests.campaigns.trust import results
from tests.campaigns.trust.database import LOCKS, Database
from tests.campaigns.trust.servers import Server
from tests.remote import new_client
from tests.support import QUOTE

ENTRY = b"x" * 2_000
"""About what one quote writes."""
REPLICAS = (1, 4, 16, 64)
WORLDS = 10_000
IDLE_WORLDS = 200


async def commits(database: Database, replicas: int, changes: int, seconds: float) -> dict[str, float]:
    """How many transactions PostgreSQL takes of so many replicas that do nothing else."""
    async with AsyncExitStack() as stack:
        stores = [PostgresStore(database.url, f"http://{replicas}.{number}") for number in range(replicas)]
        for store in stores:
            stack.push_async_callback(store.close)
            await store.open()
        worlds = [[f"c{replicas}-{changes}-{of}-{number}" for number in range(changes)] for of in range(replicas)]
        for store, own in zip(stores, worlds, strict=True):
            for world in own:
                await store.claim(world, creates=True)
            await store.commit(Batch([WorldBegan(world, 1, lambda: iter([b"head"])) for world in own], {}))
        ends, done = time.perf_counter() + seconds, [0] * replicas

        async def work(place: int) -> None:
            number = 1
            while time.perf_counter() < ends:
                number += 1
                written = [WorldChanged(world, number, lambda: ENTRY) for world in worlds[place]]
                await stores[place].commit(Batch(written, {}))
                done[place] += 1

        before, began = database.cpu, time.perf_counter()
        await asyncio.gather(*map(work, range(replicas)))
        took = time.perf_counter() - began
        return {"a second": round(sum(done) / took), "PostgreSQL, ms each": round(cpu_ms(database, before, done), 3)}


def cpu_ms(database: Database, before: float, done: list[int]) -> float:
    return (database.cpu - before) * 1000 / max(sum(done), 1)


async def polling(database: Database) -> dict[str, float]:
    """Measure one search for due worlds among 10,000 idle ones."""
    store = PostgresStore(database.url, "http://polling")
    await store.open()
    await database.run(
        "INSERT INTO rampsim.worlds (id, base, number, wake_at) SELECT 'idle-' || n, 1, 1, "
        f"CASE WHEN n % 10 = 0 THEN now() + interval '1 day' END FROM generate_series(1, {WORLDS}) n"
    )
    await store.due()
    before, began, times = database.cpu, time.perf_counter(), 300
    for _ in range(times):
        await store.due()
    took = (time.perf_counter() - began) * 1000 / times
    spent = (database.cpu - before) * 1000 / times
    await store.close()
    return {"ms each": round(took, 2), "PostgreSQL, ms each": round(spent, 3)}


async def locks(database: Database, wanted: int) -> int:
    """How many locks of worlds sessions hold before PostgreSQL has no room for more."""
    held = 0
    while held < wanted:
        try:
            await database.run(f"SELECT count(pg_advisory_lock({LOCKS}, n)) FROM generate_series(1, {held + 1000}) n")
        except Exception as error:
            if "shared memory" not in str(error):
                raise
            return held
        held += 1000
    return held


async def idle(database: Database) -> dict[str, float]:
    """Measure the memory of a new replica for idle worlds, and the size of each in PostgreSQL."""
    sizes, held = [], []
    for worlds in (0, IDLE_WORLDS):
        maker = Server(database.url, lie=None)
        maker.start()
        with new_client(base_url=maker.origin, timeout=60) as http:
            for number in range(worlds):
                http.post("/_simulator/worlds", json={"id": f"i{number}", "scenarios": []}).raise_for_status()
        maker.stop()
        await database.run("VACUUM FULL rampsim.parts")
        rows = await database.run("SELECT coalesce(sum(length(content)), 0)::bigint AS size FROM rampsim.parts")
        sizes.append(int(rows[0]["size"]))
        fresh = Server(database.url, lie=None)
        fresh.start()
        with new_client(base_url=fresh.origin, timeout=60) as http:
            pair = {"public_key": "pk_test_simulator", "secret_key": "sk_test_simulator"}
            token = http.post("/v1/auth/token", json=pair).raise_for_status().json()["access_token"]
            http.post("/v1/quotes", json=QUOTE, headers={"Authorization": f"Bearer {token}"}).raise_for_status()
        held.append(resident_bytes(fresh.pid))
        fresh.stop()
    return {
        "kB in a replica, each": round((held[1] - held[0]) / IDLE_WORLDS / 1000, 1),
        "kB in PostgreSQL, each": round((sizes[1] - sizes[0]) / IDLE_WORLDS / 1000, 1),
    }


async def measure(seconds: float) -> dict[str, Any]:
    figures: dict[str, Any] = {}
    database = Database()
    database.start()
    try:
        figures["idle worlds"] = await idle(database)
        for replicas in REPLICAS:
            figures[f"commits, {replicas} replicas, 1 world"] = await commits(database, replicas, 1, seconds)
        figures["commits, 4 replicas, 16 worlds"] = await commits(database, 4, 16, seconds)
        figures[f"looking for what is due, {WORLDS:,} worlds"] = await polling(database)
        figures["locks that fit, PostgreSQL's defaults"] = await locks(database, 20_000)
    finally:
        database.stop()
    more = Database("max_locks_per_transaction=256")
    more.start()
    try:
        figures["locks that fit, max_locks_per_transaction 256"] = await locks(more, 30_000)
    finally:
        more.stop()
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.campaigns.trust.model", description=__doc__)
    parser.add_argument("--seconds", type=float, default=3.0, help="of each measurement of commits")
    parser.add_argument("--write", action="store_true", help="put the figures into results.json")
    given = parser.parse_args()
    figures = asyncio.run(measure(given.seconds))
    print(described())  # noqa: T201
    for name, value in figures.items():
        print(f"{name}: {value}")  # noqa: T201
    if given.write:
        results.write({"model": figures})


if __name__ == "__main__":
    main()
