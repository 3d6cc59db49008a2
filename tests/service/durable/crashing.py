"""Servers with a SQLite store, and the state of the file at the moment of a crash."""

from __future__ import annotations

import queue
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from pathlib import Path
from typing import Any

from simulator.engine.server.app import Application
from simulator.engine.server.config import Config
from tests.remote import Remote, new_client, running

_copies = count(1)


def url_of(path: Path) -> str:
    return f"sqlite:///{path}"


@contextmanager
def kept(path: Path, *, clock: str = "manual", **more: Any) -> Iterator[tuple[Remote, Application]]:
    """Run a server with a SQLite store. Give a client of its default world."""
    config = Config(clock=clock, store=url_of(path), **{"scenarios": (), **more})
    with running(config) as (origin, application), new_client() as client:
        yield seen(Remote(origin, client)), application


def seen(remote: Remote, world: str = "default") -> Remote:
    """A client of a world."""
    found = remote.call("GET", f"{remote.origin}/_simulator/worlds/{world}")
    assert found.status == 200, found.body
    return Remote(remote.origin, remote.http, found.body)


def as_killed(path: Path) -> Path:
    """Copy the files as a crash right now would leave them."""
    copy = path.with_name(f"killed-{next(_copies)}.db")
    for end in ("", "-wal"):
        beside = path.with_name(path.name + end)
        if beside.exists():
            shutil.copyfile(beside, copy.with_name(copy.name + end))
    return copy


def document(world: Remote) -> dict[str, Any]:
    """Return the document of the world."""
    answer = world.control("GET", "/state")
    assert answer.status == 200, answer.body
    whole: dict[str, Any] = answer.body
    return whole


class Loopback:
    """A webhook receiver that returns 200, or waits between `hold` and `let_go`."""

    def __init__(self, port: int) -> None:
        self._bodies: queue.Queue[bytes] = queue.Queue()
        self._may_answer = threading.Event()
        self._may_answer.set()
        taker = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                taker._bodies.put(self.rfile.read(int(self.headers["Content-Length"])))
                taker._may_answer.wait(20)
                with suppress(OSError):
                    self.send_response(200)
                    self.send_header("Content-Length", "0")
                    self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self.port = self.server.server_port
        self.url = f"http://127.0.0.1:{self.port}/hook"

    def hold(self) -> None:
        self._may_answer.clear()

    def let_go(self) -> None:
        self._may_answer.set()

    def next(self) -> bytes:
        """Wait for the next request and return its body."""
        return self._bodies.get(timeout=20)


@contextmanager
def loopback(port: int = 0) -> Iterator[Loopback]:
    receiver = Loopback(port)
    thread = threading.Thread(target=receiver.server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield receiver
    finally:
        receiver.let_go()
        receiver.server.shutdown()
        receiver.server.server_close()
        thread.join(20)
