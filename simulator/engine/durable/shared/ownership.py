"""The ownership protocol of replicas that share one database. The protocol is a state machine without I/O or a clock.

A replica serves a world only while its owning connection to the database holds the lock for that world. The replica
commits over this connection only, with the epoch that it got with the lock. The database therefore decides which
replica owns a world: a closed connection holds no lock and commits nothing. A request that reaches another replica is
forwarded to the owner, but only once.

Each method of `Ownership` handles an event and returns the steps to execute. The code that executes the steps must
follow these rules:

- Execute the steps in the given sequence. `TryLock`, `Release` and all commits are sent over the owning connection, in
  the same sequence.
- After a request was processed, send a statement over the owning connection. Respond to the request only after the
  database has confirmed this statement. The statement is the commit of the request's writes. For a request without
  writes, the statement is a query that confirms that the session still holds the lock. Everything in a response is
  therefore in the database, and no other replica owned the world in the meantime. Without the query, a replica that was
  paused could return a state that another replica has since changed.
- Report `lost` if the database refuses a commit or such a query, or if the result of one of them is unknown.

Events contain the `session` number of their connection, which increases with each connection. Late events from an
earlier session are ignored.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field
from typing import Literal, TypeAlias

from simulator.kernel.dataclass import dataclass, replace


@dataclass(frozen=True)
class Ask:
    """A request that needs a world, as passed to `Ownership.asked`."""

    ticket: int
    world: str
    is_forwarded: bool = False
    """True if another replica has forwarded the request. Such a request is not forwarded again."""
    may_repeat: bool = False
    """True if the request can safely be sent twice, because it only reads or has an idempotency key."""
    creates: bool = False
    """True if the world does not have to exist yet."""
    is_doubtful: bool = False
    """True if the request was sent to an owner that did not respond. The request may have been processed."""


Reason: TypeAlias = Literal["elsewhere", "unavailable", "stopping", "busy", "unknown"]
"""The reason why a request is refused. The request may have been processed only if the reason is `unknown`.

`elsewhere`: the request was forwarded, and another replica owns the world. `unavailable`: there is no connection to the
database. `stopping`: this replica is draining. `busy`: no replica took the world in time. `unknown`: the connection to
the database or to the owner ended while the request was in progress.
"""


Outcome: TypeAlias = Literal["answered", "refused", "broken"]
"""The outcome of a forwarded request.

`answered`: the response was passed on. `refused`: the request did not reach the owner, or the other replica is not the
owner, so nothing was done. `broken`: the request was sent, and no response arrived.
"""


@dataclass(frozen=True)
class TryLock:
    """Tells the caller: lock a world, increment its epoch, save this replica's address and read the state of the world.

    If `creates` is True, first insert a missing world. Afterwards, call `granted`, `denied` or `absent`.
    """

    session: int
    world: str
    creates: bool


@dataclass(frozen=True)
class Serve:
    """Tells the caller: process a request, or return 404 if its world does not exist. Then call `finished`."""

    ticket: int
    world: str


@dataclass(frozen=True)
class Forward:
    """Tells the caller: send a request, marked as forwarded, to the replica at `address`. Then call `forwarded`."""

    ticket: int
    address: str


@dataclass(frozen=True)
class Later:
    """Tells the caller: after a short delay, call `Ownership.again` with the request's `ticket`."""

    ticket: int


@dataclass(frozen=True)
class Refuse:
    """Tells the caller: refuse a request with an error for `reason`. Discard a response that was already computed."""

    ticket: int
    reason: Reason


@dataclass(frozen=True)
class Settle:
    """Tells the caller: fire no more timers of a world. Call `settled` when all its writes are durable."""

    session: int
    world: str


@dataclass(frozen=True)
class Unload:
    """Tells the caller: remove a world from memory."""

    world: str


@dataclass(frozen=True)
class Release:
    """Tells the caller: release a world's lock, and clear the owner in its table row. Then call `released`."""

    session: int
    world: str


@dataclass(frozen=True)
class Connect:
    """Tells the caller: open a new database connection. Retry until it is open, then call `connected`."""


@dataclass(frozen=True)
class Drained:
    """Tells the caller: stop this replica, which no longer owns any worlds."""


