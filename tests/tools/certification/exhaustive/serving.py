"""An application around a handler: POST /webhooks, GET /books, POST /settle, and GET /quiet if it has a queue.

python -m tests.tools.certification.exhaustive.serving recommended --port 5000 --file shop.db
"""

from __future__ import annotations

import argparse
import json
import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from simulator.certification.receiver import Service
from tests.tools.certification.exhaustive.shortcuts import HANDLERS


class Api(Service):
    """The API as the handler sees it."""

    def transactions(self) -> Iterator[Any]:
        """Yield the transactions, newest first."""
        page, last = 1, 1
        while page <= last:
            found = self._asked(f"/transactions?size=100&page={page}")
            yield from found["data"]
            page, last = page + 1, -(-found["pagination"]["total"] // 100)

    def _asked(self, path: str) -> Any:
        self.token = self._ask("/auth/token", self.keys)["access_token"]
        return self._ask(path)


class Requests(BaseHTTPRequestHandler):
    handler: Any
    lock: threading.Lock

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        with self.lock:
            try:
                if self.path == "/settle":
                    self.handler.settle()
                    return self.answer(200)
                self.answer(self.handler.receive(self.headers, body))
            except Exception:
                self.answer(500)

    def do_GET(self) -> None:
        with self.lock:
            if self.path == "/quiet":
                self.answer(204 if self.handler.is_quiet() else 503)
                return
            rows = self.handler.db.execute("SELECT reference, state, amount, currency FROM orders").fetchall()
        names = ("order", "state", "amount", "currency")
        self.answer(200, "".join(json.dumps(dict(zip(names, row, strict=True))) + "\n" for row in rows).encode())

    def answer(self, status: int, body: bytes = b"") -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Do not log requests."""


def server_of(name: str, keys: Mapping[str, str], *, port: int = 0, file: str = ":memory:") -> ThreadingHTTPServer:
    """Return a server of an application that is ready to serve. `keys`: the credentials of an environment."""
    api = Api(keys["base_url"], keys["public_key"], keys["secret_key"])
    handler = HANDLERS[name](file, keys["webhook_key"], api)
    handler.db.execute("PRAGMA synchronous = OFF")  # a commit to a slow disk takes ten times longer than the rest
    made = type("Application", (Requests,), {"handler": handler, "lock": threading.Lock()})
    server = ThreadingHTTPServer(("127.0.0.1", port), made)
    server.daemon_threads = True
    return server


@contextmanager
def serving(name: str, keys: Mapping[str, str], *, file: str = ":memory:") -> Iterator[str]:
    """Serve an application in a thread and yield its origin."""
    server = server_of(name, keys, file=file)
    thread = threading.Thread(target=lambda: server.serve_forever(poll_interval=0.01))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("name", choices=list(HANDLERS))
    parser.add_argument("--port", type=int, default=5000)
    parser.add_argument("--file", default=":memory:")
    given = parser.parse_args()
    keys = {
        "base_url": os.environ.get("SIMULATOR_URL", "http://127.0.0.1:8642/v1"),
        "public_key": os.environ.get("SIMULATOR_PUBLIC_KEY", "pk_test_simulator"),
        "secret_key": os.environ.get("SIMULATOR_SECRET_KEY", "sk_test_simulator"),
        "webhook_key": os.environ.get("SIMULATOR_WEBHOOK_KEY", "whk_test_simulator"),
    }
    server_of(given.name, keys, port=given.port, file=given.file).serve_forever()


if __name__ == "__main__":
    main()
