"""State tables as data, and the code that interprets them. Diagrams and allowed actions are derived from the tables."""

from __future__ import annotations

from collections.abc import Mapping

from simulator.kernel.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Move:
    """One transition rule: for a state, a cause and an optional condition, the next state and the events to emit."""

    on: str
    """The name of the request, timer or action that causes the transition."""
    target: str
    events: tuple[str, ...] = ()
    when: str = ""
    """The condition that distinguishes rules with the same cause, such as a full and a short payment."""
    basis: str = "specified"
    """The source of the rule: `specified`, or a decision."""


class IllegalMove(Exception):
    """The current state has no transition rule for this cause. Nothing has changed."""

    def __init__(self, machine: str, state: str, on: str, allowed: tuple[str, ...]) -> None:
        super().__init__(f"{machine}: {on} is not legal in state {state!r}")
        self.machine = machine
        self.state = state
        self.on = on
        self.allowed = allowed


@dataclass(frozen=True)
class Machine:
    """A state table: the initial transitions of a resource, and the transitions from every state."""

    name: str
    initial: tuple[Move, ...]
    rows: Mapping[str, tuple[Move, ...]]

    def __post_init__(self) -> None:
        for move in (*self.initial, *(move for row in self.rows.values() for move in row)):
            if move.target not in self.rows:
                raise ValueError(f"{self.name}: {move.on} leads to the unknown state {move.target!r}")

    def begin(self, on: str, when: str = "") -> Move:
        """Return the transition that creates a resource. Raise `IllegalMove` if the table has no such transition."""
        return self._find("", self.initial, on, when)

    def next(self, state: str, on: str, when: str = "") -> Move:
        """Return the transition from a state. Raise `IllegalMove` if the table has no such transition."""
        return self._find(state, self.rows.get(state, ()), on, when)

    def _find(self, state: str, row: tuple[Move, ...], on: str, when: str) -> Move:
        for move in row:
            if move.on == on and move.when == when:
                return move
        raise IllegalMove(self.name, state, on, self.allowed(state))

    def allowed(self, state: str) -> tuple[str, ...]:
        """Return the causes for which this state has a transition rule, in table order."""
        return tuple(dict.fromkeys(move.on for move in self.rows.get(state, ())))

    def permits(self, state: str, on: str) -> bool:
        return any(move.on == on for move in self.rows.get(state, ()))
