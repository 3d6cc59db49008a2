"""A proxy between a replica and its database. It can stall or break the connection."""

from __future__ import annotations

import asyncio
from contextlib import suppress


class Proxy:
    """Passes bytes on to a port of loopback. While it `is_silent` it takes none, and says nothing about it."""

    def __init__(self, to_port: int) -> None:
        self._to_port = to_port
        self._speaks = asyncio.Event()
        self._speaks.set()
        self._is_cut = False
        self._pumps: set[asyncio.Task[None]] = set()
        self._writers: dict[asyncio.StreamWriter, int] = {}
        self._server: asyncio.Server | None = None
        self.port = 0

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._take, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        self.heal()
        self._break()
        if self._server is not None:
            self._server.close()
        for pump in list(self._pumps):
            pump.cancel()
        await asyncio.gather(*self._pumps, return_exceptions=True)

    @property
    def ports(self) -> set[int]:
        """From which connections come to the database."""
        return {port for port in self._writers.values() if port}

    def silence(self) -> None:
        """Connections stay, and nothing goes through."""
        self._speaks.clear()

    def cut(self) -> None:
        """Connections end, and none is made."""
        self._is_cut = True
        self._break()

    def heal(self) -> None:
        """Forward the data that was held back."""
        self._is_cut = False
        self._speaks.set()

    def _break(self) -> None:
        for writer in list(self._writers):
            writer.transport.abort()

    async def _take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._is_cut:
            writer.transport.abort()
            return
        try:
            inner, outer = await asyncio.open_connection("127.0.0.1", self._to_port)
        except OSError:
            writer.transport.abort()
            return
        self._writers[writer], self._writers[outer] = 0, outer.get_extra_info("sockname")[1]
        for source, target in ((reader, outer), (inner, writer)):
            task = asyncio.get_running_loop().create_task(self._pump(source, target))
            self._pumps.add(task)
            task.add_done_callback(self._pumps.discard)

    async def _pump(self, source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
        try:
            while data := await source.read(65536):
                await self._speaks.wait()
                target.write(data)
                await target.drain()
        except OSError:
            pass
        finally:
            self._writers.pop(target, None)
            with suppress(OSError, RuntimeError):
                target.close()
