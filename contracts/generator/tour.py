"""A tour of the whole interface: every operation called for real, in process, under a manual clock.

What it sees becomes the examples of the contract; tests hold every answer and event of it against the contract.
Nothing leaves the process: webhooks go to a transport that answers from a script.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from simulator.assembly import DEFAULT_SCENARIOS, DEFAULT_WORLD, ROOMS, Blueprint, Simulator
from simulator.courier.transport import FakeTransport
from simulator.kernel.clock import parse_duration
from simulator.kernel.journal import Cause
from simulator.scenario.loader import Loader, shipped_directory
from simulator.scenario.schema import Library
from simulator.server.app import Application
from simulator.server.endpoint import BASES
from simulator.server.router import Router
from simulator.server.runtime import Runtime
from simulator.wire.actions import ActionTable, Performed
from simulator.wire.json import JsonObject, dumps, loads
from simulator.wire.operation import Operation

SECRET = ("access_token", "secret_key")
_WALL_MS = 1_767_600_000_000
_TOKEN_LIFETIME_MS = 3_600_000


@dataclass(frozen=True)
class Exchange:
    """One call and its answer; `operation` is the name of the row, "" for a path or method outside the table."""

    operation: str
    method: str
    path: str
    query: dict[str, str]
    body: Any
    status: int
    headers: dict[str, str]
    answer: Any
    title: str = ""


@dataclass
class Tour:
    """What a tour saw: every call in order, and every event envelope."""

    exchanges: list[Exchange] = field(default_factory=list)
    events: list[JsonObject] = field(default_factory=list)

    def calls_of(self, operation: str) -> list[Exchange]:
        return [call for call in self.exchanges if call.operation == operation]

    def events_by_type(self) -> dict[str, JsonObject]:
        """The first event of each type."""
        found: dict[str, JsonObject] = {}
        for event in self.events:
            found.setdefault(event["type"], event)
        return found


class Guide:
    """Calls a simulator in process and keeps what it sees."""

    def __init__(self, seed: int = 1) -> None:
        self.simulator = Simulator(library=_library())
        self.world = self.simulator.create_world(Blueprint(DEFAULT_WORLD, seed))
        self.transport = FakeTransport()
        self.runtime = Runtime(self.simulator, self.transport, wall_clock_ms=lambda: _WALL_MS)
        self.application = Application(self.runtime)
        self.tour = Tour()
        self._router: Router[Operation] = Router(self.simulator.operations)
        self._tokens: dict[str, tuple[str, int]] = {}

    async def call(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        query: dict[str, str] | None = None,
        headers: dict[str, str] | None = None,
        environment: str = "sandbox",
        token: bool = True,
        raw: bytes | None = None,
        title: str = "",
    ) -> Any:
        """One interface call; answers the parsed body."""
        sent = dict(headers or {})
        if token:
            sent.setdefault("authorization", f"Bearer {await self._token(environment)}")
        if (body is not None or raw is not None) and "content-type" not in sent:
            sent["content-type"] = "application/json"
        content = raw if raw is not None else b"" if body is None else dumps(body)
        base = next(base for base, name in BASES.items() if name == environment)
        status, got, answer = await self._ask(method, base + path, query or {}, sent, content)
        found = self._router.find(path)
        row = None if found is None else found[0].get("GET" if method == "HEAD" else method)
        self.tour.exchanges.append(
            Exchange(
                operation=row.name if row is not None else "",
                method=method,
                path=path,
                query=query or {},
                body=_masked(body),
                status=status,
                headers=got,
                answer=_masked(answer),
                title=title,
            )
        )
        return answer

    async def _token(self, environment: str) -> str:
        """A token in force; it is asked for anew when the clock has passed its end."""
        held = self._tokens.get(environment)
        if held is None or self.world.now_ms - held[1] >= _TOKEN_LIFETIME_MS:
            mode = "live" if environment == "production" else "test"
            keys = {"public_key": f"pk_{mode}_simulator", "secret_key": f"sk_{mode}_simulator"}
            answer = await self.call("POST", "/auth/token", keys, environment=environment, token=False)
            held = self._tokens[environment] = (answer["access_token"], self.world.now_ms)
        return held[0]

    async def _ask(
        self, method: str, path: str, query: dict[str, str], headers: dict[str, str], content: bytes
    ) -> tuple[int, dict[str, str], Any]:
        messages: list[Any] = []
        sent = {"host": "127.0.0.1", **headers}
        scope: dict[str, Any] = {
            "type": "http",
            "method": method,
            "path": path,
            "query_string": urlencode(query).encode(),
            "headers": [(name.lower().encode(), value.encode()) for name, value in sent.items()],
            "scheme": "http",
        }

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": content, "more_body": False}

        async def send(message: Any) -> None:
            messages.append(message)

        await self.application(scope, receive, send)
        got = {name.decode(): value.decode() for name, value in messages[0]["headers"]}
        body: bytes = messages[1]["body"]
        return messages[0]["status"], got, loads(body) if body else None

    def act(self, action: str, target: str | None = None, environment: str = "sandbox", **values: Any) -> Performed:
        """What the outside world does."""
        table = self.simulator.actions
        done = table.perform(self.world, action, target, values, environment, Cause("action", action))
        self.world.fire_due()
        self.runtime.changed(self.world)
        return done

    async def advance(self, by: str) -> None:
        await self.runtime.driver.advance(self.world, self.world.now_ms + parse_duration(by))

    async def finish(self) -> Tour:
        await self.runtime.courier.settle(self.world)
        await self.runtime.close()
        self.tour.events = [loads(event.raw) for event in self.world.journal.events()]
        return self.tour


def _library() -> Library:
    """The scenarios that a world begins with; what else ships has no part in the tour."""
    loader = Loader(action_table())
    library = Library()
    for name in DEFAULT_SCENARIOS:
        file = f"{name}.yaml"  # named so in answers, wherever it lies
        library[name] = loader.load((shipped_directory() / file).read_bytes(), f"scenarios/{file}", DEFAULT_SCENARIOS)
    return library


def action_table() -> ActionTable:
    return ActionTable(row for room in ROOMS for row in room.actions)


def _masked(value: Any) -> Any:
    """Tokens differ from run to run, secrets are nobody's business."""
    if isinstance(value, dict):
        return {
            name: f"{member[:8]}…" if name in SECRET and isinstance(member, str) else _masked(member)
            for name, member in value.items()
        }
    return [_masked(item) for item in value] if isinstance(value, list) else value


def take_tour(route: Callable[[Guide], Any] | None = None, seed: int = 1) -> Tour:
    """Go round the whole interface, or along another route."""
    from contracts.generator.route import whole_interface

    async def go() -> Tour:
        guide = Guide(seed)
        await (route or whole_interface)(guide)
        return await guide.finish()

    return asyncio.run(go())
