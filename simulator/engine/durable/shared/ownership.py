"""Who serves which world, where several replicas share one database: the protocol, without any I/O or clock.

A replica serves a world only while its one owning connection to the database holds that world's lock, and everything
it commits goes over that very connection under the epoch that it got with the lock. So the database decides: a
connection that has ended holds no lock and commits nothing. A call that comes to another replica is sent on to the
owner, once.

`Ownership` is told what has happened and returns what is to be done, as a list of steps. Whoever carries the steps out
keeps these rules; the rest of the protocol is here:

- Steps are carried out in their order. `TryLock`, `Release` and all commits go over the owning connection, in order.
- A call is answered only after the owning connection has confirmed something that was sent after the call was done:
  the commit of what it wrote, or where it wrote nothing that the session is still the one that took the lock. So
  whatever an answer shows is in the database, and no other replica owned the world meanwhile.
- A commit or such a question that the database refuses, or whose end is not known, is told as `lost`.

What is said of a connection names its `session`, a number that rises; what comes late of an earlier one is ignored.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field
from typing import Literal, TypeAlias

from simulator.kernel.copying import replace
from simulator.kernel.dataclass import dataclass


@dataclass(frozen=True)
class Ask:
    """A call that wants a world.

    `is_forwarded`: another replica has sent it on; it is not sent on again. `may_repeat`: to make it twice does no harm
    (it only reads, or has an idempotency key). `creates`: the world may be one that is not there yet. `is_doubtful`: it
    was sent to an owner that did not answer, so it may have been carried out.
    """

    ticket: int
    world: str
    is_forwarded: bool = False
    may_repeat: bool = False
    creates: bool = False
    is_doubtful: bool = False


Reason: TypeAlias = Literal["elsewhere", "unavailable", "stopping", "busy", "unknown"]
"""Why a call is not answered. Only after `unknown` may it have done something all the same.

`elsewhere`: it was forwarded, and another replica owns the world. `unavailable`: no connection to the database.
`stopping`: this replica drains. `busy`: nobody took the world in time. `unknown`: the connection to the database or to
the owner broke off while the call was under way.
"""


Outcome: TypeAlias = Literal["answered", "refused", "broken"]
"""What came of a call that was sent on. `refused`: it did not reach the owner, or that said it is none; nothing was
done. `broken`: it was sent, and no answer came."""


@dataclass(frozen=True)
class TryLock:
    """Take the lock of a world, raise its epoch, write this replica's address and read its state; tell `granted`,
    `denied` or `absent`. Where it `creates`, a world that is not there is entered first, empty."""

    session: int
    world: str
    creates: bool


@dataclass(frozen=True)
class Serve:
    """Carry a call out on the world in memory (one that nobody has is answered 404); tell `finished`."""

    ticket: int
    world: str


@dataclass(frozen=True)
class Forward:
    """Send a call to the replica at this address, marked as forwarded; tell `forwarded`."""

    ticket: int
    address: str


@dataclass(frozen=True)
class Later:
    """Tell `again` after a moment."""

    ticket: int


@dataclass(frozen=True)
class Refuse:
    """Answer a call with this reason; whatever it has come to so far is not shown."""

    ticket: int
    reason: Reason


@dataclass(frozen=True)
class Settle:
    """Fire no timers of a world any more, and wait until all that was written in it is durable; tell `settled`."""

    session: int
    world: str


@dataclass(frozen=True)
class Unload:
    """Throw away what is in memory of a world."""

    world: str


@dataclass(frozen=True)
class Release:
    """Let go of the lock of a world and its row of this replica's address; tell `released`."""

    session: int
    world: str


@dataclass(frozen=True)
class Connect:
    """Drop what is left of the former connection, and make another; tell `connected`, as often as it takes."""


@dataclass(frozen=True)
class Drained:
    """This replica owns nothing any more and may end."""


Step: TypeAlias = TryLock | Serve | Forward | Later | Refuse | Settle | Unload | Release | Connect | Drained


@dataclass
class _Held:
    """A world of this replica: its lock is `asked` for, it is `owned`, it is `leaving`, or it has `left`, and the
    database is yet to say so."""

    state: Literal["asked", "owned", "leaving", "left"]
    epoch: int = 0
    active: set[int] = field(default_factory=set)
    waiting: list[Ask] = field(default_factory=list)

    @property
    def is_owned(self) -> bool:
        return self.state in ("owned", "leaving")


