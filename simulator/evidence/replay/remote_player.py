"""A service over HTTP as the target of a replay. The replay cannot advance its clock or cause outside events."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from simulator.engine.text.json import Shown, dumps, loads
from simulator.evidence.remote import RemoteService
from simulator.evidence.replay.replaying import Answered
from simulator.service import LIVE_KEYS, TOKEN_EXCHANGE

_MOST_CALLS = 100_000


class RemotePlayer:
    """A service at a base URL, with the keys of a test account."""

    is_real_time = True
    strangers: Sequence[str] = ()

    def __init__(self, base_url: str, keys: tuple[str, str]) -> None:
        self._service = RemoteService(base_url, keys, calls=_MOST_CALLS, live_keys=LIVE_KEYS)
        self.keys: Mapping[str, str] = {"public_key": keys[0], "secret_key": keys[1]}
        self.base_ms = time.time_ns() // 1_000_000
        self.run = f"compare-{self.base_ms}-"
        """Makes idempotency keys unique."""

    def send(self, method: str, path: str, raw: bytes, headers: Mapping[str, str], *, signed: bool) -> Answered:
        given = {name.title(): value for name, value in headers.items()}
        if not signed:
            given["Authorization"] = "none"
        elif path != TOKEN_EXCHANGE.path:
            self._service.ensure_signed_in()
        reply = self._service.call(method, path, loads(raw) if raw else None, given)
        return Answered(reply.status, tuple(reply.headers.items()), dumps(reply.body))

    def renew(self) -> None:
        pass  # the service has signed in again

    def hook(self) -> str:
        return ""

    @property
    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000

    def wait_until(self, at_ms: int) -> None:
        pass

    def bring(self, identifier: str, status: str, fields: Mapping[str, object]) -> bool:
        return False

    def cause(self, event: str) -> bool:
        return False

    def events(self) -> list[Shown]:
        return []
