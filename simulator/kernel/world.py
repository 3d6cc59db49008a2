"""A world: one isolated simulation, its parts, the two ways to change it, and the state that others attach to it.

A world changes in `change()` (a request or an action, atomically) and in `fire()` (a timer, at exactly its due time).
The composition root connects timer handlers and listeners once. This module does not depend on any kind of resource.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from contextlib import AbstractContextManager
from dataclasses import field
from types import TracebackType
from typing import Any, Generic, TypeAlias, TypeVar
from weakref import ReferenceType, WeakKeyDictionary, ref

from simulator.kernel.agenda import SEQUENCES, TIMERS, Agenda, Timer
from simulator.kernel.clock import HOUR_MS, Clock
from simulator.kernel.dataclass import dataclass
from simulator.kernel.ids import STREAMS, Streams
from simulator.kernel.journal import EVENTS, HISTORIES, HISTORY_LENGTHS, Cause, Event, Journal, shared_cause
from simulator.kernel.ledger import BALANCES, ENTRIES, HOLDS, TOUCHED, Ledger
from simulator.kernel.store import Store, TableKey

Kept = TypeVar("Kept")

TABLES: tuple[TableKey[Any], ...] = (
    BALANCES, ENTRIES, EVENTS, HISTORIES, HISTORY_LENGTHS, HOLDS, SEQUENCES, STREAMS, TIMERS, TOUCHED,
)  # fmt: skip
"""The tables that every world has in addition to the tables of the service's packages."""

DEFAULT_WORLD = "default"
"""The id of the world that is used if a request does not name a world. Its keys are public."""

TimerHandler: TypeAlias = "Callable[[World, Timer], None]"
FailureHandler: TypeAlias = "Callable[[World, Timer, Exception], None]"
EventListener: TypeAlias = "Callable[[World, Event, Any], None]"
CreationListener: TypeAlias = "Callable[[World, str, Any, str], None]"


@dataclass(frozen=True)
class TimerRow:
    """The declaration of one kind of timer."""

    kind: str
    handler: TimerHandler
    does: str
    """A description of the effect of the timer."""
    moves: tuple[str, ...] = ()
    """The `Move.on` of the transitions that the timer triggers. They are used to find paths to a state."""


@dataclass(frozen=True)
class Wiring:
    """The callbacks that the composition root connects to every world."""

    timers: Mapping[str, TimerRow] = field(default_factory=dict)
    """The declaration of each kind of timer."""
    on_event: tuple[EventListener, ...] = ()
    """Called inside the transaction for every emitted event, with the object that the event contains."""
    on_created: tuple[CreationListener, ...] = ()
    """Called with the environment, object and id of a resource whose creation emits no event."""
    kinds: Mapping[str, Any] = field(default_factory=dict)
    """The descriptor of every kind of resource, by name."""
    on_failure: FailureHandler | None = None
    """Called with a timer whose handler raised an exception and was undone. It must not raise. None: `fire` raises."""
    on_assumption: Callable[[str], None] | None = None
    """Called with the id of every assumption that is looked up. Without this callback, lookups are not recorded."""
    tables: Set[TableKey[Any]] | None = None
    """All tables of the service and the kernel. None allows any table."""
    environments: tuple[str, ...] = ()
    """The environments for which `per_environment` tables exist."""
    vocabulary: object = None
    """The declarations of the simulated service. The kernel does not read them."""


_START = Cause("start", "world")


