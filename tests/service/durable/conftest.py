from __future__ import annotations

import asyncio
from collections.abc import Iterator

import asyncpg
import pytest

from tests.service.durable.postgres_server import postgres


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """A PostgreSQL without fsync: quick, and no test crashes the machine."""
    with postgres("fsync=off", "full_page_writes=off") as url:
        yield url


@pytest.fixture
def database(postgres_url: str) -> str:
    """Return the URL of an empty database."""

    async def make() -> str:
        connection = await asyncpg.connect(postgres_url)
        number = await connection.fetchval("SELECT count(*) FROM pg_database")
        await connection.execute(f"CREATE DATABASE test{number}")
        await connection.close()
        return f"{postgres_url.rpartition('/')[0]}/test{number}"

    return asyncio.run(make())
