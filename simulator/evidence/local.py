"""A world of the simulator as a target, in this process and without sockets."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import random
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from simulator.engine.clients.exchange import Headers
from simulator.engine.server.config import Config
from simulator.engine.text.json import Shown
from simulator.engine.webhooks import Outcome
from simulator.engine.webhooks.operations import TEST_EVENT
from simulator.engine.worlds.alternatives import Switches
from simulator.engine.worlds.simulator import Simulator
from simulator.evidence.flow import Reply
from simulator.host import create_app
from simulator.kernel.clock import format_timestamp, parse_timestamp
from simulator.service import TOKEN_EXCHANGE, TOOLING
from simulator.testing.links.asgi import Conversation, scope_of
from simulator.testing.receiving.loopback import Answer

START = "2026-01-05T08:00:00.000Z"
HOOK = "http://localhost/probe-hook"
DEAD_HOOK = "http://localhost/probe-dead"
FAILING_HOOK = "http://localhost/probe-failing"
_FIRST_RUN_MS = 45 * 60_000
"""The time until the first run of a recurring payment. At a rate of 900, the calls before it have three seconds."""


class _Receivers:
    """A webhook transport whose receivers accept everything, except at `DEAD_HOOK`. `FAILING_HOOK` accepts only the
    test event of a new endpoint.
    """

    async def post(self, url: str, headers: Headers, body: bytes, timeout_seconds: float, policy: str) -> Outcome:
        fails = url == DEAD_HOOK or (url == FAILING_HOOK and TEST_EVENT.encode() not in body)
        return Outcome(500 if fails else 200, None, 1, headers)

    async def close(self) -> None:
        pass


class Simulators:
    """An application whose worlds are targets."""

    def __init__(self, config: Config | None = None) -> None:
        self._loop = asyncio.new_event_loop()
        self._app = create_app(config, transport=_Receivers())
        self.consulted = set[str]()
        """The assumptions that worlds have looked up since the set was last cleared."""
        simulator = self._app.runtime.simulator
        simulator.wiring = dataclasses.replace(simulator.wiring, on_assumption=self.consulted.add)

    def send(self, method: str, path: str, body: object, headers: Mapping[str, str]) -> Reply:
        raw = b"" if body is None else json.dumps(body).encode()
        given = {"content-type": "application/json"} if raw else {}
        answer = self.exchange(method, path, raw, given | {name.lower(): value for name, value in headers.items()})
        parsed = None
        with suppress(ValueError):
            parsed = json.loads(answer.body)
        return Reply(answer.status, {name.lower(): value for name, value in answer.headers}, parsed)

    def exchange(self, method: str, path: str, raw: bytes, headers: Mapping[str, str]) -> Answer:
        """Send a request unchanged. Header names in the response are in lower case."""
        path, _, query = path.partition("?")
        lines = [(name.encode(), value.encode()) for name, value in {"host": "localhost", **headers}.items()]
        talk = Conversation(raw)
        self._loop.run_until_complete(
            self._app(scope_of(method, path, query.encode(), lines, "localhost"), talk.receive, talk.send)
        )
        return talk.answer()

    @property
    def simulator(self) -> Simulator:
        """The simulator with the worlds."""
        return self._app.runtime.simulator

    def close(self) -> None:
        self._loop.run_until_complete(asyncio.sleep(0))
        for task in asyncio.all_tasks(self._loop):
            task.cancel()
            with suppress(asyncio.CancelledError):
                self._loop.run_until_complete(task)
        self._loop.close()


class FreshWorld:
    """A new world in the given `Simulators`. It has its own keys, and the control API advances its clock and causes
    outside events.
    """

    def __init__(
        self,
        simulators: Simulators,
        assumptions: Mapping[str, str],
        *,
        seed: int = 1,
        begins: str = START,
        scenarios: Sequence[str] | None = None,
        observed: Sequence[Shown] = (),
    ) -> None:
        body = {
            "clock": {"mode": "manual", "now": begins},
            "seed": seed,
            "settings": {"assumptions": dict(assumptions)},
            **({} if scenarios is None else {"scenarios": list(scenarios)}),
            **({"observed": list(observed)} if observed else {}),
        }
        self.simulators = simulators
        self.created: Shown = simulators.send("POST", "/_simulator/worlds", body, {}).body
        """The world, as the control API returned it."""
        self.id: str = self.created["id"]
        self.environment, keys = next(iter(self.created["credentials"].items()))
        self.keys: Mapping[str, str] = TOKEN_EXCHANGE.body(keys)
        self.token, self._seen = "", 0

    def sign_in(self) -> str:
        """Return the token. If there is none, first exchange the keys for a token."""
        if not self.token:
            answer = self.simulators.send("POST", f"/v1{TOKEN_EXCHANGE.path}", self.keys, {})
            self.token = TOKEN_EXCHANGE.token_in(answer.body) or ""
        return self.token

    def read(self, path: str) -> Any:
        """Return the body of a GET response."""
        return self.call("GET", path, None, {}).body

    def call(self, method: str, path: str, body: object, headers: Mapping[str, str], *, obey: bool = True) -> Reply:
        reply = self._once(method, path, body, headers)
        if reply.status == 401 and path != TOKEN_EXCHANGE.path:
            self.token = ""
            reply = self._once(method, path, body, headers)
        return reply

    def _once(self, method: str, path: str, body: object, headers: Mapping[str, str]) -> Reply:
        token = self.token if path == TOKEN_EXCHANGE.path else self.sign_in()
        return self.simulators.send(method, f"/v1{path}", body, {"Authorization": f"Bearer {token}", **headers})

    def act(self, action: str, target: str, parameters: Shown) -> bool:
        body = {**({"target": target} if target else {}), **parameters}
        return self.control("POST", action_path(action), body).status < 300

    def events(self) -> list[Shown]:
        rows: list[Shown] = self.control("GET", f"/events?environment={self.environment}", None).body["data"]
        new = rows[self._seen :]
        self._seen = len(rows)
        return new

    def control(self, method: str, path: str, body: object) -> Reply:
        return self.simulators.send(method, f"/_simulator{path}", body, {"X-Simulator-World": self.id})

    def close(self) -> None:
        self.control("DELETE", f"/worlds/{self.id}", None)


class LocalWorld(FreshWorld):
    """A world as the target of flows."""

    def __init__(
        self,
        simulators: Simulators,
        assumptions: Mapping[str, str],
        *,
        seed: int = 1,
        scenarios: Sequence[str] | None = None,
    ) -> None:
        """Create a world with these alternatives. If `scenarios` is None, the world has the default scenarios."""
        super().__init__(simulators, assumptions, seed=seed, scenarios=scenarios)
        self.account = {
            **invented(self.created["clock"]["now"], "1"),
            "public_key": self.keys["public_key"],
            "user_id": self.created["platform_users"][0]["user_id"],
            "hook": HOOK,
            "dead_hook": DEAD_HOOK,
            "failing_hook": FAILING_HOOK,
        }
        self.account |= TOOLING.probing().surroundings(self.read)

    def wait(self, until: str) -> bool:
        return self.control("POST", "/clock/advance", advance_body(until)).status == 200


def invented(now: str, run: str) -> dict[str, str]:
    """Return the values for a flow that do not come from the account. `run`: digits that make references unique."""
    first_run = format_timestamp(parse_timestamp(now) + _FIRST_RUN_MS)
    return {
        "wrong_secret": "sk_test_wrong",
        "two_megabytes": "x" * 2_000_000,
        "key": f"probe-{run}",
        "reference": f"probe-{run}",
        "own_amount": f"2{int(run) % 1000 / 100:.2f}",
        "first_day": first_run[:10],
        "first_time": first_run[11:16],
    }


def action_path(action: str) -> str:
    """Return the path of the control call that performs an action, or `action` unchanged if it is already a path."""
    return action if action.startswith("/") else f"/actions/{action}"


def advance_body(until: str) -> dict[str, str]:
    """Return the request body for advancing a clock by a duration or to a timestamp."""
    return {"to": until} if until[:4].isdigit() and "T" in until else {"by": until}


def combination(switches: Switches, seed: str, *, without: str = "", share: float = 0.3) -> dict[str, str]:
    """Return random alternatives for a random share of the assumptions."""
    chance = random.Random(seed)
    return {
        identifier: chance.choice(list(switch.alternatives))
        for identifier, switch in switches.items()
        if chance.random() < share and identifier != without
    }
