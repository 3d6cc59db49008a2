"""A webhook receiver that saves every body of every event. While `may_fail` is set, it sometimes does not respond."""

from __future__ import annotations

import random
from collections import defaultdict

from aiohttp import web
from orjson import loads


class Receiver:
    """Listens on a port of loopback. `bodies`: by name and id of the event, each arrival in its order."""

    def __init__(self, chance: random.Random) -> None:
        self.bodies: defaultdict[str, defaultdict[str, list[bytes]]] = defaultdict(lambda: defaultdict(list))
        self.may_fail = False
        self.origin = ""
        self._chance = chance
        self._runner: web.AppRunner | None = None

    async def start(self) -> None:
        application = web.Application()
        application.router.add_post("/{name}", self._take)
        self._runner = web.AppRunner(application, access_log=None, shutdown_timeout=0)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        self.origin = f"http://127.0.0.1:{self._runner.addresses[0][1]}"

    async def stop(self) -> None:
        if self._runner is not None:
            await self._runner.cleanup()

    @property
    def arrivals(self) -> int:
        return sum(len(bodies) for events in self.bodies.values() for bodies in events.values())

    async def _take(self, request: web.Request) -> web.Response:
        body = await request.read()
        event = loads(body).get("id")
        if isinstance(event, str):
            self.bodies[request.match_info["name"]][event].append(body)
        drawn = self._chance.random() if self.may_fail else 1.0
        if drawn < 0.03 and request.transport is not None:
            request.transport.close()
        return web.Response(status=500 if drawn < 0.08 else 200)
