"""Sequential calls on one connection, and what each one costs the server."""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import median
from typing import Any
from urllib.parse import urlsplit

from tests.campaigns.benchmarks.servers import KEYS, Server

QUOTE = {
    "type": "onramp", "network": "celo", "asset": "USDC", "fiat_currency": "KES",
    "amount": "5000", "amount_currency": "KES", "method": "mobile_money",
}  # fmt: skip
PAYEE = {
    "wallet_address": "0x52908400098527886E0F7030069857D2E4169EE7",
    "payer": {"phone_number": "+254712345678"},
}


_LENGTH = re.compile(rb"(?i)\r\ncontent-length: *(\d+)")


def request_bytes(origin: str, method: str, path: str, headers: dict[str, str], body: bytes = b"") -> bytes:
    """A request as it goes on the wire. A client that costs little leaves more of the machine to what is measured."""
    every = {"host": urlsplit(origin).netloc, "content-length": str(len(body)), **headers}
    head = "".join(f"{name}: {value}\r\n" for name, value in every.items())
    return f"{method} {path} HTTP/1.1\r\n{head}\r\n".encode() + body


class Refused(Exception):
    """An answer that a benchmark cannot go on with."""


class Client:
    """One connection to a server, and the token it uses; `keys` are those of its world."""

    def __init__(self, server: Server, world: str = "default", keys: dict[str, str] = KEYS) -> None:
        self.server = server
        self.headers = {"content-type": "application/json", "x-simulator-world": world}
        self._keys = keys
        address = urlsplit(server.origin)
        self._socket = socket.create_connection((address.hostname, address.port), timeout=600)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def sign_in(self) -> None:
        """A fresh token: one lives for an hour of the world's time."""
        keys = {name: self._keys[name] for name in ("public_key", "secret_key")}
        self.headers["authorization"] = f"Bearer {self.call('POST', '/v1/auth/token', keys)['access_token']}"

    def send(self, method: str, path: str, body: object = None) -> tuple[int, bytes]:
        """The status and the raw body of the answer."""
        raw = b"" if body is None else json.dumps(body).encode()
        self._socket.sendall(request_bytes(self.server.origin, method, path, self.headers, raw))
        received = self._more()
        while b"\r\n\r\n" not in received:
            received += self._more()
        head, _, rest = received.partition(b"\r\n\r\n")
        length = _LENGTH.search(head)
        parts, missing = [rest], (int(length[1]) if length else 0) - len(rest)
        while missing > 0:
            parts.append(self._more())
            missing -= len(parts[-1])
        return int(head[9:12]), b"".join(parts)

    def _more(self) -> bytes:
        if not (more := self._socket.recv(1 << 20)):
            raise Refused("the server closed the connection")
        return more

    def call(self, method: str, path: str, body: object = None) -> Any:
        """The parsed answer; `Refused` when there is an error in it."""
        status, raw = self.send(method, path, body)
        if status >= 400:
            raise Refused(f"{method} {path}: {status} {raw[:500]!r}")
        return json.loads(raw) if raw else None

    def cost_ms(self, method: str, path: str, body: object = None) -> float:
        """The server's CPU time for one call, in milliseconds."""
        before = self.server.settled_cpu
        status, raw = self.send(method, path, body)
        spent = self.server.settled_cpu - before
        if status >= 400:
            raise Refused(f"{method} {path}: {status} {raw[:500]!r}")
        return spent * 1000

    def median_cost_ms(self, times: int, method: str, path: str, body: object = None) -> float:
        """The median of so many of these calls, after one that is not counted."""
        return median([self.cost_ms(method, path, body) for _ in range(times + 1)][1:])

    def act(self, action: str, target: str | None = None, **parameters: object) -> None:
        named = {} if target is None else {"target": target}
        self.call("POST", f"/_simulator/actions/{action}", {**named, **parameters})

    def close(self) -> None:
        self._socket.close()


@contextmanager
def signed_in(server: Server, world: str = "default", keys: dict[str, str] = KEYS) -> Iterator[Client]:
    """A client with a token."""
    client = Client(server, world, keys)
    try:
        client.sign_in()
        yield client
    finally:
        client.close()
