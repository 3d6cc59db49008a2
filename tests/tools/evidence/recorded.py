"""Recordings of a client's calls to a hidden service, made in this process."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from simulator.engine.text.json import Shown
from simulator.evidence.corpus import Exchange, Pseudonyms, Recording, Traffic, sanitise
from simulator.evidence.flow import Reply, play, read_steps, steps_in
from simulator.evidence.local import LocalWorld, Simulators, invented
from simulator.evidence.planning import read_probes
from simulator.kernel.clock import parse_timestamp
from simulator.service import TOOLING

PROBING = TOOLING.probing()
FLOWS: Mapping[str, Sequence[str]] = read_probes(PROBING)["flows"]
STEPS = read_steps(PROBING.steps)
_LARGE = 1_000_000


class Tap:
    """A target of flows that records what passes through it: calls and webhooks."""

    def __init__(self, simulators: Simulators, world: LocalWorld, account: Mapping[str, str]) -> None:
        self._simulators, self._world, self.account = simulators, world, account
        self._pseudonyms = Pseudonyms(b"k" * 32)
        self._token = ""
        self.exchanges: list[Exchange] = []

    def _now_ms(self) -> int:
        return parse_timestamp(self._world.control("GET", "/clock", None).body["now"])

    def _add(self, **seen: Any) -> None:
        traffic = Traffic(n=len(self.exchanges) + 1, at_ms=self._now_ms(), **seen)
        self.exchanges.append(sanitise(traffic, self._pseudonyms))

    def call(self, method: str, path: str, body: object, headers: Mapping[str, str], *, obey: bool = True) -> Reply:
        raw = b"" if body is None else json.dumps(body).encode()
        if not self._token:
            signed = self._simulators.send("POST", "/v1/auth/token", self._world.keys, {}).body
            self._token = signed.get("access_token", "")  # a fault of the flow may refuse the sign-in
        given = {
            **({"content-type": "application/json"} if raw else {}),
            "authorization": f"Bearer {self._token}",
            **{name.lower(): value for name, value in headers.items()},
        }
        answer = self._simulators.exchange(method, f"/v1{path}", raw, given)
        self._add(
            method=method, path=path.partition("?")[0], query=path.partition("?")[2], headers=list(given.items()),
            body=raw if len(raw) < _LARGE else None, status=answer.status, response_headers=list(answer.headers),
            response=answer.body,
        )  # fmt: skip
        self._receive()
        parsed = None
        with suppress(ValueError):
            parsed = json.loads(answer.body)
        return Reply(answer.status, {name.lower(): value for name, value in answer.headers}, parsed)

    def _receive(self) -> None:
        for event in self._world.events():
            self._add(
                method="POST", path="/inbox", direction="webhook", body=json.dumps(event).encode(), status=200,
                headers=[("content-type", "application/json")], signature="valid",
            )  # fmt: skip

    def wait(self, until: str) -> bool:
        done = self._world.wait(until)
        self._receive()
        return done

    def act(self, action: str, target: str, parameters: Shown) -> bool:
        done = self._world.act(action, target, parameters)
        self._receive()
        return done

    def events(self) -> list[Shown]:
        return []


def record(simulators: Simulators, assumed: Mapping[str, str], flow: str) -> Recording:
    """Record a flow in a fresh world with these alternatives."""
    world = LocalWorld(simulators, assumed, seed=7)
    try:
        now = world.control("GET", "/clock", None).body["now"]
        tap = Tap(simulators, world, {**world.account, **invented(now, "100")})
        play(steps_in(tuple(FLOWS[flow]), STEPS), tap)
    finally:
        world.close()
    return Recording(flow, tap.exchanges)


def write(directory: Path, recordings: Sequence[Recording]) -> Path:
    """Write recordings as `rampsim capture` does."""
    directory.mkdir(parents=True, exist_ok=True)
    for one in recordings:
        (directory / f"{one.name}.jsonl").write_bytes(b"".join(row.line() for row in one.exchanges))
    return directory
