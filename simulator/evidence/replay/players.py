"""A world in this process as the target of a replay."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from simulator.engine.scenario.run.outside import move_to_status
from simulator.engine.text.json import Shown, loads
from simulator.engine.vocabulary.vocabulary import vocabulary_of
from simulator.evidence.local import HOOK, START, FreshWorld, Simulators
from simulator.evidence.replay.replaying import Answered
from simulator.kernel.clock import format_timestamp, parse_timestamp
from simulator.kernel.journal import Cause
from simulator.service import TOKEN_EXCHANGE


class LocalPlayer(FreshWorld):
    """A fresh world without scenarios."""

    is_real_time = False
    run = ""

    def __init__(
        self, simulators: Simulators, begins: str, assumptions: Mapping[str, str], observed: Sequence[Shown] = ()
    ) -> None:
        super().__init__(simulators, assumptions, begins=begins or START, scenarios=(), observed=observed)
        self.base_ms = parse_timestamp(self.created["clock"]["now"])
        self.strangers: Sequence[str] = [user["user_id"] for user in self.created["platform_users"]]
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
