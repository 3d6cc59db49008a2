"""A server in a thread of this process, and a client for a world in it, over HTTP."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx

from simulator.engine.server.app import Application
from simulator.engine.server.config import Config
from simulator.engine.server.process import serving
from simulator.host import create_app

EMPTY = Config(clock="manual", scenarios=())
"""Nothing happens but by timers and calls."""


TLS = httpx.create_ssl_context(trust_env=False)
"""The TLS context of clients. Reading all certificates would take longer than most tests, which do not use them."""


def new_client(timeout: float = 30, **more: Any) -> httpx.Client:
    """A client that looks for no proxy in the environment."""
    return httpx.Client(timeout=timeout, trust_env=False, verify=TLS, **more)


def async_client(timeout: float = 30, **more: Any) -> httpx.AsyncClient:
    return httpx.AsyncClient(timeout=timeout, trust_env=False, verify=TLS, **more)


@dataclass
class Answer:
    """A response with its parsed body."""

    status: int
    body: Any
    headers: httpx.Headers
    raw: bytes

    @property
    def code(self) -> str:
        code: str = self.body["error"]["code"]
        return code

    @property
    def param(self) -> str | None:
        param: str | None = self.body["error"].get("param")
        return param

    @property
    def refusal(self) -> tuple[int, str, str | None]:
        return self.status, self.code, self.param


@dataclass
class Remote:
    """One world of a running server, seen from outside."""

    origin: str
    http: httpx.Client
    world: dict[str, Any] = field(default_factory=dict)
    tokens: dict[str, str] = field(default_factory=dict)

    def call(
        self, method: str, url: str, *, json: Any = None, headers: dict[str, str] | None = None, **more: Any
    ) -> Answer:
        response = self.http.request(method, url, json=json, headers=headers, **more)
        kind = response.headers.get("content-type", "")
        body = response.json() if response.content and kind.startswith("application/json") else None
        return Answer(response.status_code, body, response.headers, response.content)

    def control(
        self, method: str, path: str, json: Any = None, headers: dict[str, str] | None = None, **more: Any
    ) -> Answer:
        world = {"X-Simulator-World": self.world["id"]} if self.world else {}
        return self.call(
            method, f"{self.origin}/_simulator{path}", json=json, headers={**world, **(headers or {})}, **more
        )

    def base(self, environment: str = "sandbox") -> str:
        base: str = self.world["credentials"][environment]["base_url"]
        return base

    def token(self, environment: str = "sandbox") -> str:
        if environment not in self.tokens:
            keys = {name: self.world["credentials"][environment][name] for name in ("public_key", "secret_key")}
            self.tokens[environment] = self.call("POST", f"{self.base(environment)}/auth/token", json=keys).body[
                "access_token"
            ]
        return self.tokens[environment]

    def api(
        self,
        method: str,
        path: str,
        json: Any = None,
        headers: dict[str, str] | None = None,
        environment: str = "sandbox",
        **more: Any,
    ) -> Answer:
        auth = {"Authorization": f"Bearer {self.token(environment)}"}
        return self.call(method, self.base(environment) + path, json=json, headers={**auth, **(headers or {})}, **more)

    def act(self, action: str, target: str | None = None, environment: str = "sandbox", **parameters: Any) -> Answer:
        body = parameters if target is None else {"target": target, **parameters}
        return self.control("POST", f"/actions/{action}", body, {"X-Simulator-Environment": environment})

    def advance(self, **how: Any) -> dict[str, Any]:
        answer = self.control("POST", "/clock/advance", how)
        assert answer.status == 200, answer.body
        receipt: dict[str, Any] = answer.body
        return receipt

    def event_types(self, **query: str) -> list[str]:
        return [event["type"] for event in self.control("GET", "/events", params=query).body["data"]]

    def another(self, **body: Any) -> Remote:
        """A further world of the same server."""
        answer = self.call("POST", f"{self.origin}/_simulator/worlds", json=body)
        assert answer.status == 201, answer.body
        return Remote(self.origin, self.http, answer.body)


@contextmanager
def running(config: Config, *middleware: Callable[..., Any]) -> Iterator[tuple[str, Application]]:
    """A server of its own on a free port, in a thread: its origin, and the application that runs there."""
    application = create_app(config)
    for layer in middleware:
        application.add_middleware(layer)
    with served(application) as origin:
        yield origin, application


@contextmanager
def served(application: Application) -> Iterator[str]:
    """The origin of a server on a free port, in a thread, for the length of a block."""
    ready, found = threading.Event(), list[tuple[str, asyncio.AbstractEventLoop]]()
    stop = asyncio.Event()

    async def serve() -> None:
        async with serving(application) as address:
            found.append((address, asyncio.get_running_loop()))
            ready.set()
            await stop.wait()

    thread = threading.Thread(target=lambda: asyncio.run(serve()), daemon=True)
    thread.start()
    try:
        assert ready.wait(20), "the server did not start"
        yield found[0][0]
    finally:
        for _, loop in found:
            loop.call_soon_threadsafe(stop.set)
        thread.join(20)


ENDINGS = ("reset", "delete", "restore", "replace")
"""The ways in which a world can end."""


def end_world(world: Remote, how: str) -> None:
    if how == "delete":
        assert world.call("DELETE", f"{world.origin}/_simulator/worlds/{world.world['id']}").status == 204
    elif how == "reset":
        assert world.control("POST", "/reset").status == 200
    elif how == "restore":
        snapshot = world.control("GET", "/snapshots").body["data"][0]["id"]
        assert world.control("POST", f"/snapshots/{snapshot}/restore").status == 200
    else:
        assert world.control("PUT", "/state", content=world.control("GET", "/state").raw).status == 200
