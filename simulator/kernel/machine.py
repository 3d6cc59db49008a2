"""State tables: legal transitions as data, and the one interpreter that reads them.

A cell is a `Move`: in this state, for this cause (and condition), the next state and the events to emit. Terminal
states have an empty row. Diagrams, allowed actions and transition coverage are derived from the same tables.
"""

from __future__ import annotations

from collections.abc import Mapping

from simulator.kernel.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Move:
    """One cell of a state table."""

    on: str
    """The name of the request, timer or action that causes the move."""
    target: str
    events: tuple[str, ...] = ()
    when: str = ""
    """Distinguishes the cells of one cause, for example a full and a short payment."""
    basis: str = "specified"
    """`specified`, or the decision that the move rests on."""


class IllegalMove(Exception):
    """The present state has no cell for this cause. Nothing was changed."""

    def __init__(self, machine: str, state: str, on: str, allowed: tuple[str, ...]) -> None:
        super().__init__(f"{machine}: {on} is not legal in state {state!r}")
        self.machine = machine
        self.state = state
        self.on = on
        self.allowed = allowed


@dataclass(frozen=True)
class Machine:
    """A state table: the initial moves of a resource, and the moves of every state."""

    name: str
    initial: tuple[Move, ...]
    rows: Mapping[str, tuple[Move, ...]]

    def __post_init__(self) -> None:
        for move in (*self.initial, *(move for row in self.rows.values() for move in row)):
            if move.target not in self.rows:
                raise ValueError(f"{self.name}: {move.on} leads to the unknown state {move.target!r}")

    def begin(self, on: str, when: str = "") -> Move:
        """Return the move that creates a resource."""
        return self._find("", self.initial, on, when)

    def next(self, state: str, on: str, when: str = "") -> Move:
        """Return the move out of a state. Raise `IllegalMove` if the table has no such cell."""
        return self._find(state, self.rows.get(state, ()), on, when)

    def _find(self, state: str, row: tuple[Move, ...], on: str, when: str) -> Move:
        for move in row:
            if move.on == on and move.when == when:
                return move
        raise IllegalMove(self.name, state, on, self.allowed(state))

    def allowed(self, state: str) -> tuple[str, ...]:
        """Return the actions with a cell in this state, in the order of the table."""
        return tuple(dict.fromkeys(move.on for move in self.rows.get(state, ())))

    def permits(self, state: str, on: str) -> bool:
        return any(move.on == on for move in self.rows.get(state, ()))
