"""The ownership protocol of replicas that share one database, as a state machine without I/O or clock.

A replica serves a world only while its owning connection to the database holds the lock of that world. All its commits
go over this connection, under the epoch that came with the lock. So the database decides: a connection that has ended
holds no lock and commits nothing. A request that reaches another replica is forwarded to the owner, once.

The methods of `Ownership` take events and return steps. The code that carries the steps out must follow these rules:

- Carry steps out in their order. `TryLock`, `Release` and all commits go over the owning connection, in order.
- Respond to a request only after the owning connection has confirmed something that was sent after the request was
  carried out. This is the commit of its writes or, without writes, a query which confirms that the session is still the
  one that took the lock. So everything in a response is in the database, and no other replica owned the world
  meanwhile. Without the query, a replica that was paused could show a state that another one has changed since.
- Report `lost` if the database refuses a commit or such a query, or if its result is unknown.

Events name the `session` of their connection, a number that rises. Late events of an earlier session are ignored.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field
from typing import Literal, TypeAlias

from simulator.kernel.copying import replace
from simulator.kernel.dataclass import dataclass


@dataclass(frozen=True)
class Ask:
    """A request that needs a world."""

    ticket: int
    world: str
    is_forwarded: bool = False
    """True if another replica has forwarded it. It is not forwarded again."""
    may_repeat: bool = False
    """True if sending it twice does no harm, because it only reads or has an idempotency key."""
    creates: bool = False
    """True if the world may not exist yet."""
    is_doubtful: bool = False
    """True if it was sent to an owner that did not respond. It may have been carried out."""


Reason: TypeAlias = Literal["elsewhere", "unavailable", "stopping", "busy", "unknown"]
"""The reason why a request is refused. Only after `unknown` may it have been carried out.

`elsewhere`: it was forwarded, and another replica owns the world. `unavailable`: there is no connection to the
database. `stopping`: this replica drains. `busy`: no replica took the world in time. `unknown`: the connection to the
database or to the owner ended while the request was in progress.
"""


Outcome: TypeAlias = Literal["answered", "refused", "broken"]
"""The outcome of a forwarded request.

`refused`: it did not reach the owner, or the replica is not the owner, so nothing was done. `broken`: it was sent, and
no response came.
"""


@dataclass(frozen=True)
class TryLock:
    """Take the lock of a world, raise its epoch, write this replica's address and read the state of the world.

    Then call `granted`, `denied` or `absent`. With `creates`, enter an empty world first if it does not exist.
    """

    session: int
    world: str
    creates: bool


@dataclass(frozen=True)
class Serve:
    """Carry a request out on the world in memory, or return 404 if there is none. Then call `finished`."""

    ticket: int
    world: str


@dataclass(frozen=True)
class Forward:
    """Send a request to the replica at this address, marked as forwarded. Then call `forwarded`."""

    ticket: int
    address: str


@dataclass(frozen=True)
class Later:
    """Call `again` after a moment."""

    ticket: int


@dataclass(frozen=True)
class Refuse:
    """Refuse a request with this reason. Drop the response that it may have by then."""

    ticket: int
    reason: Reason


@dataclass(frozen=True)
class Settle:
    """Stop firing timers of a world, and wait until all its writes are durable. Then call `settled`."""

    session: int
    world: str


@dataclass(frozen=True)
class Unload:
    """Remove a world from memory."""

    world: str


@dataclass(frozen=True)
class Release:
    """Release the lock of a world and remove this replica's address from its row. Then call `released`."""

    session: int
    world: str


@dataclass(frozen=True)
class Connect:
    """Replace the connection, trying as often as necessary. Then call `connected`."""


@dataclass(frozen=True)
class Drained:
    """This replica owns no world any more and may end."""


Step: TypeAlias = TryLock | Serve | Forward | Later | Refuse | Settle | Unload | Release | Connect | Drained


@dataclass
class _Held:
    """A world of this replica."""

    state: Literal["asked", "owned", "leaving", "left"]
    """`asked`: the lock is requested. `leaving`: requests and writes finish. `left`: the release is not confirmed."""
    epoch: int = 0
    active: set[int] = field(default_factory=set)
    waiting: list[Ask] = field(default_factory=list)

    @property
    def is_owned(self) -> bool:
        return self.state in ("owned", "leaving")


