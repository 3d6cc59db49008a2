"""Worlds with a single writer: one with a twin in memory, one with a running clock, and many that are created and
deleted.
"""

from __future__ import annotations

import asyncio
import random
import time
from typing import Any

from simulator.kernel.clock import parse_timestamp
from tests.campaigns.trust.caller import Answer, Broken, Caller, Wrong
from tests.campaigns.trust.findings import Findings
from tests.support import CELO, QUOTE

_CATCHES_UP_MS = 5_000
"""How far a running clock may be from where it belongs, in real time."""


class Twinned:
    """Every call is made twice: in the world that is kept, and in its twin, which no one kills.

    What the twin is after a call that was answered, and before or after one that was not, the world has to be, to the
    last byte of its document: a manual clock makes that so. `late_seconds`: after that long a call that nobody answered
    has been carried out, or never will be.
    """

    def __init__(self, world: str, seed: int, twin: Caller, findings: Findings, late_seconds: float = 0) -> None:
        self.world, self.findings, self._twin, self._seed = world, findings, twin, seed
        self._late_seconds = late_seconds
        self._chance = random.Random(f"{seed} {world}")
        self._tokens: dict[int, str] = {}
        self._open: tuple[str, str, Any] | None = None
        self._quotes: list[str] = []
        self._snapshots: list[str] = []
        self._count = 0
        self.actors = [self]

    async def begin(self, caller: Caller) -> None:
        for one in (caller, self._twin):
            made = await one.surely("POST", "/worlds", {"id": self.world, "seed": self._seed, "scenarios": []})
            keys = made.body["credentials"]["sandbox"]
            pair = {name: keys[name] for name in ("public_key", "secret_key")}
            self._tokens[id(one)] = (await one.call("POST", "/v1/auth/token", pair)).body["access_token"]

    async def step(self, caller: Caller) -> None:
        if self._open is not None:
            await self.judge(caller)
        self._count += 1
        self._open = self._next()
        answer = await self._make(caller, self._open)
        await self._follow(answer)

    async def _follow(self, answer: Answer) -> None:
        """The twin does the same, and has to be answered the same."""
        assert self._open is not None
        method, path, _ = done = self._open
        same = await self._make(self._twin, done)
        self._open = None
        if path.startswith("/v1") and (answer.status, answer.raw) != (same.status, same.raw):
            self.findings.add("half", f"{path} in {self.world}: {answer.raw!r}, and its twin {same.raw!r}")
        self._learn(method, path, same)

    def _learn(self, method: str, path: str, answer: Answer) -> None:
        if answer.status >= 300:
            raise Wrong(f"{method} {path} in the twin of {self.world}: {answer.status} {answer.raw[:400]!r}")
        if path == "/v1/quotes":
            self._quotes = [*self._quotes, answer.body["id"]][-3:]
        elif path == "/_simulator/snapshots":
            self._snapshots.append(answer.body["id"])
        elif path.endswith(("/restore", "/reset")):
            self._quotes = []

    async def _make(self, caller: Caller, done: tuple[str, str, Any]) -> Answer:
        method, path, body = done
        if path.startswith("/v1"):
            return await caller.call(method, path, body, {"Authorization": f"Bearer {self._tokens[id(caller)]}"})
        return await caller.call(method, path, body, {"X-Simulator-World": self.world})

    def _next(self) -> tuple[str, str, Any]:
        drawn, name = self._chance.random(), f"{self.world} {self._count}"
        if drawn < 0.35:
            return "POST", "/v1/quotes", {**QUOTE, "amount": str(1000 + self._count)}
        if drawn < 0.5 and self._quotes:
            payer = {"wallet_address": CELO, "payer": {"phone_number": "+254712345678"}, "reference": name}
            return "POST", f"/v1/quotes/{self._quotes.pop()}/confirm", payer
        if drawn < 0.65:
            to = {"type": "platform_user", "email": "amina@example.test"}
            sent = {"symbol": "XLM", "network": "STELLAR", "amount": "1", "destination": to, "reference": name}
            return "POST", "/v1/wallet/send", sent
        if drawn < 0.75:
            return "POST", "/_simulator/clock/advance", {"by": "1s"}
        if drawn < 0.85:
            rate = {"asset": "USDC", "fiat_currency": "KES", "rate": str(100 + self._count % 50)}
            return "POST", "/_simulator/actions/set_rate", rate
        if drawn < 0.92 or not self._snapshots:
            return "POST", "/_simulator/snapshots", {"name": name}
        return "POST", f"/_simulator/snapshots/{self._chance.choice(self._snapshots)}/restore", None

    async def judge(self, caller: Caller) -> None:
        if self._open is not None:
            await asyncio.sleep(self._late_seconds)
        there, twin = await self._document(caller), await self._document(self._twin)
        if there != twin and self._open is not None:
            answer = await self._make(self._twin, self._open)  # it was carried out before it could be answered
            self._learn(*self._open[:2], answer)
            twin = await self._document(self._twin)
        self._open = None
        if there != twin:
            self.findings.add("half", f"{self.world} is not as its twin: {_difference(there, twin)}")
            await self._begin_anew(caller)

    async def _begin_anew(self, caller: Caller) -> None:
        """One difference is told once."""
        for one in (caller, self._twin):
            await one.surely("POST", "/worlds", {"id": self.world, "seed": 1, "scenarios": [], "replace": True})
        self._tokens, self._quotes, self._snapshots = {}, [], []
        for one in (caller, self._twin):
            made = await one.read(f"/worlds/{self.world}")
            pair = {name: made["credentials"]["sandbox"][name] for name in ("public_key", "secret_key")}
            self._tokens[id(one)] = (await one.call("POST", "/v1/auth/token", pair)).body["access_token"]

    async def _document(self, caller: Caller) -> dict[str, Any]:
        """The world as a document, with its snapshots; without what is of the connection or the machine."""
        document: dict[str, Any] = await caller.read("/state", self.world)
        document.pop("requests")
        tables = {
            name: _plain(rows) for name, rows in document["tables"].items() if rows and not name.startswith("tokens")
        }
        kept = (await caller.read("/snapshots", self.world))["data"]
        return {**document, "tables": tables, "snapshots": kept}

    async def end(self, caller: Caller) -> None:
        """Nothing more than `judge` has found."""


