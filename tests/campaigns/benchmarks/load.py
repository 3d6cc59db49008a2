"""Saturates a server: sends the same request repeatedly over several connections.

If wrk is installed, it sends the requests. The built-in generator has no dependencies. It sends prepared bytes and
reads only the status and the length of each response.
"""

from __future__ import annotations

import asyncio
import re
import shutil
import subprocess
import tempfile
import time
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import uvloop

from tests.campaigns.benchmarks.client import Refused, request_bytes

CONNECTIONS = 16


@dataclass(frozen=True)
class Load:
    """One request; `origin` is that of the server, `refused` says that a 4xx is what it is to be answered."""

    origin: str
    method: str
    path: str
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    refused: bool = False


def run(load: Load, seconds: float, connections: int = CONNECTIONS) -> int:
    """Send for so long; how many were answered. `Refused` when one was answered otherwise."""
    return _by_wrk(load, seconds, connections) if shutil.which("wrk") else run_here(load, seconds, connections)


def run_times(load: Load, times: int, connections: int = CONNECTIONS) -> None:
    """Send so many, whoever else could."""
    uvloop.run(_run(load, connections, None, times))


def run_here(load: Load, seconds: float, connections: int = CONNECTIONS) -> int:
    """`run` without wrk."""
    return uvloop.run(_run(load, connections, seconds, None))


def _by_wrk(load: Load, seconds: float, connections: int) -> int:
    lines = [f'wrk.method = "{load.method}"', f"wrk.body = [[{load.body.decode()}]]" if load.body else ""]
    lines += [f'wrk.headers["{name}"] = "{value}"' for name, value in load.headers.items()]
    with tempfile.NamedTemporaryFile("w", suffix=".lua") as script:
        script.write("\n".join(lines))
        script.flush()
        whole = max(round(seconds), 1)
        command = ["wrk", "-t1", f"-c{connections}", f"-d{whole}s", "-s", script.name, load.origin + load.path]
        told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    if ("Non-2xx" in told) != load.refused or "Socket errors" in told:
        raise Refused(f"{load.method} {load.path}: {told}")
    found = re.search(r"(\d+) requests in", told)
    assert found is not None, told
    return int(found[1])


async def _run(load: Load, connections: int, seconds: float | None, times: int | None) -> int:
    loop, address = asyncio.get_running_loop(), urlsplit(load.origin)
    host, port = address.hostname or "", address.port or 80
    ends_at = None if seconds is None else time.perf_counter() + seconds
    request = request_bytes(load.origin, load.method, load.path, load.headers, load.body)
    tally = _Tally(request, b"4" if load.refused else b"2", ends_at, times)
    senders = [(await loop.create_connection(lambda: _Sender(tally), host, port))[1] for _ in range(connections)]
    await asyncio.gather(*(sender.done for sender in senders))
    return tally.answered


@dataclass
class _Tally:
    request: bytes
    answer: bytes
    ends_at: float | None
    times: int | None
    sent: int = 0
    answered: int = 0

    def goes_on(self) -> bool:
        if self.ends_at is not None:
            return time.perf_counter() < self.ends_at
        return self.times is None or self.sent < self.times


class _Sender(asyncio.Protocol):
    """One connection: the next request goes when the answer to the last one is whole."""

    def __init__(self, tally: _Tally) -> None:
        self.tally = tally
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._buffer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport: asyncio.Transport = transport  # type: ignore[assignment]  # of TCP
        self._next()

    def _next(self) -> None:
        if self.tally.goes_on():
            self.tally.sent += 1
            self.transport.write(self.tally.request)
        else:
            self.transport.close()

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        head, found, body = self._buffer.partition(b"\r\n\r\n")
        if not found:
            return
        length = re.search(rb"(?i)\r\ncontent-length: *(\d+)", head)
        if length is not None and len(body) < int(length[1]):
            return
        if head[9:10] != self.tally.answer:
            self.done.set_exception(Refused(self._buffer[:500].decode(errors="replace")))
            self.transport.close()
            return
        self._buffer = b""
        self.tally.answered += 1
        self._next()

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.done.done():
            self.done.set_result(None)
