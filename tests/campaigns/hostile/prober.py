"""Checks a server's health repeatedly, over a separate connection, while a campaign runs against the server."""

from __future__ import annotations

import http.client
import threading
from collections.abc import Callable
from urllib.parse import urlsplit

from tests.campaigns.hostile.stopwatch import Stopwatch, waited_seconds

LIMIT_SECONDS = 0.5
EVERY_SECONDS = 0.05


class Prober:
    """Probes from `start` to `stop`; `slow` gets the seconds of every answer that took too long, and the call then.

    `present` tells what the server is doing; it is asked as a probe begins, for an answer comes when that is over.
    """

    def __init__(
        self, origin: str, pid: int, slow: Callable[[float, str], None], present: Callable[[], str] = lambda: ""
    ) -> None:
        self.worst = 0.0
        self.count = 0
        self._address = urlsplit(origin).netloc
        self._pid = pid
        self._slow = slow
        self._present = present
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def hush(self) -> None:
        """Say nothing more: the server is about to be ended."""
        self._stop.set()

    def stop(self) -> None:
        self._stop.set()
        self._thread.join(15)

    def _run(self) -> None:
        connection = http.client.HTTPConnection(self._address, timeout=10)
        while not self._stop.wait(EVERY_SECONDS):
            watch, own = Stopwatch(self._pid), waited_seconds("thread-self")
            present = self._present()
            try:
                connection.request("GET", "/_simulator/health")
                answered = connection.getresponse()
                answered.read()
                fine = answered.status == 200
            except (OSError, http.client.HTTPException):
                connection.close()
                fine = False
            seconds = max(watch.seconds - (waited_seconds("thread-self") - own), 0.0)
            if not fine and self._stop.is_set():
                break  # the server ends too
            self.count += 1
            self.worst = max(self.worst, seconds)
            if seconds > LIMIT_SECONDS or not fine:
                self._slow(seconds, present)
        connection.close()