class Ownership:
    """The part of one replica. `address` is where other replicas reach it."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.session = 0
        self.is_connected = False
        self.is_draining = False
        self._held: dict[str, _Held] = {}
        self._owners: dict[str, str] = {}
        self._on_their_way: dict[int, Ask] = {}
        self._later: dict[int, Ask] = {}

    def epoch_of(self, world: str) -> int | None:
        """The epoch under which this replica commits in a world; None where it does not own it."""
        held = self._held.get(world)
        return held.epoch if held is not None and held.is_owned else None

    def owned(self) -> list[str]:
        """The worlds that this replica owns, also while it is letting go of them."""
        return [world for world, held in self._held.items() if held.is_owned]

    # Calls

    def asked(self, ask: Ask) -> list[Step]:
        """A call has come in."""
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
        """Send a call to the owner where one is known; else try to become it."""
        owner = self._owners.get(ask.world)
        if owner is not None and not ask.is_forwarded:
            self._on_their_way[ask.ticket] = ask
            return [Forward(ask.ticket, owner)]
        if self.is_draining:
            return [_refuse(ask, "stopping")]
        self._held[ask.world] = _Held("asked", waiting=[ask])
        return [TryLock(self.session, ask.world, ask.creates)]

    def finished(self, ticket: int, world: str) -> list[Step]:
        """A call that was served has been answered, or has come to nothing."""
        held = self._held.get(world)
        if held is None or ticket not in held.active:
            return []
        held.active.remove(ticket)
        return self._settle(world, held) if held.state == "leaving" else []

    def forwarded(self, ticket: int, outcome: Outcome) -> list[Step]:
        """A hop has come to its end."""
        ask = self._on_their_way.pop(ticket, None)
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
        """The moment after `Later` has passed."""
        ask = self._later.pop(ticket, None)
        return self.asked(ask) if ask is not None else []

    def expired(self, ticket: int, world: str) -> list[Step]:
        """A call has waited long enough. One that is being served goes on, and so does one that was sent on."""
        ask = self._later.pop(ticket, None)
        held = self._held.get(world)
        if ask is None and held is not None:
            ask = next((ask for ask in held.waiting if ask.ticket == ticket), None)
            held.waiting = [ask for ask in held.waiting if ask.ticket != ticket]
        return [_refuse(ask, "busy")] if ask is not None else []

    # Worlds

    def woken(self, world: str) -> list[Step]:
        """A timer of a world is due, and its row says that nobody owns it."""
        if not self.is_connected or self.is_draining or world in self._held:
            return []
        self._held[world] = _Held("asked")
        return [TryLock(self.session, world, creates=False)]

    def idle(self, world: str) -> list[Step]:
        """Nobody has called a world for long, and none of its timers is due soon."""
        held = self._held.get(world)
        return self._leave(world, held) if held is not None and held.state == "owned" and not held.active else []

    def drain(self) -> list[Step]:
        """This replica is to end: it finishes what it has begun and lets go of its worlds."""
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
        """Everything that was written in a world is durable."""
        if self._is_former(session):
            return []
        self._held[world].state = "left"
        return [Unload(world), Release(session, world)]

    def released(self, session: int, world: str) -> list[Step]:
        """The database has taken back the lock of a world."""
        if self._is_former(session):
            return []
        waiting = self._held.pop(world).waiting
        return [*self._all(waiting), *self._drained()]

    def _all(self, asks: Iterable[Ask]) -> list[Step]:
        return [step for ask in asks for step in self.asked(ask)]

    # What the database says

    def granted(self, session: int, world: str, epoch: int) -> list[Step]:
        """The lock of a world is held, and its state is in memory."""
        if self._is_former(session):
            return []
        self._owners.pop(world, None)
        held = self._held[world]
        held.state, held.epoch = "owned", epoch
        waiting, held.waiting = held.waiting, []
        steps = self._all(waiting)
        return [*steps, *self._leave(world, held)] if self.is_draining else steps

    def denied(self, session: int, world: str, owner: str | None) -> list[Step]:
        """Another connection holds the lock of a world; `owner` is the address that its row names."""
        if self._is_former(session):
            return []
        waiting = self._held.pop(world).waiting
        if owner is None or owner == self.address:  # by a former connection of this replica, whose end is not known yet
            return [*map(self._put_off, waiting), *self._drained()]
        self._owners[world] = owner
        steps = [step for ask in waiting for step in self._sent_on(ask)]
        return [*steps, *self._drained()]

    def _sent_on(self, ask: Ask) -> list[Step]:
        return [_refuse(ask, "elsewhere")] if ask.is_forwarded else self._take(ask)

    def absent(self, session: int, world: str) -> list[Step]:
        """No world has this id."""
        if self._is_former(session):
            return []
        steps: list[Step] = []
        for ask in self._held.pop(world).waiting:
            steps += self.asked(ask) if ask.creates else [Serve(ask.ticket, world)]
        return [*steps, *self._drained()]

    def connected(self, session: int) -> list[Step]:
        """There is an owning connection again; it holds no lock yet."""
        self.session, self.is_connected = session, True
        return []

    def lost(self, session: int) -> list[Step]:
        """The owning connection has ended, or what it was told to commit was refused, or its end is not known.

        All worlds are thrown away: whatever was not confirmed may be in the database or not, and another replica may
        own them already.
        """
        if self._is_former(session):
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

    def _is_former(self, session: int) -> bool:
        return session != self.session or not self.is_connected


def _refuse(ask: Ask, reason: Reason) -> Refuse:
    return Refuse(ask.ticket, "unknown" if ask.is_doubtful else reason)
