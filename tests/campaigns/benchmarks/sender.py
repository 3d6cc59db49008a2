"""The bare loop for deliveries: aiohttp with the simulator's bodies and headers, and nothing else.

It reads its task from standard input: {"urls": [...], "headers": {...}, "body": "", "times": 1, "keeps": true}. A loop
for each URL posts sequentially, over one connection or over a new connection for each request. After the last response,
it prints the CPU time used.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from typing import Any

import aiohttp
import uvloop


async def _send(given: dict[str, Any]) -> float:
    body, headers = given["body"].encode(), given["headers"]
    connector = aiohttp.TCPConnector(limit=0, force_close=not given["keeps"])
    async with aiohttp.ClientSession(connector=connector) as session:

        async def to(url: str) -> None:
            for _ in range(given["times"]):
                async with session.post(url, data=body, headers=headers, allow_redirects=False) as answer:
                    await answer.read()
                    if answer.status != 200:
                        raise RuntimeError(f"{url}: {answer.status}")

        began = time.process_time()
        await asyncio.gather(*(to(url) for url in given["urls"]))
        return time.process_time() - began


if __name__ == "__main__":
    print(uvloop.run(_send(json.load(sys.stdin))))  # noqa: T201
