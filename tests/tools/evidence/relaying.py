"""A relay in this process between a client and an upstream that a test scripts."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from simulator.evidence.capture.messages import BUFFER_BYTES, Head, Tee, body_length, copy_body, read_head
from simulator.evidence.capture.recorder import Recorder
from simulator.evidence.capture.relay import Relay, place_of
from simulator.evidence.corpus import Exchange, read_corpus

Handler: TypeAlias = Callable[[Head, bytes, asyncio.StreamWriter], Awaitable[None]]
"""Answers one request, given its head and body."""
NOW_MS = 1_767_600_000_000


@dataclass
class Relayed:
    """A running relay."""

    port: int
    path: Path
    problems: list[str] = field(default_factory=list)
    connections: int = 0
    """The number of connections to the upstream."""

    write_recorded: Callable[[], None] = lambda: None

    @property
    def exchanges(self) -> list[Exchange]:
        self.write_recorded()
        return read_corpus(self.path).exchanges

    async def send(self, request: bytes) -> bytes:
        """Send bytes on a new connection and return all bytes that come back."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        writer.write(request)
        received = await reader.read()
        writer.close()
        await writer.wait_closed()
        return received


async def listening(serve: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]) -> Any:
    """Listen on a free port. A connection is closed when its handler ends."""

    async def serve_and_close(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await serve(reader, writer)
        finally:
            writer.close()

    return await asyncio.start_server(serve_and_close, "127.0.0.1", 0, limit=BUFFER_BYTES)


def port_of(server: Any) -> int:
    port: int = server.sockets[0].getsockname()[1]
    return port


@asynccontextmanager
async def relayed(directory: Path, handler: Handler | None, **options: Any) -> AsyncIterator[Relayed]:
    """Run an upstream and a relay before it. Without a handler, nothing listens at the upstream's port."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        found.connections += 1
        try:
            while handler is not None and (head := await read_head(reader)) is not None:
                tee = Tee()
                await copy_body(body_length(head), reader, None, tee)
                await handler(head, tee.content or b"", writer)
        except OSError:
            pass
        finally:
            writer.close()

    upstream = await listening(serve)
    if handler is None:
        upstream.close()
    recorder = Recorder(directory, "test")
    found = Relayed(0, recorder.path)
    url = f"http://127.0.0.1:{port_of(upstream) if handler is not None else 9}/v1"
    place = options.pop("place", None) or place_of(url, "--upstream")
    relay = Relay(place, recorder, now_ms=lambda: NOW_MS, say=found.problems.append, **options)
    found.write_recorded = relay.write_recorded
    server = await listening(relay.serve)
    found.port = port_of(server)
    try:
        yield found
    finally:
        server.close()
        upstream.close()
        await relay.end()
        recorder.close()
        for _ in range(10):  # a closed transport lets go of its socket in a later round of the loop
            await asyncio.sleep(0)


def answering(status: str, body: bytes = b"", headers: str = "Content-Type: application/json\r\n") -> Handler:
    """A handler that always sends this response."""

    async def answer(head: Head, _: bytes, writer: asyncio.StreamWriter) -> None:
        is_bodiless = status[:3] in ("204", "304")
        length = "" if is_bodiless else f"Content-Length: {len(body)}\r\n"
        sent = b"" if is_bodiless or head.first.startswith(b"HEAD") else body
        writer.write(f"HTTP/1.1 {status}\r\n{headers}{length}\r\n".encode() + sent)
        await writer.drain()

    return answer
