"""A server provides the TypeScript client as a package like one from `npm pack`."""

from __future__ import annotations

import asyncio
import hashlib
import io
import tarfile

import httpx

from simulator.contract.serving import packed_client
from simulator.host import create_app


async def asked(path: str) -> httpx.Response:
    async with httpx.AsyncClient(transport=httpx.ASGITransport(create_app()), base_url="http://127.0.0.1") as client:
        return await client.get(path)


def test_server_serves_the_package_without_a_token() -> None:
    answer = asyncio.run(asked("/_simulator/rampsim-client.tgz"))
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/gzip"
    with tarfile.open(fileobj=io.BytesIO(answer.content)) as archive:
        names = archive.getnames()
    assert names[0] == "package/package.json"
    assert {"package/lib/vitest.js", "package/types/openapi.d.ts", "package/README.md"} <= set(names)


def test_package_bytes_are_reproducible() -> None:
    first = hashlib.sha256(packed_client()).hexdigest()
    packed_client.cache_clear()
    assert hashlib.sha256(packed_client()).hexdigest() == first
