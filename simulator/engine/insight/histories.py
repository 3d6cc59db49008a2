"""Which cells of the state tables the histories of a world have gone through."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from simulator.engine.records.records import find_moved, kind_of
from simulator.kernel.machine import Machine
from simulator.kernel.world import World

NOTHING = "(none)"
"""The state before a resource comes into being."""

OF_THE_START = ("start", "publish", "open")
"""Initial moves of what every world has from its start; nobody causes them, so nobody can cover them."""


class Cell(NamedTuple):
    """One cell of a state table; cells that differ only in their condition and lead to one state count as one."""

    kind: str
    source: str
    on: str
    target: str


def cells(world: World) -> Iterator[Cell]:
    """Every cell that can be gone through, in the order of the tables."""
    for name, kind in world.wiring.kinds.items():
        machine = kind.machine
        for move in machine.initial:
            if move.on not in OF_THE_START:
                yield Cell(name, NOTHING, move.on, move.target)
        for state, row in machine.rows.items():
            for move in row:
                yield Cell(name, state, move.on, move.target)


def moves_of(world: World) -> Iterator[tuple[str, Cell]]:
    """Every move of the account's resources, with the resource's id; moves made with the world itself are left out."""
    for resource_id, steps in world.journal.histories():
        record = find_moved(world, resource_id)
        if record is None or record.owner:
            continue
        machine, state = kind_of(world, record).machine, NOTHING
        if not _begins(machine, steps[0].on):
            state = machine.initial[0].target
        for step in steps:
            if step.cause.kind != "start":
                yield resource_id, Cell(record.kind, state, step.on, step.state)
            state = step.state


def _begins(machine: Machine, on: str) -> bool:
    return any(move.on == on for move in machine.initial)
