"""The bare loop of deliveries: aiohttp, the bodies and headers of the simulator, nothing else.

It reads what to send from its standard input: {"urls": [...], "headers": {...}, "body": "", "times": 1, "keeps": true}.
A loop for each URL posts one after another, over a connection that it keeps, or over a new one each time. When all are
answered it prints how much processor time that took.
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
