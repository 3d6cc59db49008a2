from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.durable.postgres_server import postgres


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """A PostgreSQL that keeps nothing safe from a crash of the machine: quick, and no test crashes that."""
    with postgres("fsync=off", "full_page_writes=off") as url:
        yield url
