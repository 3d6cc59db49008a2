"""Finds the sequences of transitions (paths) from a status to an event, and the steps that cause them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any

from simulator.engine.records.records import find, kind_of
from simulator.engine.rows.action import ActionTable
from simulator.engine.rows.error import ControlError
from simulator.engine.rows.kind import Record
from simulator.engine.scenario.language.calls import operations_at
from simulator.engine.scenario.run.drive import Drive, DriveAction, DriveCall, Until, action
from simulator.engine.scenario.run.triggers import Factory, triggers_of
from simulator.engine.vocabulary.vocabulary import vocabulary_of
from simulator.kernel.dataclass import dataclass
from simulator.kernel.journal import Cause
from simulator.kernel.machine import Machine, Move
from simulator.kernel.world import World


@dataclass(frozen=True, slots=True)
class Path:
    """A sequence of transitions, and the steps that cause these transitions."""

    moves: tuple[Move, ...]
    steps: Drive

    @property
    def waits(self) -> int:
        """The number of clock advances in the path."""
        return sum(isinstance(step, Until) for step in self.steps)

    @property
    def cost(self) -> tuple[int, int, int]:
        """The sort key: paths with fewer waits come first, then fewer transitions, then fewer underpayments."""
        return self.waits, len(self.moves), sum(move.when == "short" for move in self.moves)


def _events_without_move(world: World, kind: str) -> Mapping[str, tuple[Move, ...]]:
    """Return the events that objects emit without a status change, by status, as transitions that keep this status."""
    return {
        row.in_status: (Move(row.name.rpartition(".")[2], row.in_status, (row.name,)),)
        for row in vocabulary_of(world).events.values()
        if row.in_status and row.object == kind
    }


def emits(world: World, kind: str, event: str) -> bool:
    """Return True if objects of a kind can emit an event when they are created or at any later time."""
    machine = world.wiring.kinds[kind].machine
    rows = (machine.initial, *machine.rows.values(), *_events_without_move(world, kind).values())
    return any(event in move.events for row in rows for move in row)


def factory_for(world: World, event: str) -> Factory:
    """Return the first factory with `usual` steps for an event, or else the first for a kind that emits it."""
    rows = triggers_of(world).factories
    usual = [row for row in rows if event in row.usual]
    return (usual or [row for row in rows if row.kind in world.wiring.kinds and emits(world, row.kind, event)])[0]


def paths_to(world: World, actions: ActionTable, record: Record, event: str) -> list[Path]:
    """Return paths from an object's status to an event, cheapest first. Raise `ControlError` 409 if there is none."""
    machine, allowed = kind_of(world, record).machine, actions.allowed(world, record)
    if record.owner:
        raise _refused(f"{record.id} belongs to another user. Choose an object of this account.", allowed)
    if not emits(world, record.kind, event):
        about = vocabulary_of(world).events[event].object
        raise _refused(f"{event} is about a {about.replace('_', ' ')}, but {record.id} is a {_named(record)}.", allowed)
    found = paths_where(world, actions, record, lambda move: event in move.events)
    if found:
        return found
    extra = _events_without_move(world, record.kind)
    if not any(event in move.events for row in (*machine.rows.values(), *extra.values()) for move in row):
        message = f"{event} happens only when a resource is created, but {record.id} already exists."
        raise _refused(f"{message} Trigger the event without a target.", allowed)
    message = f"There is no legal path from a {_named(record)} in the state {record.status!r} to {event}."
    raise _refused(message, allowed)


def paths_where(world: World, actions: ActionTable, record: Record, reached: Callable[[Move], bool]) -> list[Path]:
    """Return every path from an object's status to a transition for which `reached` is True, cheapest first."""
    machine, extra = kind_of(world, record).machine, _events_without_move(world, record.kind)
    found = []
    for moves in _sequences(machine, extra, record.status, reached):
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
    extra: Mapping[str, tuple[Move, ...]],
    state: str,
    reached: Callable[[Move], bool],
    visited: tuple[str, ...] = (),
) -> Iterator[tuple[Move, ...]]:
    """Yield every sequence of transitions from `state` to one for which `reached` is True, without loops."""
    for move in (*machine.rows.get(state, ()), *extra.get(state, ())):
        if reached(move):
            yield (move,)
        elif move.target != state and move.target not in visited:
            for rest in _sequences(machine, extra, move.target, reached, (*visited, state)):
                yield (move, *rest)


def _steps(world: World, actions: ActionTable, record: Any, move: Move) -> Drive:
    """Return the steps that cause a transition, or () if no steps can cause it."""
    on = move.on
    if on in actions.rows and record.kind in actions.kinds(on):
        return (action(on, record.id, **triggers_of(world).parameters(record, move)),)
    if on in actions.rows:  # an action on the world, such as set_network
        fields = (name for row in actions.rows[on] for name in row.parameters().model_fields)
        which = {record.kind: record.name} if record.kind in fields else {}
        return (action(on, **which, status=move.target),)
    own = triggers_of(world).steps.get(record.kind)
    if own is not None:
        return own(world, record, on) or _call(world, record, on)
    timers = tuple(row.kind for row in world.wiring.timers.values() if on in row.moves)
    return (Until(record.id, timers),) if timers else _call(world, record, on)


def _call(world: World, record: Any, on: str) -> Drive:
    """Return a tuple of one scenario step: the API call that causes a transition. Return () if none does."""
    collection = kind_of(world, record).collection
    if not collection:
        return ()
    path = f"{collection}/{record.id}"
    if on == "delete":
        return (DriveCall(delete=path),)
    if on == "enable":
        return (DriveCall(patch=path, body={"status": "enabled"}),)
    path = f"{path}/{on}"
    return (DriveCall(post=path, body={}),) if "POST" in operations_at(vocabulary_of(world), path) else ()


def move_to_status(
    world: World,
    actions: ActionTable,
    identifier: str,
    status: object,
    environment: str,
    cause: Cause,
    fields: Mapping[str, object] = {},
) -> bool:
    """Perform the actions that move a resource to a status. Return True if the resource's status changed.

    A parameter of an action that `fields` contains, such as `failure_code`, gets this value, unless the action refuses
    it. Paths that also need an API call or a timer, and resources of other users, are not used.
    """
    record = find(world, identifier)
    if record is None or record.owner or record.status == status:
        return False
    paths = paths_where(world, actions, record, lambda move: move.target == status)
    # Paths with fewer short payments come first, even if they are longer.
    for path in sorted(paths, key=lambda path: path.cost[::-1]):
        steps = [step for step in path.steps if isinstance(step, DriveAction)]
        if len(steps) < len(path.steps):
            continue
        for given in [fields, {}] if fields else [{}]:
            with suppress(ControlError), world.change(cause):  # If an action is refused, nothing changes.
                for step in steps:
                    own = {name: given[name] for name in actions.parameters(step.action) if name in given}
                    actions.perform(world, step.action, step.target, {**own, **step.parameters}, environment, cause)
                return True
    return False
