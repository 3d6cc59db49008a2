"""A world with several concurrent writers. Each one knows its own requests and their responses."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from orjson import loads

from simulator.kernel.clock import parse_timestamp
from tests.campaigns.trust.caller import Answer, Broken, Caller, Wrong
from tests.campaigns.trust.findings import Findings
from tests.campaigns.trust.receiver import Receiver
from tests.support import CELO, QUOTE

MANY = "limit=1000000"
_KEEPS_FIXED = ("id", "created_at", "amount", "reference", "name", "quote_id", "order_id", "rate", "expires_at")
_DAY_MS = 86_400_000
BALANCE = 10_000_000
"""Of what is sent: more than all sends of a run."""


@dataclass
class Write:
    """A call that changes something. `marker`: a string in the created object. `answers`: bodies of 2xx responses."""

    marker: str
    path: str
    body: dict[str, Any]
    key: str | None
    request_ids: list[str] = field(default_factory=list)
    answers: list[bytes] = field(default_factory=list)

    @property
    def made(self) -> dict[str, Any]:
        made: dict[str, Any] = loads(self.answers[0])
        return made


class Shared:
    """A world with a manual clock: so many payers, one who moves its clock, and a webhook for everything."""

    def __init__(self, world: str, seed: int, receiver: Receiver, findings: Findings, payers: int = 3) -> None:
        self.world, self.receiver, self.findings = world, receiver, findings
        self._seed, self._chance = seed, random.Random(f"{seed} {world}")
        self._writes: list[Write] = []
        self._unknown: list[Write] = []
        self._clock_ms = self._may_be_ms = 0
        self._token, self._token_until_ms = "", 0
        self._is_first_seen: set[str] = set()
        self.actors: list[Payer | Mover] = [*(Payer(self, number) for number in range(payers)), Mover(self)]

    async def begin(self, caller: Caller) -> None:
        made = await caller.surely("POST", "/worlds", {"id": self.world, "seed": self._seed, "scenarios": []})
        self._keys = {name: made.body["credentials"]["sandbox"][name] for name in ("public_key", "secret_key")}
        self._clock_ms = self._may_be_ms = parse_timestamp(made.body["clock"]["now"])
        for name, values in (
            ("set_balance", {"symbol": "USDC", "network": "CELO", "amount": str(BALANCE)}),
            ("set_limits", {"per_transaction": "100000", "daily": "100000000", "monthly": "1000000000"}),
        ):
            await caller.surely("POST", f"/actions/{name}", values, world=self.world)
        await self.renew(caller, refused=False)
        url = f"{self.receiver.origin}/{self.world}"
        hook = await self.api(caller, "/webhooks", {"url": url, "events": ["*"]})
        if hook.status != 201:
            raise Wrong(f"the webhook was refused: {hook.raw!r}")

    async def renew(self, caller: Caller, *, refused: bool = True) -> None:
        """Take a new token; the old one must have lapsed."""
        if refused and self._clock_ms < self._token_until_ms:
            self.findings.add("lost", f"the token of {self.world} was refused before its hour was over")
        answer = await caller.call("POST", "/v1/auth/token", self._keys)
        if answer.status != 200:
            raise Wrong(f"no token in {self.world}: {answer.status} {answer.raw[:300]!r}")
        self._token, self._token_until_ms = answer.body["access_token"], self._clock_ms + 3_590_000

    async def api(self, caller: Caller, path: str, body: Any, key: str | None = None) -> Answer:
        """A POST to the interface."""
        for _ in range(3):
            headers = {"Authorization": f"Bearer {self._token}"}
            if key is not None:
                headers["Idempotency-Key"] = key
            used = self._token
            answer = await caller.call("POST", f"/v1{path}", body, headers)
            if answer.status != 401:
                return answer
            if used == self._token:
                await self.renew(caller)
        return answer

    def acknowledged(self, write: Write, answer: Answer) -> None:
        if not write.answers:
            self._writes.append(write)
        elif answer.raw != write.answers[0]:
            self.findings.add("doubled", f"{write.path} with the key {write.key}: {write.answers[0]!r}, {answer.raw!r}")
        write.answers.append(answer.raw)
        write.request_ids.append(answer.headers["x-request-id"])

    def left_open(self, write: Write) -> None:
        self._unknown.append(write)

    # The clock

    def advancing(self, milliseconds: int) -> None:
        self._may_be_ms += milliseconds  # those whose answer never came may have been carried out

    def advanced(self, now_ms: int) -> None:
        if now_ms < self._clock_ms:
            self.findings.add("time", f"the clock of {self.world} went back to {now_ms} from {self._clock_ms}")
        self._clock_ms = self._may_be_ms = now_ms

    # Judging, while nobody writes

    async def judge(self, caller: Caller) -> None:
        """Compare the state with the responses that clients received."""
        now_ms = parse_timestamp((await caller.read("/clock", self.world))["now"])
        if not self._clock_ms <= now_ms <= self._may_be_ms:
            self.findings.add("time", f"{self.world} is at {now_ms}, not in {self._clock_ms} to {self._may_be_ms}")
        self._clock_ms = self._may_be_ms = now_ms
        resources = (await caller.read(f"/resources?{MANY}", self.world))["data"]
        self._judge_writes(resources)
        await self._judge_calls(caller)
        await self._judge_books(caller, resources)
        await self._judge_timers(caller, resources)
        await self._judge_events(caller)
        await self._judge_keys(caller)

    def _judge_writes(self, resources: list[dict[str, Any]]) -> None:
        by_id = {row["id"]: row for row in resources}
        if len(by_id) != len(resources):
            self.findings.add("doubled", f"ids in {self.world}")
        for write in self._writes:
            there = by_id.get(write.made["id"])
            if there is None:
                self.findings.add("lost", f"{write.path} in {self.world}: {write.answers[0]!r}")
                continue
            for name in _KEEPS_FIXED:
                if name in write.made and there.get(name, write.made[name]) != write.made[name]:
                    self.findings.add("lost", f"{name} of {there} in {self.world}, which was {write.made[name]!r}")
        marked = Counter(
            marker
            for row in resources
            if row.get("kind") != "deposit_transaction"
            for marker in (row.get("reference"), row.get("name"), _marked_amount(row))
            if marker is not None
        )
        for write in (*self._writes, *self._unknown):
            if marked[write.marker] > 1:
                self.findings.add("doubled", f"{marked[write.marker]} × {write.marker} in {self.world}")

    async def _judge_calls(self, caller: Caller) -> None:
        journal = Counter(row["id"] for row in (await caller.read(f"/requests?{MANY}", self.world))["data"])
        for write in self._writes:
            told = Counter(write.request_ids)
            for request, times in told.items():
                if journal[request] < times:
                    self.findings.add("lost", f"the call {request} of {self.world} in the journal")
                if write.key is None and journal[request] > times:
                    self.findings.add("doubled", f"the call {request} of {self.world} in the journal")

    async def _judge_books(self, caller: Caller, resources: list[dict[str, Any]]) -> None:
        books = await caller.read("/ledger", self.world)
        sums: defaultdict[str, Decimal] = defaultdict(Decimal)
        for row in books["accounts"]:
            sums[row["currency"]] += Decimal(row["amount"])
        for currency, amount in sums.items():
            if amount:
                self.findings.add("half", f"the books of {self.world} in {currency} come to {amount}")
        sent = sum((Decimal(row["amount"]) for row in resources if row["kind"] == "send"), Decimal(0))
        arrived = sum((Decimal(row["amount"]) for row in resources if row["kind"] == "deposit_transaction"), Decimal(0))
        left = {
            row["account"]: Decimal(row["amount"]) for row in books["accounts"] if row["currency"] == "USDC.celo"
        }.get("available")
        if left is None or left + sent != BALANCE or sent != arrived:
            self.findings.add("half", f"{self.world} has {left}, sent {sent}, of which {arrived} arrived")

    async def _judge_timers(self, caller: Caller, resources: list[dict[str, Any]]) -> None:
        timers = (await caller.read(f"/timers?{MANY}", self.world))["data"]
        targets = {row["target"] for row in timers}
        for row in resources:
            waits = (row["kind"], row.get("status")) in (("ramp_quote", "active"), ("onramp", "awaiting_payment"))
            if waits and row["id"] not in targets:
                self.findings.add("time", f"nothing ends {row['status']} of {row['kind']} {row['id']} in {self.world}")
        late = [row for row in timers if parse_timestamp(row["due_at"]) < self._clock_ms]
        if late:
            self.findings.add("time", f"{late[0]} of {self.world} was due before {self._clock_ms}")

    async def _judge_events(self, caller: Caller) -> dict[str, dict[str, Any]]:
        events = (await caller.read(f"/events?{MANY}", self.world))["data"]
        by_id = {event["id"]: event for event in events}
        if len(by_id) != len(events):
            self.findings.add("doubled", f"ids of events in {self.world}")
        for event, bodies in self.receiver.bodies[self.world].items():
            told = loads(bodies[0])
            if told.get("type") == "webhook.test" or event in self._is_first_seen:
                continue
            if event not in by_id:
                self.findings.add("webhook", f"{event} of {self.world} was delivered, and there is no such event")
            elif told != by_id[event]:
                self.findings.add("webhook", f"{event} of {self.world} was delivered as another")
            if len(set(bodies)) > 1:
                self.findings.add("webhook", f"{event} of {self.world} was delivered with different bytes")
        return by_id

    async def _judge_keys(self, caller: Caller) -> None:
        """The same key again: the same bytes, and nothing new (which the next round would find)."""
        keyed = [write for write in self._writes if write.key is not None][-60:]
        for write in self._chance.sample(keyed, min(4, len(keyed))):
            try:
                answer = await self.api(caller, write.path, write.body, write.key)
            except Broken:
                continue
            if answer.status >= 300:
                self.findings.add("lost", f"the key {write.key} of {self.world}: {answer.status} {answer.raw!r}")
            else:
                self.acknowledged(write, answer)

    async def end(self, caller: Caller) -> None:
        """Let all retries come, and see that every event has arrived."""
        for _ in range(5):  # a day at a time: each is one call
            now = parse_timestamp((await caller.read("/clock", self.world))["now"]) + _DAY_MS
            await self._settle_at(caller, now)
        self._clock_ms = self._may_be_ms = now
        by_id = await self._judge_events(caller)
        arrived = self.receiver.bodies[self.world]
        for event in by_id.values():
            if event["id"] not in arrived:
                self.findings.add("webhook", f"{event['type']} {event['id']} of {self.world} was never delivered")

    async def _settle_at(self, caller: Caller, moment_ms: int) -> None:
        now_ms = parse_timestamp((await caller.read("/clock", self.world))["now"])
        while now_ms < moment_ms:
            span = f"{moment_ms - now_ms}ms"
            answer = await caller.surely("POST", "/clock/advance?wait=true", {"by": span}, world=self.world)
            now_ms = parse_timestamp(answer.body["now"])
        await caller.surely("POST", "/settle", {}, world=self.world)


def _marked_amount(row: dict[str, Any]) -> str | None:
    """Nothing but its amount tells one quote from another."""
    return f"quote {row['source_amount']}" if row.get("kind") == "ramp_quote" else None


class Payer:
    """Quotes, confirms, sends, adds beneficiaries: half of that with a key, and then again until there is an answer."""

    def __init__(self, shared: Shared, number: int) -> None:
        self._shared, self._number = shared, number
        self._chance = random.Random(f"{shared.world} payer {number}")
        self._open: Write | None = None
        self._quotes: list[str] = []
        self._count = 0

    async def step(self, caller: Caller) -> None:
        write = self._open or self._next()
        self._open = None
        try:
            answer = await self._shared.api(caller, write.path, write.body, write.key)
        except Broken:
            if write.key is None:
                self._shared.left_open(write)
            else:
                self._open = write
            raise
        if answer.status < 300:
            self._shared.acknowledged(write, answer)
            if write.path == "/quotes":
                self._quotes.append(write.made["id"])
        elif not (write.path.endswith("/confirm") and answer.code in ("quote_expired", "quote_already_confirmed")):
            raise Wrong(f"{write.path} in {self._shared.world}: {answer.status} {answer.raw[:400]!r}")

    def _next(self) -> Write:
        self._count += 1
        name = f"{self._shared.world} {self._number} {self._count}"
        key = name if self._chance.random() < 0.6 else None
        what = self._chance.choice(["quote", "quote", "send", "send", "beneficiary", "confirm"])
        if what == "confirm" and self._quotes:
            path = f"/quotes/{self._quotes.pop()}/confirm"
            body = {"wallet_address": CELO, "payer": {"phone_number": "+254712345678"}, "reference": name}
            return Write(name, path, body, key)
        if what == "send":
            to = {"type": "platform_user", "email": "amina@example.test"}
            body = {"symbol": "USDC", "network": "CELO", "amount": "1.00", "destination": to, "reference": name}
            return Write(name, "/wallet/send", body, key)
        if what == "beneficiary":
            phone = {"phone_number": "+254722000000", "provider": "mpesa"}
            about = {"type": "phone_number", "name": name, "country": "KE", "fiat_currency": "KES"}
            return Write(name, "/beneficiaries", {**about, "phone_number": phone}, key)
        amount = f"{1000 + self._count}.{self._number:02}"
        return Write(f"quote {amount}", "/quotes", {**QUOTE, "amount": amount}, key)


class Mover:
    """Moves the clock of the world, by seconds."""

    def __init__(self, shared: Shared) -> None:
        self._shared = shared
        self._chance = random.Random(f"{shared.world} mover")

    async def step(self, caller: Caller) -> None:
        milliseconds = self._chance.choice([250, 1000, 5000, 61_000])
        self._shared.advancing(milliseconds)
        body = {"by": f"{milliseconds}ms"}
        answer = await caller.control("POST", "/clock/advance?wait=true", body, world=self._shared.world)
        if answer.status == 200:
            self._shared.advanced(parse_timestamp(answer.body["now"]))
        elif answer.status != 409:
            raise Wrong(f"advance of {self._shared.world}: {answer.status} {answer.raw[:400]!r}")