Step: TypeAlias = TryLock | Serve | Forward | Later | Refuse | Settle | Unload | Release | Connect | Drained


@dataclass
class _Held:
    state: Literal["asked", "owned", "leaving", "left"]
    """`asked`: the lock was requested.

    `leaving`: open requests and writes are being completed. `left`: the release is not confirmed yet.
    """
    epoch: int = 0
    active: set[int] = field(default_factory=set)
    waiting: list[Ask] = field(default_factory=list)

    @property
    def is_owned(self) -> bool:
        return self.state in ("owned", "leaving")


class Ownership:
    """The ownership state machine of one replica. `address` is where other replicas reach this replica."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.session = 0
        self.is_connected = False
        self.is_draining = False
        self._held: dict[str, _Held] = {}
        self._owners: dict[str, str] = {}
        self._forwarding: dict[int, Ask] = {}
        self._later: dict[int, Ask] = {}

    def epoch_of(self, world: str) -> int | None:
        """Return the number of this replica's current ownership of a world, or None if it does not own the world."""
        held = self._held.get(world)
        return held.epoch if held is not None and held.is_owned else None

    def owned(self) -> list[str]:
        """Return the ids of the worlds that this replica owns, including worlds that are about to be released."""
        return [world for world, held in self._held.items() if held.is_owned]

    # Requests

    def asked(self, ask: Ask) -> list[Step]:
        """Handle a new request: serve it, forward it, or first try to become the owner of its world."""
        if not self.is_connected:
            return [_refuse(ask, "unavailable")]
        held = self._held.get(ask.world)
        if held is None:
            return self._take(ask)
        if held.state == "owned":
            held.active.add(ask.ticket)
            return [Serve(ask.ticket, ask.world)]
        held.waiting.append(ask)
        return []

    def _take(self, ask: Ask) -> list[Step]:
        """Forward a request to the world's owner if the owner is known. Otherwise try to become the owner."""
        owner = self._owners.get(ask.world)
        if owner is not None and not ask.is_forwarded:
            self._forwarding[ask.ticket] = ask
            return [Forward(ask.ticket, owner)]
        if self.is_draining:
            return [_refuse(ask, "stopping")]
        self._held[ask.world] = _Held("asked", waiting=[ask])
        return [TryLock(self.session, ask.world, ask.creates)]

    def finished(self, ticket: int, world: str) -> list[Step]:
        """Record that a request that this replica served has ended."""
        held = self._held.get(world)
        if held is None or ticket not in held.active:
            return []
        held.active.remove(ticket)
        return self._settle(world, held) if held.state == "leaving" else []

    def forwarded(self, ticket: int, outcome: Outcome) -> list[Step]:
        """Handle the outcome of a forwarded request. If the request was not processed, retry or refuse it."""
        ask = self._forwarding.pop(ticket, None)
        if ask is None or outcome == "answered":
            return []
        self._owners.pop(ask.world, None)
        if outcome == "refused":
            return [self._put_off(ask)]
        return [self._put_off(replace(ask, is_doubtful=True)) if ask.may_repeat else Refuse(ticket, "unknown")]

    def _put_off(self, ask: Ask) -> Step:
        self._later[ask.ticket] = ask
        return Later(ask.ticket)

    def again(self, ticket: int) -> list[Step]:
        """Decide again about a request for which `Later` was returned."""
        ask = self._later.pop(ticket, None)
        return self.asked(ask) if ask is not None else []

    def expired(self, ticket: int, world: str) -> list[Step]:
        """Refuse a request that has waited too long, unless it is being served or forwarded already."""
        ask = self._later.pop(ticket, None)
        held = self._held.get(world)
        if ask is None and held is not None:
            ask = next((ask for ask in held.waiting if ask.ticket == ticket), None)
            held.waiting = [ask for ask in held.waiting if ask.ticket != ticket]
        return [_refuse(ask, "busy")] if ask is not None else []

    # Worlds

    def woken(self, world: str) -> list[Step]:
        """Take ownership of a world that has a due timer and no owner."""
        if not self.is_connected or self.is_draining or world in self._held:
            return []
        self._held[world] = _Held("asked")
        return [TryLock(self.session, world, creates=False)]

    def idle(self, world: str) -> list[Step]:
        """Release a world that is unused and has no timer due soon."""
        held = self._held.get(world)
        return self._leave(world, held) if held is not None and held.state == "owned" and not held.active else []

    def drain(self) -> list[Step]:
        """Complete all requests in progress and release all worlds, because the replica is stopping."""
        self.is_draining = True
        owned = [(world, held) for world, held in self._held.items() if held.state == "owned"]
        steps = [step for world, held in owned for step in self._leave(world, held)]
        return [*steps, *self._drained()]

    def _drained(self) -> list[Step]:
        return [Drained()] if self.is_draining and not self._held else []

    def _leave(self, world: str, held: _Held) -> list[Step]:
        held.state = "leaving"
        return self._settle(world, held)

    def _settle(self, world: str, held: _Held) -> list[Step]:
        return [] if held.active else [Settle(self.session, world)]

    def settled(self, session: int, world: str) -> list[Step]:
        """Release a world after all its writes were saved."""
        if self.is_former(session):
            return []
        self._held[world].state = "left"
        return [Unload(world), Release(session, world)]

    def released(self, session: int, world: str) -> list[Step]:
        """Handle the database's confirmation that this replica has released a world."""
        if self.is_former(session):
            return []
        waiting = self._held.pop(world).waiting
        return [*self._all(waiting), *self._drained()]

    def _all(self, asks: Iterable[Ask]) -> list[Step]:
        return [step for ask in asks for step in self.asked(ask)]

    # Database events

    def granted(self, session: int, world: str, epoch: int) -> list[Step]:
        """Serve the waiting requests of a world whose lock was acquired and whose state was read."""
        if self.is_former(session):
            return []
        self._owners.pop(world, None)
        held = self._held[world]
        held.state, held.epoch = "owned", epoch
        waiting, held.waiting = held.waiting, []
        steps = self._all(waiting)
        return [*steps, *self._leave(world, held)] if self.is_draining else steps

    def denied(self, session: int, world: str, owner: str | None) -> list[Step]:
        """Handle a world whose lock another connection holds. `owner` is the saved address of the world's owner."""
        if self.is_former(session):
            return []
        waiting = self._held.pop(world).waiting
        # An earlier connection of this replica may still hold the lock, if the database has not noticed that it was
        # closed. Forwarding the request to this replica would be pointless.
        if owner is None or owner == self.address:
            return [*map(self._put_off, waiting), *self._drained()]
        self._owners[world] = owner
        steps: list[Step] = []
        for ask in waiting:
            steps += [_refuse(ask, "elsewhere")] if ask.is_forwarded else self._take(ask)
        return [*steps, *self._drained()]

    def absent(self, session: int, world: str) -> list[Step]:
        """Handle a world that does not exist, so that it cannot be locked."""
        if self.is_former(session):
            return []
        steps: list[Step] = []
        for ask in self._held.pop(world).waiting:
            steps += self.asked(ask) if ask.creates else [Serve(ask.ticket, world)]
        return [*steps, *self._drained()]

    def connected(self, session: int) -> list[Step]:
        """Start to use a new owning connection. The connection does not hold any locks yet."""
        self.session, self.is_connected = session, True
        return []

    def lost(self, session: int) -> list[Step]:
        """Handle the loss of the owning connection, or a commit that was refused or has an unknown result.

        All worlds are removed from memory. Unconfirmed writes may be in the database, and other replicas may own the
        worlds.
        """
        if self.is_former(session):
            return []
        self.is_connected = False
        steps: list[Step] = []
        for world, held in self._held.items():
            steps += [Refuse(ticket, "unknown") for ticket in sorted(held.active)]
            steps += [_refuse(ask, "unavailable") for ask in held.waiting]
            if held.is_owned:
                steps.append(Unload(world))
        self._held.clear()
        return [*steps, *(self._drained() or [Connect()])]

    def is_former(self, session: int) -> bool:
        """Return True if a connection has been lost or replaced."""
        return session != self.session or not self.is_connected


def _refuse(ask: Ask, reason: Reason) -> Refuse:
    return Refuse(ask.ticket, "unknown" if ask.is_doubtful else reason)
