"""A world of the simulator as a target, in this process and without sockets."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from simulator.evidence.flow import Reply
from simulator.host import create_app
from simulator.testing.links.asgi import Conversation, scope_of

START = "2026-01-05T08:00:00.000Z"


class Simulators:
    """An application whose worlds are targets."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._app = create_app()

    def world(self, assumptions: Mapping[str, str], *, seed: int = 1, scenarios: tuple[str, ...] = ()) -> LocalWorld:
        """Create a world with these alternatives."""
        clock = {"mode": "manual", "now": START}
        settings = {"assumptions": dict(assumptions)}
        body = {"clock": clock, "seed": seed, "settings": settings, "scenarios": list(scenarios)}
        return LocalWorld(self, self.send("POST", "/_simulator/worlds", body, {}).body)

    def send(self, method: str, path: str, body: Any, headers: Mapping[str, str]) -> Reply:
        raw = b"" if body is None else json.dumps(body).encode()
        given = {"host": "localhost", **({"content-type": "application/json"} if raw else {})}
        given |= {name.lower(): value for name, value in headers.items()}
        path, _, query = path.partition("?")
        lines = [(name.encode(), value.encode()) for name, value in given.items()]
        talk = Conversation(raw)
        self._loop.run_until_complete(
            self._app(scope_of(method, path, query.encode(), lines, "localhost"), talk.receive, talk.send)
        )
        answer = talk.answer()
        parsed = None
        with suppress(ValueError):
            parsed = json.loads(answer.body)
        return Reply(answer.status, {name.lower(): value for name, value in answer.headers}, parsed)

    def close(self) -> None:
        self._loop.close()


class LocalWorld:
    """One world, called through its base URL."""

    def __init__(self, simulators: Simulators, made: Mapping[str, Any]) -> None:
        self._simulators, self._id = simulators, made["id"]
        keys = made["credentials"]["sandbox"]
        self._keys = {"public_key": keys["public_key"], "secret_key": keys["secret_key"]}
        self._token = ""
        self._seen = 0
        now = made["clock"]["now"]
        self.account = {
            "public_key": keys["public_key"],
            "wrong_secret": "sk_test_wrong",
            "two_megabytes": "x" * 2_000_000,
            "beyond": "1500",
            "user_id": made["platform_users"][0]["user_id"],
            "key": "probe-key",
            "reference": "probe-1",
            "hook": "http://localhost/_simulator/inbox/probe",
            "dead_hook": "http://localhost/_simulator/inbox/dead",
            "today": now[:10],
            "soon": f"{int(now[11:13]) + 4:02}:00",
        }

    def call(self, method: str, path: str, body: Any, headers: Mapping[str, str]) -> Reply:
        reply = self._once(method, path, body, headers)
        if reply.status == 401 and path != "/auth/token":
            self._token = ""
            reply = self._once(method, path, body, headers)
        return reply

    def _once(self, method: str, path: str, body: Any, headers: Mapping[str, str]) -> Reply:
        if not self._token and path != "/auth/token":
            signed = self._simulators.send("POST", "/v1/auth/token", self._keys, {})
            self._token = signed.body["access_token"]
        return self._simulators.send(method, f"/v1{path}", body, {"Authorization": f"Bearer {self._token}", **headers})

    def wait(self, until: str) -> bool:
        body = {"to": until} if until[:4].isdigit() and "T" in until else {"by": until}
        return self.control("POST", "/clock/advance", body).status == 200

    def act(self, action: str, target: str, parameters: Mapping[str, Any]) -> bool:
        body = {**({"target": target} if target else {}), **parameters}
        return self.control("POST", f"/actions/{action}", body).status == 200

    def events(self) -> list[Mapping[str, Any]]:
        rows: list[Mapping[str, Any]] = self.control("GET", "/events?environment=sandbox", None).body["data"]
        new = rows[self._seen :]
        self._seen = len(rows)
        return new

    def control(self, method: str, path: str, body: Any) -> Reply:
        return self._simulators.send(method, f"/_simulator{path}", body, {"X-Simulator-World": self._id})

    def close(self) -> None:
        self.control("DELETE", f"/worlds/{self._id}", None)
