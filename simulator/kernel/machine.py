"""State tables: what may follow what, as data, and the one interpreter that reads them.

A cell is a `Move`: in this state, on this trigger (and condition), the next state is that one and these
events are emitted. Terminal states have an empty row. Diagrams, allowed actions and the coverage of
transitions are made from the same tables.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Move:
    """One cell of a state table.

    `trigger` is the name of the request, law or action that causes it; `when` tells apart the cells of one
    trigger (for example a payment in full and one that is short). `basis` is `specified` or the decision it
    rests on, so that whatever is assumed says so.
    """

    trigger: str
    target: str
    events: tuple[str, ...] = ()
    when: str = ""
    basis: str = "specified"


class IllegalMove(Exception):
    """The trigger has no cell in the present state; nothing was changed."""

    def __init__(self, machine: str, state: str, trigger: str, allowed: tuple[str, ...]) -> None:
        super().__init__(f"{machine}: {trigger} is not legal in state {state!r}")
        self.machine = machine
        self.state = state
        self.trigger = trigger
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
                raise ValueError(f"{self.name}: {move.trigger} leads to the unknown state {move.target!r}")

    def begin(self, trigger: str, when: str = "") -> Move:
        """The move by which a resource comes into being."""
        return self._find("", self.initial, trigger, when)

    def next(self, state: str, trigger: str, when: str = "") -> Move:
        """The move out of a state; IllegalMove when the table has no such cell."""
        return self._find(state, self.rows.get(state, ()), trigger, when)

    def _find(self, state: str, row: tuple[Move, ...], trigger: str, when: str) -> Move:
        for move in row:
            if move.trigger == trigger and move.when == when:
                return move
        raise IllegalMove(self.name, state, trigger, self.allowed(state))

    def allowed(self, state: str) -> tuple[str, ...]:
        """The triggers with a cell in this state, in the order of the table."""
        return tuple(dict.fromkeys(move.trigger for move in self.rows.get(state, ())))

    def permits(self, state: str, trigger: str) -> bool:
        return any(move.trigger == trigger for move in self.rows.get(state, ()))
