"""A server that passes calls on to a simulator, or gives false answers instead."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import field
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ssl import SSLContext
from threading import Thread
from typing import Any
from urllib.parse import urlsplit

from simulator.kernel.dataclass import dataclass


@dataclass(frozen=True)
class Answer:
    """A response. A body that is not bytes is sent as JSON."""

    status: int
    body: Any = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    repeated: int = 1
    """So often the body is sent, without its length in a header if more than once."""
    cut: bool = False
    """True to close the connection in the middle of the body."""


Lie = Callable[[int, str, str, Callable[[], Answer]], Answer | None]
"""Returns what to answer to a call: its number from 1 on, its method, its path, and a function that asks the simulator.

None means the true answer.
"""


@contextmanager
def liar(lie: Lie, upstream: str = "", tls: SSLContext | None = None) -> Iterator[tuple[str, list[int]]]:
    """Serve; yield the origin and a list with the number of bytes of each body that was sent."""
    sent: list[int] = []
    numbers: list[int] = []

    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            raw = self.rfile.read(int(self.headers.get("content-length", 0)))
            numbers.append(0)

            def truth() -> Answer:
                connection = HTTPConnection(urlsplit(upstream).netloc, timeout=30)
                headers = {name: value for name, value in self.headers.items() if name.lower() != "host"}
                connection.request(self.command, self.path, raw or None, headers)
                reply = connection.getresponse()
                kept = {name: value for name, value in reply.getheaders() if name.lower() in _PASSED}
                true = Answer(reply.status, reply.read(), kept)
                connection.close()
                return true

            said = lie(len(numbers), self.command, self.path, truth) or truth()
            body = said.body if isinstance(said.body, bytes) else json.dumps(said.body).encode()
            self.send_response(said.status)
            for name, value in said.headers.items():
                self.send_header(name, value)
            if said.repeated == 1:
                self.send_header("Content-Length", str(len(body)))
            self.send_header("Connection", "close")
            self.end_headers()
            self.close_connection = True
            count = 0
            try:
                for _ in range(said.repeated):
                    self.wfile.write(body[: len(body) // 2] if said.cut else body)
                    count += len(body)
            except OSError:
                pass
            sent.append(count)

        def log_message(self, *_: object) -> None:
            pass

    for method in ("GET", "POST", "PUT", "PATCH", "DELETE"):
        setattr(Handler, f"do_{method}", Handler.answer)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", sent
    finally:
        server.shutdown()
        server.server_close()


_PASSED = ("content-type", "retry-after", "allow", "x-request-id", "idempotent-replayed", "idempotency-replayed")
