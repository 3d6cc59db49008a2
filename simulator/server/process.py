"""A listening server: uvicorn with uvloop and httptools around the application, on a socket opened beforehand."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from simulator.server.app import CUT, Application


class CuttableProtocol(HttpToolsProtocol):
    """HTTP as uvicorn speaks it, with an extension by which the application can drop the connection."""

    def on_message_begin(self) -> None:
        super().on_message_begin()
        scope: Any = self.scope
        scope["extensions"] = {CUT: self.transport.abort}


def open_socket(host: str, port: int) -> socket.socket:
    """A bound socket; OSError when the address is taken or not this machine's. Port 0 picks a free one."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # The protocol by name: asyncio turns Nagle's algorithm off only for sockets that say they are TCP, and without
    # that an answer in two writes waits 40 ms for the acknowledgement of the first.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError:
        listener.close()
        raise
    return listener


def origin_of(listener: socket.socket) -> str:
    """`http://HOST:PORT` of a bound socket."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


class EndingServer(uvicorn.Server):
    """A uvicorn server that ends open streams before it waits for open calls."""

    def __init__(self, config: uvicorn.Config, application: Application) -> None:
        super().__init__(config)
        self._application = application

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._application.end_streams()
        await super().shutdown(sockets)


def server_of(application: Application) -> uvicorn.Server:
    """A uvicorn server that logs warnings only and waits a moment for open calls when it is stopped."""
    config = uvicorn.Config(
        application,
        http=CuttableProtocol,
        ws="none",
        lifespan="on",
        log_level="warning",
        access_log=False,
        server_header=False,
        date_header=False,  # the wall clock has no place in answers that repeat to the byte
        timeout_graceful_shutdown=3,
    )
    return EndingServer(config, application)


@asynccontextmanager
async def serving(application: Application, host: str = "127.0.0.1", port: int = 0) -> AsyncIterator[str]:
    """Serve inside a running event loop; gives the origin, and has stopped listening afterwards."""
    import asyncio

    listener = open_socket(host, port)
    server = server_of(application)
    task = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        while not server.started and not task.done():
            await asyncio.sleep(0.005)
        yield origin_of(listener)
    finally:
        server.should_exit = True
        await task
        listener.close()
