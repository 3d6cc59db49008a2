"""Connects to addresses that were resolved (and possibly checked) earlier.

Webhooks must be sent to exactly the addresses that were checked (decision W3). asyncio can connect to several addresses
in parallel only if it resolves the name itself, and uvloop cannot connect in parallel at all.
"""

from __future__ import annotations

import asyncio
import socket
import ssl as tls
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from ipaddress import ip_address
from itertools import chain, zip_longest

HEAD_START_SECONDS = 0.25
"""The time after which the next address is tried in parallel (RFC 8305)."""
LOOPBACK = "127.0.0.1"

Address = tuple[str, int]
"""An IP address and its family."""


async def addresses_of(host: str, port: int) -> list[Address]:
    """Return every address of a host name or address. Raise `OSError` if the name does not resolve."""
    family = _family_of(host)
    if family is not None:  # Looking up a literal address would need a thread, too.
        return [(host, family)]
    if host == "localhost" or host.endswith(".localhost"):
        return [(LOOPBACK, socket.AF_INET), ("::1", socket.AF_INET6)]
    infos = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    found = dict.fromkeys((str(info[4][0]), int(info[0])) for info in infos)
    if not found:
        raise socket.gaierror(f"the host name {host} cannot be resolved")
    return list(found)


@lru_cache(maxsize=1024)
def _family_of(host: str) -> int | None:
    """Return the family of an IP address, or None for a host name. Cached, because every delivery needs it."""
    with suppress(ValueError):
        return int(socket.AF_INET if ip_address(host).version == 4 else socket.AF_INET6)
    return None


async def connect(
    loop: asyncio.AbstractEventLoop,
    protocol: Callable[[], asyncio.BaseProtocol],
    addresses: list[Address],
    port: int,
    *,
    ssl: tls.SSLContext | None = None,
    server_hostname: str | None = None,
) -> None:
    """Connect an asyncio protocol to the first address that accepts a connection. Raise `OSError` or `ssl.SSLError`.

    Only TCP connections are attempted in parallel. If TLS fails at this address, no other address is tried.
    """
    first, only = addresses[0][0], len(addresses) == 1
    if only or first == LOOPBACK:
        # This machine accepts or refuses immediately, and a race takes one and a half times as long as a whole
        # delivery.
        try:
            await loop.create_connection(protocol, first, port, ssl=ssl, server_hostname=server_hostname)
            return
        except ConnectionRefusedError:
            if only:
                raise
            addresses = addresses[1:]
    reached = await _race(loop, addresses, port)
    await loop.create_connection(protocol, sock=reached, ssl=ssl, server_hostname=server_hostname)


async def _race(loop: asyncio.AbstractEventLoop, addresses: list[Address], port: int) -> socket.socket:
    """Return the first socket that connects. If no address accepts, raise the error from the first address."""
    families = [[one for one in addresses if one[1] == family] for family in dict.fromkeys(f for _, f in addresses)]
    waiting = deque(one for one in chain(*zip_longest(*families)) if one is not None)
    running: set[asyncio.Task[socket.socket]] = set()
    started: list[asyncio.Task[socket.socket]] = []
    try:
        while waiting or running:
            if waiting:
                started.append(loop.create_task(_connected(loop, waiting.popleft(), port)))
                running.add(started[-1])
            limit = HEAD_START_SECONDS if waiting else None
            done, running = await asyncio.wait(running, timeout=limit, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                if task.exception() is None:
                    started.remove(task)
                    return task.result()
        errors = [task.exception() for task in started]
        raise next((error for error in errors if isinstance(error, ConnectionRefusedError)), errors[0]) or OSError()
    finally:
        for task in started:
            task.cancel()
            task.add_done_callback(_discard)


async def _connected(loop: asyncio.AbstractEventLoop, address: Address, port: int) -> socket.socket:
    sock = socket.socket(address[1], socket.SOCK_STREAM)
    try:
        sock.setblocking(False)
        await loop.sock_connect(sock, (address[0], port))
    except BaseException:
        sock.close()
        raise
    return sock


def _discard(task: asyncio.Task[socket.socket]) -> None:
    if not task.cancelled() and task.exception() is None:
        task.result().close()