class World:
    """The parts of one simulation. Each part is described in its kernel module."""

    def __init__(self, world_id: str, seed: int, clock: Clock, wiring: Wiring, keys_of: str = "") -> None:
        self.id = world_id
        self.keys_of = keys_of or world_id
        """The id from which keys are derived: the world's own id, unless it was imported under another id."""
        self.seed = seed
        self.clock = clock
        self.started_at_ms = clock.now_ms
        self.wiring = wiring
        self.environments = wiring.environments
        self.store = Store(wiring.tables, wiring.environments)
        self.streams = Streams(self.store, seed)
        self.agenda = Agenda(self.store)
        self.ledger = Ledger(self.store)
        self.journal = Journal(self.store)
        self.cause = _START
        self.origin: object = None
        """Data about where the changes come from, in addition to their cause. The kernel ignores it."""

    @property
    def now_ms(self) -> int:
        return self.clock.now_ms

    def next_sequence(self, name: str) -> int:
        """Return the next number in a named sequence, starting with 1. Call this inside a transaction."""
        sequences = self.store[SEQUENCES]
        number = (sequences.get(name) or 0) + 1
        sequences.put(name, number)
        return number

    def last_sequence(self, name: str) -> int:
        """Return the last number in a named sequence, or 0 before the first."""
        return self.store[SEQUENCES].get(name) or 0

    def set_sequence(self, name: str, number: int) -> None:
        """Set the last number in a named sequence. Call this inside a transaction."""
        self.store[SEQUENCES].put(name, number)

    def is_first_in_hour(self, name: str) -> bool:
        """Return True on the first call with this name in an hour of simulated time. Call this in a transaction."""
        hour, asked = self.now_ms // HOUR_MS, self.store[SEQUENCES]
        if asked.get(name) == hour:
            return False
        asked.put(name, hour)
        return True

    def change(self, cause: Cause, origin: object = None) -> AbstractContextManager[None]:
        """Return a context manager for one transaction, which is undone if the block raises an exception."""
        return _CausedChange(self, cause, origin)

    def fire_next(self, until_ms: int) -> Timer | None:
        """Fire the next timer that is due at or before `until_ms`, at exactly its due time. Return it, or None.

        If its handler raises an exception, the timer has no effect and is removed, so that it does not fail forever.
        """
        timer = self.agenda.next()
        if timer is None or timer.due_at_ms > until_ms:
            return None
        self.fire(timer)
        return timer

    def fire(self, timer: Timer) -> None:
        """Fire the given timer, which must be the next one, at its due time."""
        self.clock.move_to(max(timer.due_at_ms, self.clock.now_ms))
        on_failure = self.wiring.on_failure
        with self.change(shared_cause("law", timer.kind, "")):
            self.agenda.take(timer)
            try:
                with self.store.attempt():
                    self.wiring.timers[timer.kind].handler(self, timer)
            except Exception as error:
                if on_failure is None:
                    raise
                on_failure(self, timer, error)

    def fire_due(self, until_ms: int | None = None) -> int:
        """Fire every timer that is due at or before a given time (default: now). Return the number of fired timers."""
        until = self.now_ms if until_ms is None else until_ms
        fired = 0
        while self.fire_next(until) is not None:
            fired += 1
        return fired


class _CausedChange:
    """A transaction with a cause and an origin. It is a class, because every request makes several transactions and a
    generator would take four times as long.
    """

    __slots__ = ("_cause", "_origin", "_store", "_world")

    def __init__(self, world: World, cause: Cause, origin: object) -> None:
        self._world = world
        self._store = None if world.store.in_change else world.store  # a nested transaction joins the outer one
        self._cause, self._origin = cause, origin

    def __enter__(self) -> None:
        world = self._world
        self._cause, world.cause = world.cause, self._cause
        self._origin, world.origin = world.origin, self._origin
        if self._store is not None:
            self._store.begin()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if self._store is not None:
                self._store.end(keep=kind is None)
        finally:
            self._world.cause, self._world.origin = self._cause, self._origin


class PerWorld(Generic[Kept]):
    """One object per world. `make` creates it on first access, and it is freed with the world.

    Every request accesses the objects of one world several times, so the most recent object is cached. A dictionary of
    weak references alone would take seven times as long, about 2.5 % of the time of a read request.
    """

    __slots__ = ("_all", "_last", "_make")

    def __init__(self, make: Callable[[], Kept]) -> None:
        self._make = make
        self._all: WeakKeyDictionary[World, Kept] = WeakKeyDictionary()
        self._last: tuple[ReferenceType[World], Kept] | None = None

    def __getitem__(self, world: World) -> Kept:
        last = self._last
        if last is not None and last[0]() is world:
            return last[1]
        kept = self._all.get(world)
        if kept is None:
            kept = self._all[world] = self._make()
        self._last = ref(world, self._forget), kept
        return kept

    def __setitem__(self, world: World, kept: Kept) -> None:
        """Replace the object for a world."""
        self._all[world] = kept
        self._last = ref(world, self._forget), kept

    def _forget(self, gone: ReferenceType[World]) -> None:
        last = self._last
        if last is not None and last[0] is gone:
            self._last = None

    def worlds(self) -> list[World]:
        """Return the worlds that have an object."""
        return list(self._all)

    def values(self) -> list[Kept]:
        return list(self._all.values())