class Ownership:
    """The state machine of one replica. `address` is its address for other replicas."""

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
        """Return the epoch under which this replica commits in a world, or None if it does not own it."""
        held = self._held.get(world)
        return held.epoch if held is not None and held.is_owned else None

    def owned(self) -> list[str]:
        """Return the worlds that this replica owns, including those that are leaving."""
        return [world for world, held in self._held.items() if held.is_owned]

    # Requests

    def asked(self, ask: Ask) -> list[Step]:
        """Handle a new request."""
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
        """Forward a request to the owner if it is known. Otherwise try to become the owner."""
        owner = self._owners.get(ask.world)
        if owner is not None and not ask.is_forwarded:
            self._forwarding[ask.ticket] = ask
            return [Forward(ask.ticket, owner)]
        if self.is_draining:
            return [_refuse(ask, "stopping")]
        self._held[ask.world] = _Held("asked", waiting=[ask])
        return [TryLock(self.session, ask.world, ask.creates)]

    def finished(self, ticket: int, world: str) -> list[Step]:
        """Handle the end of a request that was served."""
        held = self._held.get(world)
        if held is None or ticket not in held.active:
            return []
        held.active.remove(ticket)
        return self._settle(world, held) if held.state == "leaving" else []

    def forwarded(self, ticket: int, outcome: Outcome) -> list[Step]:
        """Handle the outcome of a forwarded request."""
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
        """Handle a request again after `Later`."""
        ask = self._later.pop(ticket, None)
        return self.asked(ask) if ask is not None else []

    def expired(self, ticket: int, world: str) -> list[Step]:
        """Refuse a request that has waited too long. One that is being served or forwarded goes on."""
        ask = self._later.pop(ticket, None)
        held = self._held.get(world)
        if ask is None and held is not None:
            ask = next((ask for ask in held.waiting if ask.ticket == ticket), None)
            held.waiting = [ask for ask in held.waiting if ask.ticket != ticket]
        return [_refuse(ask, "busy")] if ask is not None else []

    # Worlds

    def woken(self, world: str) -> list[Step]:
        """Take a world whose timer is due and which has no owner."""
        if not self.is_connected or self.is_draining or world in self._held:
            return []
        self._held[world] = _Held("asked")
        return [TryLock(self.session, world, creates=False)]

    def idle(self, world: str) -> list[Step]:
        """Leave a world that is unused and has no timer due soon."""
        held = self._held.get(world)
        return self._leave(world, held) if held is not None and held.state == "owned" and not held.active else []

    def drain(self) -> list[Step]:
        """Finish all requests in progress and leave all worlds, because the replica ends."""
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
        """Release a world whose writes are durable."""
        if self._is_former(session):
            return []
        self._held[world].state = "left"
        return [Unload(world), Release(session, world)]

    def released(self, session: int, world: str) -> list[Step]:
        """Handle the confirmed release of a world."""
        if self._is_former(session):
            return []
        waiting = self._held.pop(world).waiting
        return [*self._all(waiting), *self._drained()]

    def _all(self, asks: Iterable[Ask]) -> list[Step]:
        return [step for ask in asks for step in self.asked(ask)]

    # Events of the database

    def granted(self, session: int, world: str, epoch: int) -> list[Step]:
        """Serve a world whose lock is held and whose state is in memory."""
        if self._is_former(session):
            return []
        self._owners.pop(world, None)
        held = self._held[world]
        held.state, held.epoch = "owned", epoch
        waiting, held.waiting = held.waiting, []
        steps = self._all(waiting)
        return [*steps, *self._leave(world, held)] if self.is_draining else steps

    def denied(self, session: int, world: str, owner: str | None) -> list[Step]:
        """Handle a lock that another connection holds. `owner` is the address in the row of the world."""
        if self._is_former(session):
            return []
        waiting = self._held.pop(world).waiting
        # A former connection of this replica may hold it, if the database has not noticed its end yet. To forward the
        # request to ourselves would be pointless.
        if owner is None or owner == self.address:
            return [*map(self._put_off, waiting), *self._drained()]
        self._owners[world] = owner
        steps = [step for ask in waiting for step in self._denied(ask)]
        return [*steps, *self._drained()]

    def _denied(self, ask: Ask) -> list[Step]:
        return [_refuse(ask, "elsewhere")] if ask.is_forwarded else self._take(ask)

    def absent(self, session: int, world: str) -> list[Step]:
        """Handle a world that does not exist."""
        if self._is_former(session):
            return []
        steps: list[Step] = []
        for ask in self._held.pop(world).waiting:
            steps += self.asked(ask) if ask.creates else [Serve(ask.ticket, world)]
        return [*steps, *self._drained()]

    def connected(self, session: int) -> list[Step]:
        """Use a new owning connection. It holds no lock yet."""
        self.session, self.is_connected = session, True
        return []

    def lost(self, session: int) -> list[Step]:
        """Handle the end of the owning connection, or a commit that was refused or whose result is unknown.

        All worlds are removed from memory. Unconfirmed writes may be in the database or not, and another replica may
        own the worlds already.
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
