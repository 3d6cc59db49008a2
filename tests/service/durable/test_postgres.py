"""The PostgreSQL store: ownership of worlds, checks of a commit, and reading."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import asyncpg
import pytest

from simulator.engine.durable.backend import (
    Batch,
    Change,
    SnapshotDeleted,
    SnapshotSaved,
    StoreDamaged,
    StoreError,
    WorldBegan,
    WorldChanged,
    WorldEnded,
)
from simulator.engine.durable.shared.postgres import PostgresStore
from simulator.engine.durable.shared.session import OwnershipLost


@asynccontextmanager
async def stores(url: str, *addresses: str) -> AsyncIterator[list[PostgresStore]]:
    made = [PostgresStore(url, address) for address in addresses]
    try:
        for store in made:
            await store.open()
        yield made
    finally:
        for store in made:
            await store.close()


def run(url: str, play: Callable[..., Awaitable[None]], *addresses: str) -> None:
    async def playing() -> None:
        async with stores(url, *addresses) as made:
            await play(*made)

    asyncio.run(playing())


def began(world: str, *parts: bytes, number: int = 1) -> WorldBegan:
    return WorldBegan(world, number, lambda: iter(parts))


def changed(world: str, number: int, entry: bytes) -> WorldChanged:
    return WorldChanged(world, number, lambda: entry)


def batch(*changes: Change, **server: bytes) -> Batch:
    return Batch(changes, server)


async def ask(url: str, query: str, *given: object) -> object:
    connection = await asyncpg.connect(url, server_settings={"search_path": "rampsim"})
    try:
        return await connection.fetchval(query, *given)
    finally:
        await connection.close()


async def end_sessions(url: str) -> None:
    """Ended by an administrator, or by a server that restarts."""
    await ask(url, "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = 'rampsim'")


def test_committed_writes_are_read_back(database: str) -> None:
    async def play(one: PostgresStore, two: PostgresStore) -> None:
        assert (await one.claim("w", creates=True)).outcome == "granted"
        await one.commit(batch(began("w", b"head", b"rows"), tokens_issued=b"7"))
        await one.commit(batch(changed("w", 2, b"second")))
        sizes = await one.commit(batch(changed("w", 3, b"third!"), SnapshotSaved("s", "w", lambda: iter([b"kept"]))))
        assert (sizes.bases, sizes.entries) == ({}, {"w": 6})
        await one.release("w")
        claim = await two.claim("w", creates=False)
        assert (claim.outcome, claim.epoch, claim.is_there) == ("granted", 2, True)
        stored = await two.load("w")
        assert (stored.number, stored.parts, stored.entries) == (3, [b"head", b"rows"], [b"second", b"third!"])
        assert stored.snapshots == [[b"kept"]]
        await two.commit(batch(SnapshotDeleted("s"), changed("w", 4, b"4"), tokens_issued=b"5"))
        assert (await two.load("w")).snapshots == []
        assert await two.server() == {"tokens_issued": b"7"}, "it never goes back"
        assert await one.all_worlds() == [("w", True)], "somebody has it"

    run(database, play, "one", "two")


def test_a_world_has_one_owner(database: str) -> None:
    async def play(one: PostgresStore, two: PostgresStore) -> None:
        assert (await one.claim("w", creates=False)).outcome == "absent"
        assert (await one.claim("w", creates=True)).epoch == 1
        denied = await two.claim("w", creates=True)
        assert (denied.outcome, denied.owner) == ("denied", "one")
        await one.release("w")
        assert (await two.claim("w", creates=False)).outcome == "absent", "nothing was made of it"

    run(database, play, "one", "two")


def test_the_lock_ends_with_the_owning_connection(database: str) -> None:
    async def play(one: PostgresStore, two: PostgresStore) -> None:
        lost = asyncio.Event()
        one.lost = lost.set
        await one.claim("w", creates=True)
        await one.commit(batch(began("w", b"head")))
        await end_sessions(database)
        await lost.wait()
        with pytest.raises(OwnershipLost):
            await one.commit(batch(changed("w", 2, b"late")))
        with pytest.raises(OwnershipLost):
            await one.commit(Batch((), {}))
        await two.open()
        assert (await two.claim("w", creates=False)).outcome == "granted"
        assert (await two.load("w")).entries == []
        await one.open()
        assert (await one.claim("w", creates=False)).outcome == "denied"

    run(database, play, "one", "two")


def test_a_commit_of_a_past_epoch_is_refused_whole(database: str) -> None:
    """A pooler takes the lock away and leaves the connection."""

    async def play(one: PostgresStore, two: PostgresStore) -> None:
        await one.claim("w", creates=True)
        await one.claim("v", creates=True)
        await one.commit(batch(began("w", b"head"), began("v", b"head")))
        async with one._session.use() as connection:
            await connection.execute("SELECT pg_advisory_unlock_all()")
        assert (await two.claim("w", creates=False)).epoch == 2
        with pytest.raises(OwnershipLost):
            await one.commit(batch(changed("v", 2, b"fine"), changed("w", 2, b"late")))
        assert await ask(database, "SELECT count(*) FROM entries") == 0
        await two.commit(batch(changed("w", 2, b"mine")))

    run(database, play, "one", "two")


@pytest.mark.parametrize("change", [began("w", b"other"), WorldEnded("w")])
def test_creating_or_deleting_a_world_needs_its_epoch(database: str, change: Change) -> None:
    async def play(one: PostgresStore, two: PostgresStore) -> None:
        await one.claim("w", creates=True)
        await one.commit(batch(began("w", b"head")))
        async with one._session.use() as connection:
            await connection.execute("SELECT pg_advisory_unlock_all()")
        await two.claim("w", creates=False)
        with pytest.raises(OwnershipLost):
            await one.commit(batch(change))
        assert (await two.load("w")).parts == [b"head"]

    run(database, play, "one", "two")


def test_a_commit_follows_the_one_before(database: str) -> None:
    async def play(one: PostgresStore) -> None:
        await one.claim("w", creates=True)
        await one.commit(batch(began("w", b"head")))
        with pytest.raises(OwnershipLost):
            await one.commit(batch(changed("w", 3, b"one is missing")))

    run(database, play, "one")


def test_an_exchanged_session_confirms_nothing(database: str) -> None:
    async def play(one: PostgresStore) -> None:
        await one.commit(Batch((), {}))
        async with one._session.use() as connection:
            await connection.execute("SET rampsim.session = 'of somebody else'")
        with pytest.raises(OwnershipLost, match="without a connection pooler"):
            await one.commit(batch())

    run(database, play, "one")


def test_postgres_ends_a_session_that_is_silent(database: str) -> None:
    """A paused replica loses its worlds."""

    async def play(two: PostgresStore) -> None:
        one = PostgresStore(database, "one", lease_seconds=0.3)
        lost = asyncio.Event()
        one.lost = lost.set
        await one.open()
        try:
            await one.claim("w", creates=True)
            assert one._session._beating is not None
            one._session._beating.cancel()
            await lost.wait()
            assert (await two.claim("w", creates=True)).outcome == "granted"
        finally:
            await one.close()

    run(database, play, "two")


def test_a_replica_that_is_heard_of_keeps_its_worlds(database: str) -> None:
    async def play(two: PostgresStore) -> None:
        one = PostgresStore(database, "one", lease_seconds=0.3)
        await one.open()
        try:
            await one.claim("w", creates=True)
            heard: asyncio.Queue[None] = asyncio.Queue()
            confirm = one._session.confirm

            async def confirmed() -> None:
                await confirm()
                heard.put_nowait(None)

            one._session.confirm = confirmed  # type: ignore[method-assign]  # the test hears of each
            for _ in range(5):  # each a third of what it may be silent
                await heard.get()
            assert (await two.claim("w", creates=False)).outcome == "denied"
        finally:
            await one.close()

    run(database, play, "two")


def test_keys_find_their_world_on_every_replica(database: str) -> None:
    async def play(one: PostgresStore, two: PostgresStore) -> None:
        new = [("pk_1", "w"), ("tok_1", "w")]
        one.credentials = lambda: [new.pop()] if new else []
        await one.claim("w", creates=True)
        await one.commit(batch(began("w", b"head")))
        await one.commit(batch(changed("w", 2, b"2")))
        assert (await two.world_of("pk_1"), await two.world_of("tok_1"), await two.world_of("no")) == ("w", "w", None)
        await one.commit(batch(WorldEnded("w")))
        assert await two.world_of("pk_1") is None
        await one.release("w")
        assert await two.all_worlds() == []
        assert await ask(database, "SELECT count(*) FROM worlds") == 0

    run(database, play, "one", "two")


def test_an_unowned_world_with_a_due_timer_is_taken(database: str) -> None:
    async def play(one: PostgresStore, two: PostgresStore) -> None:
        for world, wakes in (("due", 1_000), ("later", 99_999_999_999_000), ("never", None)):
            await one.claim(world, creates=True)
            one.wake_at_ms = lambda world, wakes=wakes: wakes  # type: ignore[misc]  # no world stands behind it
            await one.commit(batch(began(world, b"head")))
        assert await two.due() == []
        for world in ("due", "later", "never"):
            await one.release(world)
        assert await two.due() == ["due"]

    run(database, play, "one", "two")


def test_entries_are_folded_into_a_base(database: str) -> None:
    async def play(one: PostgresStore) -> None:
        await one.claim("w", creates=True)
        await one.commit(batch(began("w", b"head")))
        for number in (2, 3, 4):
            await one.commit(batch(changed("w", number, b"%d" % number)))
        assert await one.compact("w", 3, lambda: iter([b"new", b"er"])) == 5
        stored = await one.load("w")
        assert (stored.number, stored.parts, stored.entries) == (4, [b"new", b"er"], [b"4"])
        assert await ask(database, "SELECT count(*) FROM parts") == 2
        await one.commit(batch(began("w", b"anew", number=5)))
        assert await one.compact("w", 4, lambda: iter([b"old"])) == 0
        assert (await one.load("w")).parts == [b"anew"]

    run(database, play, "one")


def test_a_foreign_or_newer_database_is_not_changed(database: str) -> None:
    async def play() -> None:
        await ask(database, "CREATE SCHEMA rampsim")
        with pytest.raises(StoreDamaged, match="that another program created"):
            await PostgresStore(database, "one").open()
        await ask(database, "DROP SCHEMA rampsim")
        store = PostgresStore(database, "one")
        await store.open()
        await store.close()
        await ask(database, "UPDATE about SET value = '99' WHERE name = 'format'")
        with pytest.raises(StoreError, match="newer rampsim"):
            await store.open()

    asyncio.run(play())


def test_replicas_that_start_together_create_tables_once(database: str) -> None:
    async def play() -> None:
        made = [PostgresStore(database, str(number)) for number in range(4)]
        await asyncio.gather(*(store.open() for store in made))
        for store in made:
            await store.close()

    asyncio.run(play())


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("postgresql://rampsim@127.0.0.1:1/postgres", "cannot be reached"),
        ("postgresql://rampsim@{server}/nowhere", 'database "nowhere" does not exist.*check user'),
        ("postgresql://nobody@{server}/postgres", 'role "nobody" does not exist.*check user'),
    ],
)
def test_an_unusable_database_is_reported(postgres_url: str, url: str, told: str) -> None:
    server = postgres_url.partition("@")[2].partition("/")[0]
    with pytest.raises(Exception, match=told):
        asyncio.run(PostgresStore(url.format(server=server), "one").open())
