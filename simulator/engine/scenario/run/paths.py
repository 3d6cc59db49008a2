"""The ways of an object to an event: every path through its state table, the shortest legal one first.

The state table says which move emits what; this module says who makes each move: the outside world by an action, the
account by a call, or the clock by a timer. The steps are those of a drive.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from simulator.engine.records.records import kind_of
from simulator.engine.rows.action import ActionTable
from simulator.engine.rows.error import ControlError
from simulator.engine.rows.kind import Record
from simulator.engine.rows.vocabulary import vocabulary_of
from simulator.engine.scenario.language.calls import methods_at
from simulator.engine.scenario.run.drive import Drive, DriveCall, Until, action
from simulator.engine.scenario.run.ways import Fresh, ways_of
from simulator.kernel.dataclass import dataclass
from simulator.kernel.machine import Machine, Move
from simulator.kernel.world import World


@dataclass(frozen=True, slots=True)
class Path:
    """One way to the event: its moves, and the steps that make them."""

    moves: tuple[Move, ...]
    steps: Drive

    @property
    def waits(self) -> int:
        """How often the clock has to move."""
        return sum(isinstance(step, Until) for step in self.steps)

    @property
    def cost(self) -> tuple[int, int, int]:
        """Ways without waiting first, then short ones, then ones that need nothing out of the ordinary."""
        return self.waits, len(self.moves), sum(move.when == "short" for move in self.moves)


def _beside_the_table(world: World, kind: str) -> Mapping[str, tuple[Move, ...]]:
    """Events that objects of a kind emit without a move of their state table, as if a cell stood there."""
    return {
        row.in_status: (Move(row.name.rpartition(".")[2], row.in_status, (row.name,)),)
        for row in vocabulary_of(world).events.values()
        if row.in_status and row.object == kind
    }


def emits(world: World, kind: str, event: str) -> bool:
    """Whether objects of a kind emit an event, when they are made or later."""
    machine = world.wiring.kinds[kind].machine
    rows = (machine.initial, *machine.rows.values(), *_beside_the_table(world, kind).values())
    return any(event in move.events for row in rows for move in row)


def fresh_for(world: World, event: str) -> Fresh:
    """The row for an event of the catalogue: one that names a usual way to it, else the first kind that emits it."""
    fresh = ways_of(world).fresh
    usual = [row for row in fresh if event in row.usual]
    return (usual or [row for row in fresh if row.kind in world.wiring.kinds and emits(world, row.kind, event)])[0]


def paths_to(world: World, actions: ActionTable, record: Record, event: str) -> list[Path]:
    """Every way from where the object stands to the event, cheapest first; ControlError 409 in words when none."""
    machine, allowed = kind_of(world, record).machine, actions.allowed(world, record)
    if record.owner:
        raise _refused(f"{record.id} belongs to another user; events tell of the account's own objects.", allowed)
    if not emits(world, record.kind, event):
        about = vocabulary_of(world).events[event].object
        raise _refused(f"{event} tells of a {about.replace('_', ' ')}; {record.id} is a {_named(record)}.", allowed)
    found = paths_where(world, actions, record, lambda move: event in move.events)
    if found:
        return found
    beside = _beside_the_table(world, record.kind)
    if not any(event in move.events for row in (*machine.rows.values(), *beside.values()) for move in row):
        raise _refused(
            f"{event} happens when a {_named(record)} comes into being, and {record.id} is there already; "
            "trigger it without a target.",
            allowed,
        )
    state = f"in the state {record.status!r}"
    raise _refused(f"There is no legal way from a {_named(record)} {state} to {event}.", allowed)


def paths_where(world: World, actions: ActionTable, record: Record, reached: Callable[[Move], bool]) -> list[Path]:
    """Every way from where the object stands to a move of which that holds, cheapest first."""
    machine, beside = kind_of(world, record).machine, _beside_the_table(world, record.kind)
    found = []
    for moves in _sequences(machine, beside, record.status, reached):
        parts = [_steps(world, actions, record, move) for move in moves]
        if all(parts):
            found.append(Path(moves, tuple(step for part in parts for step in part)))
    return sorted(found, key=lambda path: path.cost)


def _refused(message: str, allowed: list[str]) -> ControlError:
    return ControlError(409, "invalid_transition", message, allowed=allowed)


def _named(record: Record) -> str:
    return record.kind.replace("_", " ")


def _sequences(
    machine: Machine,
    beside: Mapping[str, tuple[Move, ...]],
    state: str,
    reached: Callable[[Move], bool],
    visited: tuple[str, ...] = (),
) -> Iterator[tuple[Move, ...]]:
    """Every sequence of moves that visits no state twice and ends with one of which `reached` holds."""
    for move in (*machine.rows.get(state, ()), *beside.get(state, ())):
        if reached(move):
            yield (move,)
        elif move.target != state and move.target not in visited:
            for rest in _sequences(machine, beside, move.target, reached, (*visited, state)):
                yield (move, *rest)


def _steps(world: World, actions: ActionTable, record: Any, move: Move) -> Drive:
    """Who makes this move, and how; nothing when nobody can be asked to."""
    on = move.on
    if on in actions.rows and record.kind in actions.kinds(on):
        return (action(on, record.id, **ways_of(world).parameters(record, move)),)
    if on in actions.rows:  # it acts on the world, of which it sets a part
        fields = (name for row in actions.rows[on] for name in row.parameters().model_fields)
        which = {record.kind: record.name} if record.kind in fields else {}
        return (action(on, **which, status=move.target),)
    own = ways_of(world).steps.get(record.kind)
    if own is not None:
        return own(world, record, on) or _call(world, record, on)
    timers = tuple(row.kind for row in world.wiring.timers.values() if on in row.moves)
    return (Until(record.id, timers),) if timers else _call(world, record, on)


def _call(world: World, record: Any, on: str) -> Drive:
    """The call by which the account makes a move, where the interface has one."""
    collection = kind_of(world, record).collection
    if not collection:
        return ()
    path = f"{collection}/{record.id}"
    if on == "delete":
        return (DriveCall(delete=path),)
    if on == "enable":
        return (DriveCall(patch=path, body={"status": "enabled"}),)
    return (
        (DriveCall(post=f"{path}/{on}", body={}),) if "POST" in methods_at(vocabulary_of(world), f"{path}/{on}") else ()
    )
