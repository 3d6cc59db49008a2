"""Replicas as processes that share a PostgreSQL. Tests call, kill and pause them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from tests.remote import new_client

KEYS = {"public_key": "pk_test_simulator", "secret_key": "sk_test_simulator"}


class Replica:
    """One process, with an HTTP client."""

    def __init__(self, url: str | None, *flags: str) -> None:
        store = ["--store", url] if url is not None else []
        words = [sys.executable, "-m", "simulator", "serve", "--port", "0", *store, *flags]
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)

    def begin(self) -> Replica:
        """Wait until it is ready."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line.startswith("Ready on "):
                self.origin = line.removeprefix("Ready on ").strip()
                self.http = new_client(base_url=self.origin, timeout=30)
                return self
        raise AssertionError(f"it ended with {self.process.wait()}")

    def send(self, number: int) -> None:
        os.kill(self.process.pid, number)

    def kill(self) -> None:
        self.send(signal.SIGKILL)
        self.process.wait()

    def end(self) -> None:
        if hasattr(self, "http"):
            self.http.close()
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()

    def sign_in(self, keys: dict[str, str] | None = None) -> dict[str, str]:
        """Sign in with the keys of the world `default`, or others, and return the headers."""
        token = self.http.post("/v1/auth/token", json=keys or KEYS).raise_for_status().json()["access_token"]
        return {"Authorization": f"Bearer {token}"}

    def world(self, world_id: str, **more: object) -> dict[str, str]:
        """Create a world and return its sandbox keys."""
        made = self.http.post("/_simulator/worlds", json={"id": world_id, **more}).raise_for_status().json()
        shown = made["credentials"]["sandbox"]
        return {"public_key": shown["public_key"], "secret_key": shown["secret_key"]}


@contextmanager
def replicas(url: str | None, count: int, *flags: str) -> Iterator[list[Replica]]:
    """Run replicas on one database, with a manual clock by default. Without a URL, run a server in memory."""
    made = [Replica(url, *(flags or ("--clock", "manual"))) for _ in range(count)]
    try:
        for replica in made:
            replica.begin()
        yield made
    finally:
        for replica in made:
            replica.end()
