"""A world in this process as the target of a replay."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from simulator.engine.scenario.run.outside import move_to_status
from simulator.engine.text.json import Shown, dumps, loads
from simulator.engine.vocabulary.vocabulary import vocabulary_of
from simulator.evidence.local import HOOK, START, Simulators
from simulator.evidence.replay.replaying import Answered
from simulator.kernel.clock import format_timestamp, parse_timestamp
from simulator.kernel.journal import Cause
from simulator.service import TOKEN_EXCHANGE


class LocalPlayer:
    """A fresh world without scenarios."""

    is_real_time = False
    run = ""

    def __init__(
        self, simulators: Simulators, begins: str, assumptions: Mapping[str, str], observed: Sequence[Shown] = ()
    ) -> None:
        self._simulators = simulators
        body = {
            "clock": {"mode": "manual", "now": begins or START},
            "seed": 1,
            "scenarios": [],
            "settings": {"assumptions": dict(assumptions)},
            **({"observed": list(observed)} if observed else {}),
        }
        created = simulators.send("POST", "/_simulator/worlds", body, {}).body
        self.id: str = created["id"]
        self.base_ms = parse_timestamp(created["clock"]["now"])
        self._environment, keys = next(iter(created["credentials"].items()))
        self._keys = TOKEN_EXCHANGE.body(keys)
        self.strangers: Sequence[str] = [user["user_id"] for user in created["platform_users"]]
        self._token, self._seen = "", 0
        self._world = simulators.simulator.worlds[self.id]

    def send(self, method: str, path: str, raw: bytes, headers: Mapping[str, str], *, signed: bool) -> Answered:
        given = dict(headers)
        if signed and path != TOKEN_EXCHANGE.path:
            given["authorization"] = f"Bearer {self._token or self._sign_in()}"
        answer = self._simulators.exchange(method, f"/v1{path}", raw, given)
        if path == TOKEN_EXCHANGE.path and answer.status == 200:
            self._token = TOKEN_EXCHANGE.token_in(loads(answer.body)) or ""
        return Answered(answer.status, answer.headers, answer.body)

    def _sign_in(self) -> str:
        self.send("POST", TOKEN_EXCHANGE.path, dumps(self._keys), {"content-type": "application/json"}, signed=False)
        return self._token

    def keys(self) -> Shown:
        return self._keys

    def renew(self) -> None:
        self._token = ""

    def hook(self) -> str:
        return HOOK

    @property
    def now_ms(self) -> int:
        return self._world.now_ms

    def wait_until(self, at_ms: int) -> None:
        if at_ms > self._world.now_ms:
            self._control("POST", "/clock/advance", {"to": format_timestamp(at_ms)})

    def bring(self, identifier: str, status: str) -> bool:
        actions, cause = self._simulators.simulator.actions, Cause("action", "replay", "recording")
        return move_to_status(self._world, actions, identifier, status, self._environment, cause)

    def cause(self, event: str) -> bool:
        row = vocabulary_of(self._world).events.get(event)
        kind = None if row is None else self._world.wiring.kinds.get(row.object)
        if kind is None or kind.sole is None:
            return False
        return self._control("POST", "/trigger", {"event": event}).status == 200

    def events(self) -> list[Shown]:
        answer = self._control("GET", f"/events?environment={self._environment}", None)
        rows: list[Shown] = loads(answer.body)["data"]
        new = rows[self._seen :]
        self._seen = len(rows)
        return new

    def _control(self, method: str, path: str, body: object) -> Answered:
        raw = b"" if body is None else dumps(body)
        given = {"x-simulator-world": self.id, **({"content-type": "application/json"} if raw else {})}
        answer = self._simulators.exchange(method, f"/_simulator{path}", raw, given)
        return Answered(answer.status, answer.headers, answer.body)

    def read(self, path: str) -> object:
        """Return the body of a GET response."""
        return loads(self.send("GET", path, b"", {}, signed=True).body)

    def act(self, action: str, target: str, parameters: Shown) -> bool:
        """Perform an action."""
        body = {**({"target": target} if target else {}), **parameters}
        return self._control("POST", f"/actions/{action}", body).status == 200

    def close(self) -> None:
        self._control("DELETE", f"/worlds/{self.id}", None)
