"""One run with replicas, clients and failures from one seed. The promises are checked after every step."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from tests.campaigns.trust.protocol.database import LEASE_MS, Broken, Database, Guards, Loop
from tests.campaigns.trust.protocol.replica import HOP_MS, Memory, Replica, Request

SLOTS = ("a", "b", "c")
WORLDS = ("v", "w")
HEALED_AT = 8_000.0
"""From then on nothing goes wrong any more."""
PATIENCE_MS = 3_200
ENDS_AT = HEALED_AT + 25_000


class Client:
    """One call after another. One with a key is made again, here or there, until it is answered."""

    def __init__(self, run: Run, requests: list[Request]) -> None:
        self.run, self._requests, self._attempt = run, requests, 0
        self.waits = bool(requests)
        run.loop.after(run.loop.random.random() * 400, self._next)

    def _next(self) -> None:
        self.waits = bool(self._requests)
        if self.waits:
            self.request = self._requests.pop()
            self._try()

    def _try(self) -> None:
        run = self.run
        self._attempt += 1
        attempt, request, seen = self._attempt, self.request, run.acknowledged.get(self.request.world, 0)

        def answered(outcome: str, shown: int) -> None:
            if outcome == "done":
                run.acknowledge(request, shown, seen)
            self._answered(attempt, outcome)

        run.call(request, answered)
        if request.has_key and run.loop.chance(0.1):  # twice at once, at two replicas
            run.call(request, answered)
        run.loop.after(PATIENCE_MS, self._answered, attempt, "silent")

    def _answered(self, attempt: int, outcome: str) -> None:
        run, request = self.run, self.request
        if attempt != self._attempt:
            return
        self._attempt += 1
        if outcome in ("done", "exists") or not (request.has_key or request.kind == "read"):
            run.loop.after(run.loop.random.random() * 900, self._next)
        else:
            run.loop.after(100 + run.loop.random.random() * 300, self._try)


class Run:
    def __init__(self, seed: int, guards: Guards | None = None, *, has_pooler: bool | None = None) -> None:
        self.loop, self.guards = Loop(seed), guards or Guards()
        self.database = Database(self.loop, self.guards)
        self.has_pooler = self.loop.chance(0.2) if has_pooler is None else has_pooler
        self.replicas: dict[str, Replica] = {}
        self.acknowledged: dict[str, int] = {}
        self.refused: set[str] = set()
        self.planned: set[str] = set()
        self.webhooks: Counter[str] = Counter()
        self.steps, self.owners_changed, self.went_wrong = 0, 0, Counter[str]()
        self._started = 0
        self._cut_off: dict[object, float] = {}
        for slot in SLOTS:
            self._start(slot)
        self.clients = [Client(self, self._requests(number)) for number in range(4)]
        for _ in range(3 + self.loop.random.randrange(7)):
            self.loop.at(self.loop.random.random() * HEALED_AT * 0.8, self._go_wrong)

    def _requests(self, client: int) -> list[Request]:
        requests = [Request("create", world, f"create-{world}-{client}", has_key=True) for world in WORLDS]
        for number in range(4 + self.loop.random.randrange(7)):
            world, op = self.loop.random.choice(WORLDS), f"{client}.{number}"
            chance = self.loop.random.random()
            if chance < 0.35:
                requests.insert(0, Request("read", world, op))
            elif chance < 0.55:
                requests.insert(0, Request("plan", world, op, True, self.loop.random.random() * 4_000))
            else:
                requests.insert(0, Request("write", world, op, has_key=chance < 0.8))
        return requests

    def play(self) -> Run:
        """Until all is done; Broken where a promise was."""
        while self.loop.now < ENDS_AT and self.loop.step():
            self.steps += 1
            self._hold_ownership()
            if self.loop.now > HEALED_AT and self._is_done():
                return self
        waiting = [client.request for client in self.clients if client.waits]
        unsent = sorted(name for name in self.planned if not self.webhooks[name])
        raise Broken(f"long after all was healed calls wait: {waiting}, and webhooks: {unsent}")

    def _is_done(self) -> bool:
        return not any(client.waits for client in self.clients) and all(self.webhooks[name] for name in self.planned)

    # Promises

    def _hold_ownership(self) -> None:
        """Never do two replicas own a world whose connections can both commit."""
        if self.went_wrong["pooler"]:  # it takes locks away behind the back of everybody; the epoch is for that
            return
        for world in WORLDS:
            owners = [
                replica.name
                for replica in self.replicas.values()
                if replica.connection is not None
                and replica.connection.session.is_alive
                and replica.machine.epoch_of(world) is not None
            ]
            if len(owners) > 1:
                raise Broken(f"{world} is owned by {' and '.join(owners)}")

    def judge(self, replica: Replica, request: Request, outcome: str, shown: int) -> None:
        """Check the response to a call as it leaves the replica."""
        if outcome == "done":
            if request.kind != "read" and request.op not in self.database.committed:
                raise Broken(f"{replica.name} answered {request.op}, which is not in the database")
            if shown > len(self.database.rows[request.world].ops):
                raise Broken(f"{replica.name} showed what is not in the database")
        elif not request.has_key and not request.is_forwarded and request.kind != "read" and outcome != "unknown":
            self.refused.add(request.op)
        if self.refused and request.op in self.refused and request.op in self.database.committed:
            raise Broken(f"{request.op} was refused as {outcome}, and done")

    def acknowledge(self, request: Request, shown: int, seen: int) -> None:
        """A client has an answer. `seen`: how much of the world had been acknowledged when it asked."""
        if request.kind == "read":
            if shown < seen:
                raise Broken(f"a read of {request.world} showed {shown} operations, and {seen} were acknowledged")
            return
        if request.kind == "plan":
            self.planned.add(request.op)
        if request.op in self.refused:
            raise Broken(f"{request.op} was refused, and done")
        world, index = self.database.committed[request.op]
        self.acknowledged[world] = max(self.acknowledged.get(world, 0), index)

    # The network between clients and replicas, and between replicas

    def call(self, request: Request, reply: Callable[[str, int], None]) -> None:
        slot = self.loop.random.choice(SLOTS)
        self.loop.after(self.loop.delay(), self._arrive, slot, request, self._back(reply))

    def _back(self, reply: Callable[[str, int], None]) -> Callable[[str, int], None]:
        return lambda outcome, shown: self.loop.after(self.loop.delay(), reply, outcome, shown)

    def _arrive(self, slot: str, request: Request, reply: Callable[[str, int], None]) -> None:
        replica = self.replicas.get(slot)
        if replica is None:
            reply("unreached", 0)
        else:
            replica.told(replica.take, request, reply)

    def forward(self, origin: Replica, ticket: int, request: Request, slot: str) -> None:
        """One hop. What does not come back in time is broken."""
        open_hops = [True]

        def end(outcome: str, shown: int = 0) -> None:
            if open_hops and open_hops.pop():
                origin.told(origin.forwarded, ticket, outcome, shown)

        def back(outcome: str, shown: int) -> None:
            if not self._is_parted(origin.slot, slot):
                self.loop.after(self.loop.delay(), end, outcome, shown)

        def arrive() -> None:
            if not self._is_parted(origin.slot, slot):
                sent_on = Request(request.kind, request.world, request.op, request.has_key, request.after, True)
                self._arrive(slot, sent_on, back)

        self.loop.after(self.loop.delay(), arrive)
        self.loop.after(HOP_MS, end, "broken")

    def _is_parted(self, one: str, other: str) -> bool:
        return self._cut_off.get(frozenset((one, other)), 0.0) > self.loop.now

    def is_cut_off(self, replica: Replica) -> float:
        """Until when nothing goes between a replica and the database."""
        return self._cut_off.get(replica.slot, 0.0)

    def webhook(self, replica: Replica, world: str, memory: Memory, name: str) -> None:
        """Check a webhook that a replica sends: its event must be durable. The webhook may be repeated."""
        if f"fire:{name}" not in self.database.committed:
            raise Broken(f"the webhook of {name} left before its event was durable")
        self.webhooks[name] += 1
        replica.later(self.loop.delay() * 3, replica.delivered, world, memory, name)

    # What goes wrong

    def _start(self, slot: str) -> None:
        self._started += 1
        self.replicas[slot] = Replica(self, slot, f"{slot}{self._started}")

    def ended(self, replica: Replica) -> None:
        """A replica has drained; another is started in its place."""
        replica.end()
        if self.replicas.get(replica.slot) is replica:
            del self.replicas[replica.slot]
            self.loop.after(100 + self.loop.random.random() * 1_500, self._start, replica.slot)

    def _go_wrong(self) -> None:
        kinds = ["kill", "pause", "cut", "part", "isolate", "drain", *(["pooler"] * 3 if self.has_pooler else [])]
        kind, slot = self.loop.random.choice(kinds), self.loop.random.choice(SLOTS)
        replica = self.replicas.get(slot)
        if replica is None:
            return
        self.went_wrong[kind] += 1
        getattr(self, f"_{kind}")(replica)

    def _kill(self, replica: Replica) -> None:
        self.ended(replica)

    def _pause(self, replica: Replica) -> None:
        replica.paused_until = min(self.loop.now + self._while(), HEALED_AT)

    def _cut(self, replica: Replica) -> None:
        for connection in {replica.connection, replica.locking} if self.loop.chance(0.5) else {replica.locking}:
            if connection is not None:
                late = [self.loop.random.random() * 30, self._while()]
                self.loop.random.shuffle(late)
                connection.cut(client_after=late[0], server_after=late[1])

    def _part(self, replica: Replica) -> None:
        other = self.loop.random.choice(SLOTS)
        self._cut_off[frozenset((replica.slot, other))] = min(self.loop.now + self._while(), HEALED_AT)

    def _isolate(self, replica: Replica) -> None:
        self._cut_off[replica.slot] = min(self.loop.now + self._while(), HEALED_AT)

    def _drain(self, replica: Replica) -> None:
        replica.told(replica.drain)

    def _pooler(self, replica: Replica) -> None:
        if replica.connection is not None and replica.connection.session.is_alive:
            replica.connection.move()

    def _while(self) -> float:
        """How long something lasts: some moments, or longer than a lease."""
        return self.loop.random.choice((60, 400, 1_500, LEASE_MS + 200, LEASE_MS * 1.5)) * (
            0.5 + self.loop.random.random()
        )


def play(seed: int, guards: Guards | None = None, **how: Any) -> Run:
    return Run(seed, guards, **how).play()
