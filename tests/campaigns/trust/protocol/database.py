"""A simulated PostgreSQL with advisory locks, transactions and broken connections, and an event loop."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any

LEASE_MS = 3_000
"""After so much silence the database ends a session (`idle_session_timeout`)."""


class Broken(AssertionError):
    """A promise was broken."""


@dataclass(frozen=True)
class Guards:
    """Parts of the protocol that can be removed, to check that the simulation detects it."""

    lock_on_committing_connection: bool = True
    epoch: bool = True
    write_before_answer: bool = True
    confirm_reads: bool = True
    session_is_compared: bool = True
    repeats_only_what_may: bool = True


class Loop:
    """Events in the order of simulated milliseconds."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.now = 0.0
        self._events: list[tuple[float, int, Callable[..., None], tuple[Any, ...]]] = []
        self._count = 0

    def at(self, moment: float, act: Callable[..., None], *given: Any) -> None:
        self._count += 1
        heapq.heappush(self._events, (max(moment, self.now), self._count, act, given))

    def after(self, delay: float, act: Callable[..., None], *given: Any) -> None:
        self.at(self.now + delay, act, *given)

    def step(self) -> bool:
        """The next event; False where there is none."""
        if not self._events:
            return False
        self.now, _, act, given = heapq.heappop(self._events)
        act(*given)
        return True

    def delay(self) -> float:
        """How long a message takes: mostly little, now and then long, so that what is sent later arrives earlier."""
        chance = self.random.random()
        return 1 + chance * 8 if chance < 0.9 else chance * 120

    def chance(self, share: float) -> bool:
        return self.random.random() < share


@dataclass
class Row:
    """A world in the database, and its journal: one (epoch, writer, ops) per number."""

    epoch: int = 0
    owner: str | None = None
    taken_by: Session | None = None
    wake_at: float | None = None
    journal: list[tuple[int, str, tuple[str, ...]]] = field(default_factory=list)
    ops: list[str] = field(default_factory=list)


@dataclass(eq=False)
class Session:
    """A connection, as the database sees it."""

    connection: Connection
    heard_at: float
    locks: set[str] = field(default_factory=set)
    is_alive: bool = True


class Connection:
    """A connection of a replica, in its order both ways; `told` is called with what the database answers.

    Each side learns of its end at a time of its own.
    """

    def __init__(self, database: Database, is_cut_off: Callable[[], float], told: Callable[..., None]) -> None:
        self.database, self._loop = database, database.loop
        self._is_cut_off, self._told = is_cut_off, told
        self._up_at = self._down_at = 0.0
        self._passes_until = float("inf")
        self.is_open = True
        self.session = Session(self, self._loop.now)
        self._loop.after(LEASE_MS, database.expire, self.session)

    def send(self, *message: Any) -> None:
        self._up_at = max(self._up_at, self._loop.now + self._loop.delay(), self._is_cut_off())
        self._loop.at(self._up_at, self._arrive, message)

    def _arrive(self, message: tuple[Any, ...]) -> None:
        if self._loop.now > self._passes_until:
            return
        if not self.session.is_alive:
            self.answer("lost")
            return
        self.session.heard_at = self._loop.now
        self.database.handle(self.session, *message)

    def answer(self, *message: Any) -> None:
        self._down_at = max(self._down_at, self._loop.now + self._loop.delay(), self._is_cut_off())
        self._loop.at(self._down_at, self._tell, message)

    def _tell(self, message: tuple[Any, ...]) -> None:
        if self.is_open and self._loop.now <= self._passes_until:
            self._told(self, *message)

    def cut(self, *, client_after: float, server_after: float) -> None:
        """Nothing passes any more but what is nearly there; each side learns of it after a while."""
        self._passes_until = min(self._passes_until, self._loop.now + self._loop.random.random() * 20)
        self._loop.after(server_after, self.database.end, self.session)
        self._loop.after(client_after, self._notice)

    def _notice(self) -> None:
        if self.is_open:
            self._told(self, "lost")

    def close(self, server_after: float) -> None:
        """This side has ended; what it has sent may still arrive."""
        self.is_open = False
        self._passes_until = min(self._passes_until, self._loop.now + self._loop.random.random() * 20)
        self._loop.after(server_after, self.database.end, self.session)

    def move(self) -> None:
        """A pooler puts another session under the connection, without a word."""
        self.database.end(self.session, tells=False)
        self.session = Session(self, self._loop.now)
        self._loop.after(LEASE_MS, self.database.expire, self.session)


