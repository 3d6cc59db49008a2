"""A listening server: uvicorn with httptools (and uvloop if installed), on a socket that was opened earlier."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import FrameType

import uvicorn
from uvicorn.config import Config
from uvicorn.server import Server

from simulator.engine.server.app import Application
from simulator.engine.server.http.protocol import BoundedProtocol
from simulator.engine.text.masking import Masker
from simulator.engine.text.terminal import plain

try:
    from uvloop import new_event_loop as new_event_loop
except ImportError:  # uvloop does not support Windows
    from asyncio import new_event_loop as new_event_loop  # type: ignore[assignment]  # another kind of loop

# `uvicorn.lifespan` imports this name from the package `uvicorn`. If the package has not run, the import would run it,
# which loads uvicorn's command line, reloaders and process managers: 6 ms and 1.3 MB.
vars(uvicorn).setdefault("Config", Config)

_INTERRUPTED = 130
"""The exit code of a program that was ended by SIGINT."""
_GRACE_SECONDS = 0.3
"""The number of seconds for which calls in progress can continue after the server starts to stop."""


def open_socket(host: str, port: int) -> socket.socket:
    """Return a bound socket. Port 0 selects a free port. Raise `OSError` if the address cannot be used."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # The protocol is given explicitly, because asyncio turns off Nagle's algorithm only for sockets that are marked
    # as TCP. Otherwise a response in two writes waits 40 ms for the acknowledgement of the first write.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError:
        listener.close()
        raise
    return listener


def origin_of(listener: socket.socket) -> str:
    """Return the origin of a bound socket as `http://HOST:PORT`."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


class MaskingFormatter(logging.Formatter):
    """Formats log lines without secrets and without terminal control characters."""

    def __init__(self, masker: Masker) -> None:
        super().__init__("%(levelname)s %(name)s: %(message)s")
        self._masker = masker

    def format(self, record: logging.LogRecord) -> str:
        return plain(self._masker.text(super().format(record)))


class EndingServer(Server):
    """A uvicorn server that ends streams immediately when it stops, and calls in progress after `_GRACE_SECONDS`."""

    def __init__(self, config: Config, application: Application) -> None:
        super().__init__(config)
        self._application = application

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop gracefully at the first signal. A second Ctrl-C ends the process immediately."""
        if self.should_exit and sig == signal.SIGINT:
            os._exit(_INTERRUPTED)
        super().handle_exit(sig, frame)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await self._application.runtime.drain()
        self._application.runtime.end_streams()
        ending = asyncio.get_running_loop().call_later(_GRACE_SECONDS, self._application.calls.end)
        await super().shutdown(sockets)
        ending.cancel()


def server_of(application: Application) -> Server:
    """Return a uvicorn server for an application. The server logs only warnings and errors."""
    config = Config(
        application,
        http=BoundedProtocol,
        ws="none",
        lifespan="on",
        log_config=None,
        log_level="warning",
        access_log=False,
        server_header=False,
        date_header=False,  # so that responses are byte-identical in every run
        timeout_graceful_shutdown=2,
    )
    return EndingServer(config, application)


@asynccontextmanager
async def serving(application: Application, listener: socket.socket | None = None) -> AsyncIterator[str]:
    """Run a server in the current event loop, on `listener` or on a free loopback port. Yield its origin."""
    listener = listener or open_socket("127.0.0.1", 0)
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
