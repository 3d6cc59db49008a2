"""The target of a replay: a world in this process, or a service over HTTP."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from simulator.engine.scenario.run.paths import move_to_status
from simulator.engine.text.json import Shown, dumps, loads
from simulator.engine.vocabulary.vocabulary import vocabulary_of
from simulator.evidence.local import HOOK, START, FreshWorld, Simulators
from simulator.evidence.remote import RemoteService
from simulator.evidence.replay.replaying import Answered, Player
from simulator.kernel.clock import format_timestamp, parse_timestamp
from simulator.kernel.journal import Cause
from simulator.service import LIVE_KEYS, TOKEN_EXCHANGE


class LocalPlayer(FreshWorld, Player):
    """A fresh world without scenarios."""

    is_real_time = False

    def __init__(
        self, simulators: Simulators, begins: str, assumptions: Mapping[str, str], observed: Sequence[Shown] = ()
    ) -> None:
        super().__init__(simulators, assumptions, begins=begins or START, scenarios=(), observed=observed)
        self.base_ms = parse_timestamp(self.created["clock"]["now"])
        self.strangers = [user["user_id"] for user in self.created["platform_users"]]
        self._world = simulators.simulator.worlds[self.id]

    def send(self, method: str, path: str, raw: bytes, headers: Mapping[str, str], *, signed: bool) -> Answered:
        given = dict(headers)
        if signed and path != TOKEN_EXCHANGE.path:
            given["authorization"] = f"Bearer {self.sign_in()}"
        answer = self.simulators.exchange(method, f"/v1{path}", raw, given)
        if path == TOKEN_EXCHANGE.path and answer.status == 200:
            self.token = TOKEN_EXCHANGE.token_in(loads(answer.body)) or ""
        return Answered(answer.status, answer.headers, answer.body)

    def renew(self) -> None:
        self.token = ""

    def hook(self) -> str:
        return HOOK

    @property
    def now_ms(self) -> int:
        return self._world.now_ms

    def wait_until(self, at_ms: int) -> None:
        if at_ms > self._world.now_ms:
            self.control("POST", "/clock/advance", {"to": format_timestamp(at_ms)})

    def bring(self, identifier: str, status: str, fields: Mapping[str, object]) -> bool:
        actions, cause = self.simulators.simulator.actions, Cause("action", "replay", "recording")
        return move_to_status(self._world, actions, identifier, status, self.environment, cause, fields)

    def cause(self, event: str) -> bool:
        row = vocabulary_of(self._world).events.get(event)
        kind = None if row is None else self._world.wiring.kinds.get(row.object)
        if kind is None or kind.sole is None:
            return False
        return self.control("POST", "/trigger", {"event": event}).status == 200


_MOST_CALLS = 100_000


class RemotePlayer(Player):
    """A service at a base URL, with the keys of a test account. Its clock and outside events cannot be controlled."""

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