def _plain(rows: list[Any]) -> list[Any]:
    return [row for row in rows if not str(row[0]).startswith(("control.calls", "tok"))]


def _difference(there: dict[str, Any], twin: dict[str, Any]) -> str:
    for name in sorted({*there["tables"], *twin["tables"]}):
        one, other = there["tables"].get(name), twin["tables"].get(name)
        if one != other:
            only = [row for row in one or [] if row not in (other or [])][:2]
            lacks = [row for row in other or [] if row not in (one or [])][:2]
            return f"table {name} has {str(only)[:700]} and lacks {str(lacks)[:700]}"
    return str([name for name in there if there[name] != twin.get(name)])


class Running:
    """A world whose clock runs twenty times as fast, in which payers pay by themselves."""

    RATE = 20

    def __init__(self, world: str, findings: Findings) -> None:
        self.world, self.findings = world, findings
        self._seen_ms, self._seen_at = 0, 0.0
        self._onramps: list[str] = []
        self._token = ""
        self.actors = [self]

    async def begin(self, caller: Caller) -> None:
        wanted = {"id": self.world, "clock": {"mode": "scaled", "rate": self.RATE}, "scenarios": ["autopilot"]}
        made = await caller.surely("POST", "/worlds", wanted)
        keys = made.body["credentials"]["sandbox"]
        self._pair = {name: keys[name] for name in ("public_key", "secret_key")}

    async def step(self, caller: Caller) -> None:
        await self._look(caller)
        bearer = {"Authorization": f"Bearer {self._token}"}
        quote = await caller.call("POST", "/v1/quotes", QUOTE, bearer)
        if quote.status == 401:
            self._token = (await caller.call("POST", "/v1/auth/token", self._pair)).body["access_token"]
            return
        payer = {"wallet_address": CELO, "payer": {"phone_number": "+254712345678"}}
        made = await caller.call("POST", f"/v1/quotes/{quote.body['id']}/confirm", payer, bearer)
        if made.status == 201:
            self._onramps.append(made.body["id"])
        await asyncio.sleep(0.2)

    async def _look(self, caller: Caller) -> None:
        """The clock never goes back, and is where the machine's clock says."""
        asked_at = time.time()
        answer = await caller.control("GET", "/clock", world=self.world)
        if answer.status == 404:
            self.findings.add("lost", f"the world {self.world}")
            raise Wrong(f"{self.world} is gone")
        now_ms = parse_timestamp(answer.body["now"])
        if self._seen_ms:
            least = self._seen_ms + (asked_at - self._seen_at) * 1000 * self.RATE
            most = self._seen_ms + (time.time() - self._seen_at) * 1000 * self.RATE
            slack = _CATCHES_UP_MS * self.RATE
            if now_ms < self._seen_ms or not least - slack <= now_ms <= most + slack:
                self.findings.add("time", f"the clock of {self.world} is {now_ms - least} ms off")
        self._seen_ms, self._seen_at = now_ms, time.time()

    async def judge(self, caller: Caller) -> None:
        try:
            await self._look(caller)
        except Broken:
            return
        resources = {row["id"]: row for row in (await caller.read("/resources?limit=1000000", self.world))["data"]}
        for onramp in self._onramps:
            if onramp not in resources:
                self.findings.add("lost", f"the onramp {onramp} of {self.world}")

    async def end(self, caller: Caller) -> None:
        """Two minutes after it was made an onramp is complete, whatever became of servers meanwhile."""
        await caller.surely("PUT", "/clock", {"mode": "manual"}, world=self.world)
        await caller.surely("POST", "/clock/advance", {"by": "2m"}, world=self.world)
        for onramp in self._onramps:
            status = (await caller.read(f"/resources/{onramp}", self.world))["resource"]["status"]
            if status != "completed":
                self.findings.add("time", f"the onramp {onramp} of {self.world} is {status}, not completed")


