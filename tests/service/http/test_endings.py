"""A server stops quickly, with exit code 0 and an empty log, whatever requests are in progress."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import httpx
import pytest

from tests.places import ROOT
from tests.remote import new_client
from tests.support import KEYS

LONGEST_SECONDS = 2.0
"""On a quiet machine; on a busy one twice as long as the start took, which is more work."""


class Scene:
    """A server in a process of its own, and what is open with it."""

    def __init__(self) -> None:
        began = time.monotonic()
        clean = {name: value for name, value in os.environ.items() if not name.startswith("SIMULATOR_")}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "simulator", "serve", "--port", "0", "--clock", "manual"],
            cwd=ROOT,
            env=clean,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        line = next(line for line in self.process.stdout if line.startswith("Ready on "))
        self.longest = max(LONGEST_SECONDS, 2 * (time.monotonic() - began))
        self.origin = line.split()[-1]
        self.http = new_client()
        self.deaf = socket.create_server(("127.0.0.1", 0))
        self.open: list[socket.socket] = []

    def post(self, path: str, body: object, **headers: str) -> httpx.Response:
        return self.http.post(self.origin + path, json=body, headers=headers)

    def send(self, method: str, path: str, body: bytes = b"", *headers: str) -> socket.socket:
        """A request on a connection of its own that nobody reads the answer of."""
        host, port = self.origin.removeprefix("http://").split(":")
        connection = socket.create_connection((host, int(port)))
        lines = [f"{method} {path} HTTP/1.1", f"Host: {host}:{port}", f"Content-Length: {len(body)}", *headers, "", ""]
        connection.sendall("\r\n".join(lines).encode() + body)
        self.open.append(connection)
        return connection

    def token(self) -> str:
        return f"Bearer {self.post('/v1/auth/token', KEYS).json()['access_token']}"

    def register(self, token: str) -> None:
        url = f"http://127.0.0.1:{self.deaf.getsockname()[1]}/hook"
        body = json.dumps({"url": url, "events": ["kyc.approved"]}).encode()
        self.send("POST", "/v1/webhooks", body, f"Authorization: {token}", "Content-Type: application/json")
        self.open.append(self.deaf.accept()[0])

    def hook(self, token: str) -> None:
        """An endpoint that is registered and from then on never answers."""
        url = f"http://127.0.0.1:{self.deaf.getsockname()[1]}/hook"
        with ThreadPoolExecutor(1) as pool:
            made = pool.submit(self.post, "/v1/webhooks", {"url": url, "events": ["kyc.approved"]}, Authorization=token)
            connection, _ = self.deaf.accept()
            connection.recv(65536)
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            connection.close()
            assert made.result().status_code == 201
        self.post("/_simulator/actions/emit", {"type": "kyc.approved"})
        self.open.append(self.deaf.accept()[0])

    def end(self, number: signal.Signals) -> tuple[int, str, bool]:
        """Return how the process ended: exit code, log, and whether it was in time."""
        began = time.monotonic()
        self.process.send_signal(number)
        try:
            _, log = self.process.communicate(timeout=30)
            return self.process.returncode, log, time.monotonic() - began <= self.longest
        finally:
            self.process.kill()
            for connection in (*self.open, self.deaf):
                with suppress(OSError):
                    connection.close()
            self.http.close()


def nothing(scene: Scene) -> None:
    """No client is connected."""


def kept_alive(scene: Scene) -> None:
    scene.http.get(f"{scene.origin}/_simulator/health")


def half_a_head(scene: Scene) -> None:
    connection = scene.send("GET", "/v1/profile")
    connection.recv(65536)
    connection.sendall(b"GET /v1/profile HTTP/1.1\r\nHost: ")


def half_a_body(scene: Scene) -> None:
    connection = scene.send("POST", "/v1/auth/token")
    connection.recv(65536)
    connection.sendall(b"POST /v1/auth/token HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100\r\n\r\n{")


def waits(scene: Scene) -> None:
    for path in ("/events/wait?timeout=600", "/inbox/x/wait?timeout=600"):
        scene.send("GET", f"/_simulator{path}")
    scene.http.get(f"{scene.origin}/_simulator/health")


def streams(scene: Scene) -> None:
    for _ in range(3):
        scene.send("GET", "/_simulator/stream").recv(65536)


def slow_fault(scene: Scene) -> None:
    token = scene.token()
    scene.post("/_simulator/faults", {"match": {"path": "/profile"}, "delay": "600s"})
    scene.send("GET", "/v1/profile", b"", f"Authorization: {token}")
    scene.http.get(f"{scene.origin}/_simulator/health")


def registration(scene: Scene) -> None:
    scene.register(scene.token())


def delivery(scene: Scene) -> None:
    scene.hook(scene.token())


def settling(scene: Scene) -> None:
    scene.hook(scene.token())
    scene.send("POST", "/_simulator/settle")
    scene.http.get(f"{scene.origin}/_simulator/health")


def advancing(scene: Scene) -> None:
    scene.hook(scene.token())
    scene.send("POST", "/_simulator/clock/advance", b'{"by": "1d"}')
    scene.http.get(f"{scene.origin}/_simulator/health")


SITUATIONS: tuple[Callable[[Scene], None], ...] = (
    nothing,
    kept_alive,
    half_a_head,
    half_a_body,
    waits,
    streams,
    slow_fault,
    registration,
    delivery,
    settling,
    advancing,
)


@pytest.mark.parametrize(
    ("situation", "number"),
    [
        pytest.param(
            situation,
            number,
            id=f"{situation.__name__}-{number.name}",
            marks=() if situation in (nothing, streams) else pytest.mark.farm,  # each is a process
        )
        for position, situation in enumerate(SITUATIONS)
        for number in ([signal.SIGTERM, signal.SIGINT] if position % 4 == 0 else [signal.SIGTERM])
    ],
)
def test_it_ends_cleanly(situation: Callable[[Scene], None], number: signal.Signals) -> None:
    scene = Scene()
    try:
        situation(scene)
    except BaseException:
        scene.process.kill()
        raise
    assert scene.end(number) == (0, "", True)


def test_a_call_in_progress_learns_that_the_server_stops() -> None:
    scene = Scene()
    connection = scene.send("GET", "/_simulator/events/wait?timeout=600")
    scene.http.get(f"{scene.origin}/_simulator/health")
    scene.process.terminate()
    answer = b""
    while chunk := connection.recv(65536):
        answer += chunk
    assert answer.startswith(b"HTTP/1.1 503 ")
    assert b'"service_unavailable"' in answer
    assert scene.process.wait(30) == 0
    scene.end(signal.SIGTERM)
