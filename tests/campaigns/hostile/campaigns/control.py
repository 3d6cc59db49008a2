"""The control interface: every operation with odd bodies, queries, headers and worlds, in sequences across several
worlds.
"""

from __future__ import annotations

from random import Random
from typing import Any

from simulator.contract.serving import CONTRACT_ROWS
from simulator.dashboard import DASHBOARD_ROWS
from simulator.engine.control.operation import ControlOperation
from simulator.engine.faults.in_force import FAULTS as IN_FORCE
from simulator.host import control_rows, vocabulary
from tests.campaigns.hostile.actor import ID_ACTIONS, WORLD_ACTIONS, Actor
from tests.campaigns.hostile.campaign import Campaign
from tests.campaigns.hostile.campaigns.interface import FAULTS, WEATHER
from tests.campaigns.hostile.campaigns.yaml_texts import scenario_document
from tests.campaigns.hostile.mutations import (
    HEADERS,
    METHODS,
    ODD,
    QUERIES,
    RAW_BODIES,
    TEXTS,
    doubled_key,
    dumps,
    mutated,
    mutated_bytes,
    mutated_text,
)
from tests.campaigns.hostile.server_under_test import Answer, Request, ServerUnderTest

CALLS = 200
ROWS: tuple[ControlOperation, ...] = control_rows((*CONTRACT_ROWS, *DASHBOARD_ROWS))
SELDOM = {
    "openapi_yaml",
    "openapi_json",
    "openapi_strict_yaml",
    "openapi_specified_yaml",
    "webhook_vectors",
    "control_yaml",
    "reference_page",
    "dashboard",
    "recording",
    "coverage_page",
}
WAITS = {"wait_for_event", "inbox_wait", "stream"}
BIG = {
    "advance",
    "reset",
    "restore",
    "put_state",
    "take_snapshot",
    "get_state",
    "delete_world",
    "cancel_advance",
    "settle",
}
"""Calls that advance, pause or replace whole worlds."""
SPANS = ("1ms", "500ms", "20s", "10m", "2h30m", "3d", "40d", "PT90S", 1.5, 0, "P1DT1S", "2h", "31m")


