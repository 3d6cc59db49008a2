"""Calls one after another on one connection, and what each cost the server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from statistics import median
from typing import Any

from tests.benchmarks.servers import KEYS, Server

QUOTE = {
    "type": "onramp", "network": "celo", "asset": "USDC", "fiat_currency": "KES",
    "amount": "5000", "amount_currency": "KES", "method": "mobile_money",
}  # fmt: skip
PAYEE = {
    "wallet_address": "0x52908400098527886E0F7030069857D2E4169EE7",
    "payer": {"phone_number": "+254712345678"},
}


class Refused(Exception):
    """An answer that a benchmark cannot go on with."""


class Client:
    """One connection to a server, and the token it uses; `keys` are those of its world."""

    def __init__(self, server: Server, world: str = "default", keys: dict[str, str] = KEYS) -> None:
        self.server = server
        self.headers = {"content-type": "application/json", "x-simulator-world": world}
        self._keys = keys
        self._connection = HTTPConnection(server.origin.removeprefix("http://"), timeout=600)

    def sign_in(self) -> None:
        """A fresh token: one lives for an hour of the world's time."""
        keys = {name: self._keys[name] for name in ("public_key", "secret_key")}
        self.headers["authorization"] = f"Bearer {self.call('POST', '/v1/auth/token', keys)['access_token']}"

    def send(self, method: str, path: str, body: object = None) -> tuple[int, bytes]:
        """The status and the raw body of the answer."""
        raw = None if body is None else json.dumps(body)
        self._connection.request(method, path, raw, self.headers)
        answer = self._connection.getresponse()
        return answer.status, answer.read()

    def call(self, method: str, path: str, body: object = None) -> Any:
        """The parsed answer; `Refused` when there is an error in it."""
        status, raw = self.send(method, path, body)
        if status >= 400:
            raise Refused(f"{method} {path}: {status} {raw[:500]!r}")
        return json.loads(raw) if raw else None

    def cost_ms(self, method: str, path: str, body: object = None) -> float:
        """What one call costs the server in processor time."""
        before = self.server.cpu
        status, raw = self.send(method, path, body)
        spent = self.server.cpu - before
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
        self._connection.close()


@contextmanager
def signed_in(server: Server, world: str = "default", keys: dict[str, str] = KEYS) -> Iterator[Client]:
    """A client with a token."""
    client = Client(server, world, keys)
    try:
        client.sign_in()
        yield client
    finally:
        client.close()
