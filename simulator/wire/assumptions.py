"""What the simulator had to decide because its specification leaves it open, as data beside the code that does it.

A module states its own assumptions in a tuple `ASSUMPTIONS`; the decisions on the interface as a whole stand in
`simulator/decisions.yaml`. `contracts/assumptions.md` is made from both.
"""

from __future__ import annotations

from dataclasses import dataclass

SIMULATOR_ONLY = "Nothing to find out: only a simulator has this."


@dataclass(frozen=True, slots=True)
class Assumption:
    """One decision: its id (unique among all), its whole text, what rests on it, how to find out what is true."""

    id: str
    text: str
    rests_on: str
    find_out: str


def assume(rests_on: str, find_out: str, *rows: tuple[str, str]) -> tuple[Assumption, ...]:
    """The assumptions (id, text) of one module, which the same things rest on and which are found out alike.

    ValueError for two of one id.
    """
    ids = [identifier for identifier, _ in rows]
    if len(set(ids)) < len(ids):
        raise ValueError(f"two assumptions have the same id: {', '.join(sorted(ids))}")
    return tuple(Assumption(identifier, text, rests_on, find_out) for identifier, text in rows)