class Fleeting:
    """Worlds that come and go, with scenarios and faults of their own."""

    def __init__(self, prefix: str, findings: Findings) -> None:
        self.prefix, self.findings = prefix, findings
        self._chance = random.Random(prefix)
        self._worlds: dict[str, dict[str, Any]] = {}
        self._gone: list[str] = []
        self._open: str | None = None
        self._count = 0
        self.actors = [self]

    async def begin(self, caller: Caller) -> None:
        """The first step makes the first world."""

    async def step(self, caller: Caller) -> None:
        if self._open is not None:  # nobody knows what became of it
            self._worlds.pop(self._open, None)
            self._open = None
        self._count += 1
        drawn = self._chance.random()
        if drawn < 0.3 or not self._worlds:
            world = self._open = f"{self.prefix}-{self._count}"
            made = await caller.control("POST", "/worlds", {"id": world, "seed": self._count, "scenarios": []})
            if made.status != 201:
                raise Wrong(f"{world} was not made: {made.status} {made.raw[:300]!r}")
            keys = made.body["credentials"]["sandbox"]["public_key"]
            self._worlds[world] = {"key": keys, "scenarios": set(), "faults": set()}
        else:
            world = self._open = self._chance.choice(list(self._worlds))
            if drawn < 0.5:
                await self._answered(caller, "DELETE", f"/worlds/{world}", None, 204)
                self._gone.append(world)
                del self._worlds[world]
            elif drawn < 0.75:
                name = f"s{self._count}"
                uploaded = {"name": name, "description": "Nothing happens.", "rules": []}
                await self._answered(caller, "POST", "/scenarios", uploaded, 201, world)
                self._worlds[world]["scenarios"].add(name)
            else:
                fault = {"match": {"path": "/profile"}, "respond": {"status": 503, "code": "service_unavailable"}}
                made = await self._answered(caller, "POST", "/faults", fault, 201, world)
                self._worlds[world]["faults"].add(made.body["id"])
        self._open = None

    async def _answered(
        self, caller: Caller, method: str, path: str, body: Any, status: int, world: str | None = None
    ) -> Answer:
        answer = await caller.control(method, path, body, world=world)
        if answer.status != status:
            raise Wrong(f"{method} {path}: {answer.status} {answer.raw[:300]!r}")
        return answer

    async def judge(self, caller: Caller) -> None:
        shown = {row["id"]: row for row in (await caller.read("/worlds"))["data"]}
        unclear, self._open = self._open, None
        if unclear is not None and unclear not in shown:
            self._worlds.pop(unclear, None)
        for world in self._gone:
            if world in shown:
                self.findings.add("lost", f"the end of {world}")
        for world, told in self._worlds.items():
            if world not in shown:
                self.findings.add("lost", f"the world {world}")
            elif shown[world]["credentials"]["sandbox"]["public_key"] != told["key"]:
                self.findings.add("lost", f"the keys of {world}")
            else:
                scenarios = {row["name"] for row in (await caller.read("/scenarios", world))["data"]}
                faults = {row["id"] for row in (await caller.read("/faults", world))["data"]}
                if not told["scenarios"] <= scenarios or not told["faults"] <= faults:
                    self.findings.add("lost", f"scenarios or faults of {world}")
        self._gone = self._gone[-20:]

    async def end(self, caller: Caller) -> None:
        """They go, so that the next ones find the server small."""
        for world in self._worlds:
            await caller.surely("DELETE", f"/worlds/{world}")
