"""A simulated replica. It executes the steps of `Ownership` as the server does. Its worlds are lists."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from simulator.engine.durable.shared import ownership
from simulator.engine.durable.shared.ownership import Ask, Ownership, Step
from tests.campaigns.trust.protocol.database import LEASE_MS, Connection

if TYPE_CHECKING:
    from tests.campaigns.trust.protocol.run import Run

HOP_MS = 1_500
WAIT_MS = 2_500
IDLE_MS = 900


@dataclass(frozen=True)
class Request:
    """`kind`: `create`, `write`, `read`, or `plan`: a write whose timer is due `after` some time."""

    kind: str
    world: str
    op: str
    has_key: bool = False
    after: float = 0
    is_forwarded: bool = False


@dataclass(eq=False)
class Memory:
    """A world in memory. `number`: of its last entry in the journal; `fresh`: what is not in it yet."""

    epoch: int
    ops: list[str]
    known: set[str]
    number: int
    fresh: list[str] = field(default_factory=list)
    timers: dict[str, float] = field(default_factory=dict)
    is_leaving: bool = False
    used_at: float = 0

    def unsent(self) -> list[str]:
        """The webhooks that nobody has taken yet."""
        return [op[5:] for op in self.ops if op.startswith("fire:") and f"done:{op[5:]}" not in self.known]

    def wake_at(self, now: float) -> float | None:
        return now if self.unsent() else min(self.timers.values(), default=None)


class Replica:
    def __init__(self, run: Run, slot: str, name: str) -> None:
        self.run, self.loop, self.slot, self.name = run, run.loop, slot, name
        self.machine = Ownership(slot)
        self.memory: dict[str, Memory] = {}
        self.is_alive, self.paused_until = True, 0.0
        self.connection: Connection | None = None
        self.locking: Connection | None = None
        self._session = 0
        self._tickets: dict[int, tuple[Request, Callable[[str, int], None]]] = {}
        self._count = 0
        self._answers: list[tuple[int, Request, str, int]] = []
        self._is_committing = self._is_flushing = False
        self._confirmed_at = 0.0
        self._settling: list[str] = []
        self.connect()
        self.later(self.loop.random.random() * 500, self._beat)

    # Its own time: while it is paused nothing happens in it

    def later(self, delay: float, act: Callable[..., None], *given: Any) -> None:
        self.loop.after(delay, self.told, act, *given)

    def told(self, act: Callable[..., None], *given: Any) -> None:
        if not self.is_alive:
            return
        if self.loop.now < self.paused_until:
            self.loop.at(self.paused_until, self.told, act, *given)
        else:
            act(*given)

    def end(self) -> None:
        self.is_alive = False
        for connection in {self.connection, self.locking} - {None}:
            assert connection is not None
            connection.close(self.loop.delay())

    # The owning connection

    def connect(self) -> None:
        if self.run.is_cut_off(self) > self.loop.now:
            self.later(200, self.connect)
            return
        self.connection = self._connection()
        self.locking = self.connection if self.run.guards.lock_on_committing_connection else self._connection()
        self.later(self.loop.delay() * 2, self._connected, self.connection)

    def _connection(self) -> Connection:
        return Connection(
            self.run.database, lambda: self.run.is_cut_off(self), lambda *given: self.told(self._hear, *given)
        )

    def _connected(self, connection: Connection) -> None:
        if connection is self.connection:
            self._session += 1
            self._confirmed_at, self._is_committing = self.loop.now, False
            self._session_of_commits = connection.session
            self._do(self.machine.connected(self._session))

    def _beat(self) -> None:
        self.later(LEASE_MS / 3, self._beat)
        if self.connection is None or not self.machine.is_connected or self.locking is None:
            return
        if self.loop.now - self._confirmed_at > LEASE_MS:
            self._lose()
            return
        self.connection.send("ping")
        if self.locking is not self.connection:
            self.locking.send("ping")
        self.connection.send("due")
        for world, memory in list(self.memory.items()):
            wake_at = memory.wake_at(self.loop.now)
            is_quiet = not memory.fresh and (wake_at is None or wake_at > self.loop.now + 500)
            if is_quiet and memory.used_at + IDLE_MS < self.loop.now:
                self._do(self.machine.idle(world))

    def _lose(self) -> None:
        for connection in {self.connection, self.locking} - {None}:
            assert connection is not None
            connection.close(self.loop.delay())
        self.connection = self.locking = None
        self._answers.clear()
        self._settling.clear()
        if self.machine.is_connected:
            self._do(self.machine.lost(self._session))
        else:
            self.connect()

    def _hear(self, connection: Connection, kind: str, *given: Any) -> None:
        if connection is not self.connection and connection is not self.locking:
            return
        machine, session = self.machine, self._session
        self._confirmed_at = self.loop.now
        if kind == "lost":
            self._lose()
        elif kind == "granted":
            world, epoch, ops, number = given
            self._load(world, epoch, ops, number)
            self._do(machine.granted(session, world, epoch))
        elif kind == "denied":
            self._do(machine.denied(session, *given))
        elif kind == "absent":
            self._do(machine.absent(session, *given))
        elif kind == "released":
            self._do(machine.released(session, *given))
        elif kind == "due":
            for world in given[0]:
                self._do(machine.woken(world))
        elif kind == "committed":
            if given[0] is self._session_of_commits or not self.run.guards.session_is_compared:
                self._committed()
            else:
                self._lose()

    # Steps

    def _do(self, steps: list[Step]) -> None:
        for step in steps:
            self._carry_out(step)

    def _carry_out(self, step: Step) -> None:
        match step:
            case ownership.TryLock():
                assert self.locking is not None
                self.locking.send("lock", step.world, step.creates, self.slot)
            case ownership.Serve():
                wait = self.loop.random.random() * 60 if self.loop.chance(0.15) else 0
                self.later(wait, self._serve, step.ticket, step.world)
            case ownership.Forward():
                request, _ = self._tickets[step.ticket]
                self.run.forward(self, step.ticket, request, step.address)
            case ownership.Later():
                self.later(50 + self.loop.random.random() * 100, lambda: self._do(self.machine.again(step.ticket)))
            case ownership.Refuse():
                self._reply(step.ticket, step.reason)
            case ownership.Settle():
                self.memory[step.world].is_leaving = True
                self._settling.append(step.world)
                self._flush()
            case ownership.Unload():
                self.memory.pop(step.world, None)
            case ownership.Release():
                assert self.locking is not None
                self.locking.send("release", step.world)
            case ownership.Connect():
                self.later(self.loop.random.random() * 300, self.connect)
            case ownership.Drained():
                self.run.ended(self)

    # Calls

    def take(self, request: Request, reply: Callable[[str, int], None]) -> None:
        self._count += 1
        ticket = self._count
        self._tickets[ticket] = request, reply
        repeats = request.has_key or request.kind == "read" or not self.run.guards.repeats_only_what_may
        ask = Ask(ticket, request.world, request.is_forwarded, repeats, request.kind == "create")
        self.later(WAIT_MS, lambda: self._do(self.machine.expired(ticket, request.world)))
        self._do(self.machine.asked(ask))

    def forwarded(self, ticket: int, outcome: str, shown: int) -> None:
        """The result of a forwarded call: the other replica's response, or `broken`."""
        if outcome in ("elsewhere", "unavailable", "stopping", "busy", "unreached"):
            self._do(self.machine.forwarded(ticket, "refused"))
        elif outcome in ("broken", "unknown"):
            self._do(self.machine.forwarded(ticket, "broken"))
        else:
            self._do(self.machine.forwarded(ticket, "answered"))
            self._reply(ticket, outcome, shown)

    def _reply(self, ticket: int, outcome: str, shown: int = 0) -> None:
        request, reply = self._tickets.pop(ticket)
        self.run.judge(self, request, outcome, shown)
        reply(outcome, shown)

    def _serve(self, ticket: int, world: str) -> None:
        if ticket not in self._tickets:
            return
        request, _ = self._tickets[ticket]
        memory = self.memory.get(world)
        if memory is None:
            self._reply(ticket, "absent")
            self._do(self.machine.finished(ticket, world))
            return
        memory.used_at = self.loop.now
        outcome = self._perform(memory, request)
        waits = self.run.guards.write_before_answer if request.kind != "read" else self.run.guards.confirm_reads
        if waits:
            self._answers.append((ticket, request, outcome, len(memory.ops)))
        else:
            self._reply(ticket, outcome, len(memory.ops))
            self._do(self.machine.finished(ticket, world))
        self.later(self.loop.random.random() * 2, self._flush)

    def _perform(self, memory: Memory, request: Request) -> str:
        if request.kind == "create":
            if memory.ops:
                return "done" if request.op in memory.known else "exists"
        elif not memory.ops:
            return "absent"
        is_replay = request.has_key and request.op in memory.known
        if request.kind != "read" and not is_replay:
            self._write(memory, request.op)
            if request.kind == "plan":
                due = self.loop.now + request.after
                self._write(memory, f"timer:{request.op}:{due}")
                self._plan(request.world, memory, request.op, due)
        return "done"

    def _write(self, memory: Memory, op: str) -> None:
        memory.ops.append(op)
        memory.known.add(op)
        memory.fresh.append(op)

    # Timers and webhooks

    def _load(self, world: str, epoch: int, ops: tuple[str, ...], number: int) -> None:
        memory = self.memory[world] = Memory(epoch, list(ops), set(ops), number, used_at=self.loop.now)
        for op in ops:
            if op.startswith("timer:"):
                _, name, due = op.split(":")
                if f"fire:{name}" not in memory.known:
                    self._plan(world, memory, name, float(due))
        for name in memory.unsent():
            self.run.webhook(self, world, memory, name)

    def _plan(self, world: str, memory: Memory, name: str, due: float) -> None:
        memory.timers[name] = due
        self.later(max(0, due - self.loop.now), self._fire, world, memory, name)

    def _fire(self, world: str, memory: Memory, name: str) -> None:
        if self.memory.get(world) is memory and not memory.is_leaving and memory.timers.pop(name, None) is not None:
            self._write(memory, f"fire:{name}")
            self._flush()

    def delivered(self, world: str, memory: Memory, name: str) -> None:
        if self.memory.get(world) is memory and not memory.is_leaving and f"done:{name}" not in memory.known:
            self._write(memory, f"done:{name}")
            self._flush()

    # Commits: everything since the last one, in one transaction

    def _flush(self) -> None:
        if self._is_committing or not self.machine.is_connected or self.connection is None:
            return
        batch: dict[str, tuple[Any, ...]] = {}
        sent: list[tuple[str, Memory, list[str]]] = []
        for world, memory in self.memory.items():
            if memory.fresh:
                fresh, memory.fresh = memory.fresh, []
                before = len(memory.ops) - len(fresh)
                upon = before, memory.ops[before - 1] if before else ""
                memory.number += 1
                batch[world] = memory.epoch, memory.number, upon, tuple(fresh), memory.wake_at(self.loop.now)
                sent.append((world, memory, fresh))
        if not batch and not self._answers:
            self._settle()
            return
        self._is_committing = True
        self._sent, (self._answered, self._answers) = sent, (self._answers, [])
        self.connection.send("commit", self.name, batch)

    def _committed(self) -> None:
        self._is_committing = False
        for world, memory, ops in self._sent:
            for op in ops:
                if op.startswith("fire:"):
                    self.run.webhook(self, world, memory, op[5:])
        for ticket, request, outcome, shown in self._answered:
            if ticket in self._tickets:
                self._reply(ticket, outcome, shown)
            self._do(self.machine.finished(ticket, request.world))
        self._flush()

    def _settle(self) -> None:
        """Nothing is under way and nothing waits: whatever was written is durable."""
        settling, self._settling = self._settling, []
        for world in settling:
            self._do(self.machine.settled(self._session, world))

    def drain(self) -> None:
        self._do(self.machine.drain())
