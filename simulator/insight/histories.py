"""Which cells of the state tables the histories of a world have gone through."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from simulator.kernel.machine import Machine
from simulator.kernel.world import World
from simulator.wire.records import Record, find_moved

NOTHING = "(none)"
"""The state before a resource comes into being."""

OF_THE_START = ("start", "publish", "open")
"""Initial moves of what every world has from its start; nobody causes them, so nobody can cover them."""


class Cell(NamedTuple):
    """One cell of a state table; cells that differ only in their condition and lead to one state count as one."""

    kind: str
    source: str
    trigger: str
    target: str


def machines(world: World) -> dict[str, Machine]:
    """The state table of every kind of resource."""
    return {name: kind.machine for name, kind in world.wiring.kinds.items()}


def cells(world: World) -> Iterator[Cell]:
    """Every cell that can be gone through, in the order of the tables."""
    for name, machine in machines(world).items():
        for move in machine.initial:
            if move.on not in OF_THE_START:
                yield Cell(name, NOTHING, move.on, move.target)
        for state, row in machine.rows.items():
            for move in row:
                yield Cell(name, state, move.on, move.target)


def moves_of(world: World) -> Iterator[tuple[str, Cell]]:
    """Every move of the account's resources, with the resource's id; what made the world is no move."""
    tables = machines(world)
    for resource_id, steps in world.journal.histories():
        kind = _kind_of(world, resource_id)
        if kind is None:
            continue
        machine, state = tables[kind], NOTHING
        for step in steps:
            if state == NOTHING and not _begins(machine, step.on):
                state = machine.initial[0].target
            if step.cause.kind != "start":
                yield resource_id, Cell(kind, state, step.on, step.state)
            state = step.state


def _kind_of(world: World, resource_id: str) -> str | None:
    record = find_moved(world, resource_id)
    return record.kind if isinstance(record, Record) and not record.owner else None


def _begins(machine: Machine, trigger: str) -> bool:
    return any(move.on == trigger for move in machine.initial)