class Steering:
    """Some worlds of one subject, and what is known of their snapshots, faults and events."""

    def __init__(self, subject: ServerUnderTest, rng: Random, actors: list[Actor]) -> None:
        self.subject = subject
        self.rng = rng
        self.actors = actors
        self.known: dict[str, list[str]] = {"snapshots": [], "faults": [], "events": [], "scenarios": ["autopilot"]}
        self.spare = 0
        self.action: str | None = None
        """The action that the request which is being made performs."""
        self.state: Any = None
        """The last state document that was read, of whichever world."""

    def one_of(self, kind: str) -> str:
        known = self.known[kind]
        return self.rng.choice(known[-8:]) if known and self.rng.random() < 0.9 else self.rng.choice(TEXTS)[:80]

    def body_of(self, row: ControlOperation, actor: Actor) -> Any:
        """A body that may well be taken."""
        rng = self.rng
        if row.name == "create_world":
            self.spare += 1
            body: dict[str, Any] = {"id": f"{actor.world}.{self.spare % 3}", "seed": rng.randrange(5)}
            if rng.random() < 0.7:
                body["replace"] = True
            more = (
                {"clock": {"mode": "manual"}}, {"scenarios": rng.choice(WEATHER)}, {"settings": {"strict": True}},
                {"from_snapshot": self.one_of("snapshots")}, {"clock": {"mode": "scaled", "rate": 3600}},
                {"clock": {"mode": "real"}},
            )  # fmt: skip
            return body | rng.choice(more)
        if row.name == "put_clock":
            return rng.choice((
                {"mode": "manual"}, {"mode": "manual"}, {"mode": "manual"}, {"mode": "scaled", "rate": 60},
                {"rate": 1e-150},
                {"now": "2026-01-09T08:00:00Z"}, {"rate": 1000000}, {"mode": "real"},
                {"now": "2026-02-01T00:00:00.123+03:00"},
            ))  # fmt: skip
        if row.name == "advance":
            target = actor.known_id() or "tx_none"
            return rng.choice((
                {"by": rng.choice(SPANS)}, {"by": rng.choice(SPANS)}, {"by": rng.choice(SPANS)},
                {"to": "2026-02-01T00:00:00Z"},
                {"to_next_timer": True}, {"until": {"event": rng.choice(list(vocabulary().events))}, "horizon": "2d"},
                {"until": {"resource": target, "status": rng.choice(("completed", "expired", "active"))},
                "horizon": "1d"},
            ))  # fmt: skip
        if row.name == "perform":
            known = actor.known_id()
            name, parameters = rng.choice(WORLD_ACTIONS if known is None or rng.random() < 0.5 else ID_ACTIONS)
            self.action = name
            return parameters if (name, parameters) in WORLD_ACTIONS else {"target": known, **parameters}
        event = rng.choice(list(vocabulary().events))
        bodies: dict[str, Any] = {
            "patch_settings": rng.choice(({"strict": True}, {"journal_limit": 5}, {"rate_limit": "50/60"},
            {"rate_limit": None},
                                          {"webhook_urls": "any"}, {"strict": False},
                                          {"webhook_timestamp": "simulated"})),
            "take_snapshot": rng.choice(({}, {"name": "before"})),
            "seed": {"days": rng.choice((1, 2)), "per_day": rng.choice((0, 1, 5))},
            "trigger": rng.choice(({"event": event}, {"event": event}, {"event": event, "target": actor.known_id()})),
            "upload_scenario": scenario_document(rng, f"s{rng.randrange(6)}"),
            "activate": {"names": rng.choice((*WEATHER, [self.one_of("scenarios")], ["autopilot",
            self.one_of("scenarios")]))},
            "put_state": self.state,
            "create_fault": rng.choice(FAULTS),
            "inbox_answer": {"respond": rng.choice(([200], [500, 200], [], [404], [299]))},
        }  # fmt: skip
        return bodies.get(row.name)

    def path_of(self, row: ControlOperation, actor: Actor) -> str:
        rng, path = self.rng, row.path
        if "{action}" in path:
            names = [name for name, _ in (*WORLD_ACTIONS, *ID_ACTIONS)]
            return path.replace("{action}", self.action or rng.choice(names))
        for part, kind in (("/snapshots/{id}", "snapshots"), ("/faults/{id}", "faults"), ("/events/{id}", "events")):
            if part in path:
                return path.replace("{id}", self.one_of(kind))
        if "/worlds/{id}" in path:
            return path.replace("{id}", rng.choice((actor.world, f"{actor.world}.{rng.randrange(3)}", "default")))
        if "/resources/{id}" in path:
            return path.replace("{id}", actor.known_id() or "tx_none")
        free = (f"{actor.world}", "shop", "a.b", "é")
        return path.replace("{name}", self.one_of("scenarios") if "scenarios" in path else rng.choice(free))

    def query_of(self, row: ControlOperation, actor: Actor) -> str:
        rng = self.rng
        if row.name in WAITS:
            wait = rng.choice(("0", "0.01", "0.05", "600", "1e9", "nan", "-1", "inf", "", "x"))
            return f"timeout={wait}&type={rng.choice(list(vocabulary().events))}" if row.name != "stream" else ""
        if row.method != "GET" or rng.random() < 0.5:
            return ""
        return rng.choice((
            "limit=1", "limit=0", "limit=5", "limit=999999999", "type=transaction.completed", "environment=production",
            "world=*",
            f"object_id={actor.known_id()}", "status=200", "status=failed", "method=POST&path=/v1/*", "user_id=x",
            "format=yaml",
            f"event_id={self.one_of('events')}", f"world={actor.world}",
        ))  # fmt: skip

    def request(self, row: ControlOperation, actor: Actor) -> Request:
        rng = self.rng
        self.action = None
        body = self.body_of(row, actor)
        headers = [("host", "127.0.0.1"), ("x-simulator-world", actor.world)]
        if rng.random() < 0.15:
            headers.append(("x-simulator-environment", rng.choice(("sandbox", "production"))))
        request = Request(row.method, "/_simulator" + self.path_of(row, actor), self.query_of(row, actor), headers)
        request.body = b"" if body is None else dumps(body)
        # Altered documents are a campaign of their own, and an altered history may be seconds of work by its defaults.
        if rng.random() < 0.5 or (body is not None and body is self.state) or row.name == "seed":
            return request
        for _ in range(rng.choice((1, 1, 1, 2))):
            way = rng.random()
            if way < 0.5 and body is not None:
                body = mutated(rng, body, rng.choice((1, 1, 2, 3)), (actor.known_id(), rng.choice(ODD)))
                request.body = dumps(body)
            elif way < 0.57:
                request.body = rng.choice(RAW_BODIES)
            elif way < 0.61 and isinstance(body, dict):
                request.body = doubled_key(rng, body)
            elif way < 0.65:
                request.body = mutated_bytes(rng, request.body)
            elif way < 0.77:
                odd = rng.choice(HEADERS)
                request.headers = [*(h for h in request.headers if h[0] != odd[0] or rng.random() < 0.3), odd]
            elif way < 0.88:
                text = rng.choice(QUERIES) if rng.random() < 0.7 else mutated_text(rng, request.query or "limit=1")
                request.query = f"{request.query}&{text}" if rng.random() < 0.5 else text
            elif way < 0.92:
                request.method = rng.choice(METHODS)
            else:
                parts = request.path.split("/")
                parts[rng.randrange(2, len(parts))] = rng.choice(TEXTS)[:300]
                request.path = "/".join(parts)
        return request

    def learn(self, row: ControlOperation, answer: Answer) -> None:
        body = answer.body
        if not isinstance(body, dict) or answer.status >= 300:
            return
        if row.name in ("take_snapshot", "create_fault") and isinstance(body.get("id"), str):
            self.known["snapshots" if row.name == "take_snapshot" else "faults"].append(body["id"])
        elif row.name == "upload_scenario" and isinstance(body.get("name"), str):
            self.known["scenarios"].append(body["name"])
        elif row.name == "get_state":
            self.state = body
        elif row.name == "events":
            self.known["events"] += [event["id"] for event in body.get("data", [])[-3:]]

    async def rush(self) -> None:
        """Calls to several worlds side by side, whatever they do to each other."""
        rows = [row for row in self.rng.choices(ROWS, k=self.rng.randrange(2, 7)) if row.name not in WAITS]
        rows += [row for row in ROWS if row.name in BIG and self.rng.random() < 0.3]
        requests = [self.request(row, self.rng.choice(self.actors)) for row in rows]
        requests += [actor.plausible()[0] for actor in self.actors]
        await self.subject.ask_at_once(requests)

    async def calm(self) -> None:
        """End what would only cost time: faults that hold calls back, clocks that run far ahead of the wall clock."""
        for world in list(self.subject.simulator.worlds.values()):
            delayed = any("delay" in row or "slow" in row.get("deliver", {}) for row in world.store[IN_FORCE].values())
            if delayed and self.rng.random() < 0.8:
                await self.subject.control(world.id, "DELETE", "/faults")
            if world.clock.mode != "manual" and self.rng.random() < 0.3:
                await self.subject.control(world.id, "PUT", "/clock", {"mode": "manual"})


