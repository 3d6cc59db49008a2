"""A listener for webhooks. It saves the events whose signature is valid."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread

from simulator.engine.text.json import Shown
from simulator.engine.webhooks.operations import TEST_EVENT
from simulator.service import SIGNATURE

DEAD = "/dead"
"""Requests below this path are always refused."""
FAILING = "/failing"
"""Requests below this path are refused, except the test of a new endpoint."""
MOST_BYTES = 1_000_000
QUIET_SECONDS = 2.0
"""The time without an event after which a step counts as finished."""
_MOST_QUIET_SECONDS = 20.0


class Listener:
    """Receives webhooks at an address. The service may reach it under a different public URL."""

    def __init__(self, host: str, port: int, public_url: str, key: str) -> None:
        """The default public URL is the listening address. Raise `OSError` if the address cannot be used."""
        self._key, self._lock = key, Lock()
        self._events: list[Shown] = []
        self._known: set[object] = set()
        self._last = self._lag = self._asked = 0.0
        self.tests = self.unverified = 0
        """`tests`: verified test requests. `unverified`: requests whose signature is not valid under the key."""
        self._server = ThreadingHTTPServer((host, port), type("Handler", (_Handler,), {"listener": self}))
        self._server.daemon_threads = True
        self._thread = Thread(target=self._server.serve_forever, name="webhook-listener", daemon=True)
        self._thread.start()
        url = public_url.rstrip("/") or f"http://{host}:{self.port}"
        self.hooks = {"hook": url, "dead_hook": url + DEAD, "failing_hook": url + FAILING}
        """The addresses, by the names that steps use."""

    @property
    def port(self) -> int:
        return int(self._server.server_address[1])

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(5)

    def take(self, path: str, headers: Mapping[str, str], raw: bytes) -> int:
        """Save a webhook. Return the status of the response."""
        stamp = headers.get(SIGNATURE.timestamp_header.lower(), "")
        sent_ms = int(stamp) if stamp.isdecimal() and len(stamp) < 16 else 0  # the clock of the target may differ
        if SIGNATURE.problem(headers, raw, [self._key], sent_ms):
            self.unverified += 1
            return 401
        try:
            event = json.loads(raw)
        except (ValueError, RecursionError):
            return 400
        if not isinstance(event, Mapping):
            return 400
        if event.get("type") == TEST_EVENT:
            self.tests += 1
            return 500 if path.endswith(DEAD) else 200
        if path.endswith((DEAD, FAILING)):
            return 500
        with self._lock:
            if event.get("id") in self._known:
                return 200
            self._known.add(event.get("id"))
            self._events.append(event)
            self._last = time.monotonic()
            self._lag = max(self._lag, self._last - self._asked)
        return 200

    def events(self, sleep: Callable[[float], None] = time.sleep) -> tuple[list[Shown], float]:
        """Return the events since the last call, once no more arrive, and the time taken in seconds. The wait is longer
        for a target whose earlier events were slow.
        """
        begun = self._asked = time.monotonic()
        quiet = max(QUIET_SECONDS, min(3 * self._lag, _MOST_QUIET_SECONDS))
        while (now := time.monotonic()) - max(begun, self._last) < quiet:
            sleep(min(quiet, quiet - (now - max(begun, self._last)) + 0.01))
        return self.taken(), time.monotonic() - begun

    def taken(self) -> list[Shown]:
        """Return the events since the last call without waiting."""
        with self._lock:
            found, self._events = self._events, []
        return found


class _Handler(BaseHTTPRequestHandler):
    listener: Listener
    timeout = 10.0

    def do_POST(self) -> None:
        length = self.headers.get("Content-Length", "")
        status = 413
        if length.isdecimal() and int(length) <= MOST_BYTES:
            headers = {name.lower(): value for name, value in self.headers.items()}
            status = self.listener.take(self.path.partition("?")[0], headers, self.rfile.read(int(length)))
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:
        pass