class Database:
    def __init__(self, loop: Loop, guards: Guards) -> None:
        self.loop, self.guards = loop, guards
        self.rows: dict[str, Row] = {}
        self.locks: dict[str, Session] = {}
        self.committed: dict[str, tuple[str, int]] = {}
        self.writers: dict[tuple[str, int], str] = {}

    def expire(self, session: Session) -> None:
        if not session.is_alive:
            return
        left = session.heard_at + LEASE_MS - self.loop.now
        if left > 0:
            self.loop.after(left, self.expire, session)
        else:
            self.end(session)

    def end(self, session: Session, tells: bool = True) -> None:
        if session.is_alive:
            session.is_alive = False
            for world in session.locks:
                del self.locks[world]
            if tells:
                session.connection.answer("lost")

    def handle(self, session: Session, kind: str, *given: Any) -> None:
        handlers: dict[str, Callable[..., None]] = {
            "ping": self._ping, "lock": self._lock, "commit": self._commit, "release": self._release, "due": self._due,
        }  # fmt: skip
        handlers[kind](session, *given)

    def _ping(self, session: Session) -> None:
        session.connection.answer("alive")

    def _lock(self, session: Session, world: str, creates: bool, address: str) -> None:
        row = self.rows.get(world)
        if row is None:
            if not creates:
                session.connection.answer("absent", world)
                return
            row = self.rows[world] = Row()
        if world in self.locks:
            session.connection.answer("denied", world, row.owner)
            return
        self.locks[world] = session
        session.locks.add(world)
        self.loop.after(self.loop.delay(), self._take, session, world, row, address)

    def _take(self, session: Session, world: str, row: Row, address: str) -> None:
        """The steps after the lock in the same transaction."""
        if session.is_alive:
            row.epoch += 1
            row.owner = address
            row.taken_by = session
            session.connection.answer("granted", world, row.epoch, tuple(row.ops), len(row.journal))

    def _commit(self, session: Session, writer: str, worlds: dict[str, tuple[Any, ...]]) -> None:
        """One transaction: by world its epoch, its number, what it was written upon, the operations and when it wants
        to be woken. The answer tells which session it is of."""
        for world, (epoch, number, *_) in worlds.items():
            row = self.rows[world]
            if (self.guards.epoch and epoch != row.epoch) or number != len(row.journal) + 1:
                session.connection.answer("lost")
                return
        for world, written in worlds.items():
            row, (epoch, *rest) = self.rows[world], written
            if row.taken_by is not session and row.epoch != epoch:
                raise Broken(f"{world}: {writer} wrote, and another has taken it over")
            self._append(row, world, epoch, writer, *rest)
        session.connection.answer("committed", session)

    def _append(
        self, row: Row, world: str, epoch: int, writer: str, number: int, upon: tuple[int, str], ops: Any, wake: Any
    ) -> None:
        if upon != (len(row.ops), row.ops[-1] if row.ops else ""):
            raise Broken(f"{world}: {writer} wrote upon {upon}, and there was {row.ops}")
        if row.journal and row.journal[-1][0] > epoch:
            raise Broken(f"{world}: epoch {epoch} wrote after epoch {row.journal[-1][0]}")
        if self.writers.setdefault((world, epoch), writer) != writer:
            raise Broken(f"{world}: {writer} and {self.writers[world, epoch]} wrote in epoch {epoch}")
        row.journal.append((epoch, writer, ops))
        row.wake_at = wake
        for op in ops:
            if op in self.committed:
                raise Broken(f"{op} was done twice")
            row.ops.append(op)
            self.committed[op] = world, len(row.ops)

    def _release(self, session: Session, world: str) -> None:
        if world in session.locks:
            session.locks.remove(world)
            del self.locks[world]
            self.rows[world].owner = None
        session.connection.answer("released", world)

    def _due(self, session: Session) -> None:
        due = [
            world
            for world, row in self.rows.items()
            if row.wake_at is not None and row.wake_at <= self.loop.now and world not in self.locks
        ]
        session.connection.answer("due", due)