async def episode(subject: ServerUnderTest, rng: Random, number: int) -> int:
    actors = [Actor(subject, rng, f"{name}{number}") for name in ("c", "d")]
    for actor in actors:
        await actor.move_in(seed=number, scenarios=rng.choice(WEATHER))
        for _ in range(3):
            await actor.deal()
    steering = Steering(subject, rng, actors)
    for tried in range(CALLS):
        actor = rng.choice(actors)
        if rng.random() < 0.15:
            await actor.live(2)
        row = rng.choice(ROWS)
        if row.name in SELDOM and rng.random() < 0.8:
            row = rng.choice(ROWS)
        if rng.random() < 0.03:
            await steering.rush()
        request = steering.request(row, actor)
        answer = await subject.ask(request, leave_after=0.05 if row.name in WAITS else None)
        steering.learn(row, answer)
        await steering.calm()
        if tried % 40 == 0:
            subject.judge_books()
        if actor.world not in subject.simulator.worlds:
            await actor.move_in(seed=number * CALLS + tried)  # its keys may live on where its state was put
    subject.judge_books()
    subject.judge_events()
    if number % 8 == 0:
        await actors[0].record()
    if subject.keeps_worlds:
        return CALLS
    for world in list(subject.simulator.worlds):
        await subject.control(world, "DELETE", "/snapshots")
        if world == "default":
            await subject.control(world, "PUT", "/clock", {"mode": "manual"})
            await subject.control(world, "POST", "/reset")
        else:
            await subject.control("default", "DELETE", f"/worlds/{world}")
    for name in list(subject.simulator.snapshots):
        await subject.ask(Request("DELETE", f"/_simulator/snapshots/{name}", "", [("host", "127.0.0.1")]))
    for name in (actors[0].world, actors[1].world, "shop", "a.b", "é"):
        await subject.control("default", "DELETE", f"/inbox/{name}")
    return CALLS


CAMPAIGN = Campaign("control", 100_000, CALLS, episode, contract=True)
