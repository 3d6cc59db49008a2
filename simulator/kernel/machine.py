"""State tables: what may follow what, as data, and the one interpreter that reads them.

A cell is a `Move`: in this state, on this cause (and condition), the next state is that one and these
events are emitted. Terminal states have an empty row. Diagrams, allowed actions and the coverage of
transitions are made from the same tables.
"""

from __future__ import annotations

from collections.abc import Mapping

from simulator.kernel.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Move:
    """One cell of a state table.

    `on` is the name of the request, timer or action that causes it; `when` tells apart the cells of one
    cause (for example a payment in full and one that is short). `basis` is `specified` or the decision it
    rests on, so that whatever is assumed says so.
    """

    on: str
    target: str
    events: tuple[str, ...] = ()
    when: str = ""
    basis: str = "specified"


class IllegalMove(Exception):
    """What happened has no cell in the present state; nothing was changed."""

    def __init__(self, machine: str, state: str, on: str, allowed: tuple[str, ...]) -> None:
        super().__init__(f"{machine}: {on} is not legal in state {state!r}")
        self.machine = machine
        self.state = state
        self.on = on
        self.allowed = allowed


@dataclass(frozen=True)
class Machine:
    """A state table: how a resource begins, and for every state its row of moves."""

    name: str
    initial: tuple[Move, ...]
    rows: Mapping[str, tuple[Move, ...]]

    def __post_init__(self) -> None:
        for move in (*self.initial, *(move for row in self.rows.values() for move in row)):
            if move.target not in self.rows:
                raise ValueError(f"{self.name}: {move.on} leads to the unknown state {move.target!r}")

    def begin(self, on: str, when: str = "") -> Move:
        """The move by which a resource comes into being."""
        return self._find("", self.initial, on, when)

    def next(self, state: str, on: str, when: str = "") -> Move:
        """The move out of a state; IllegalMove when the table has no such cell."""
        return self._find(state, self.rows.get(state, ()), on, when)

    def _find(self, state: str, row: tuple[Move, ...], on: str, when: str) -> Move:
        for move in row:
            if move.on == on and move.when == when:
                return move
        raise IllegalMove(self.name, state, on, self.allowed(state))

    def allowed(self, state: str) -> tuple[str, ...]:
        """The actions with a cell in this state, in the order of the table."""
        return tuple(dict.fromkeys(move.on for move in self.rows.get(state, ())))

    def permits(self, state: str, on: str) -> bool:
        return any(move.on == on for move in self.rows.get(state, ()))
