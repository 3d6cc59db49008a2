"""The state tables of all kinds of resources, for whoever draws one or says what a status means."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field
from typing_extensions import TypedDict

from simulator.engine.control.call import ControlCall
from simulator.engine.control.objects.explaining import meanings
from simulator.engine.control.operation import LIMIT, calls_under
from simulator.engine.rows.kind import Kind
from simulator.kernel.journal import newest

operation = calls_under("Actions")


class StateEntry(TypedDict):
    state: str
    """The state, as statuses name it."""
    means: str
    """What it says to an integrator; "" where the state itself says it."""


MoveEntry = TypedDict(
    "MoveEntry",
    {
        "from": Annotated[str | None, Field(description="The state that it leaves; null where it makes the resource.")],
        "on": Annotated[str, Field(description="The call, action or timer that makes the move.")],
        "when": Annotated[str, Field(description='The case in which it does; "" in every one.')],
        "to": Annotated[str, Field(description="The state that it leads to.")],
        "events": Annotated[list[str], Field(description="The types of the events that tell of it.")],
    },
)
"""One way from state to state."""


class StateTable(TypedDict):
    kind: str
    """The kind of resource."""
    name: str
    """What its state table is called."""
    states: list[StateEntry]
    """Its states, in the order of the table."""
    moves: list[MoveEntry]
    """The ways between them."""


class StateTables(TypedDict):
    data: list[StateTable]
    """The tables, one for each kind."""


@operation("GET /states", "The state table of every kind", query=LIMIT)
async def list_states(call: ControlCall) -> StateTables:
    """The state table of every kind of resource: its states with what they mean, and the moves between them."""
    kinds = list(call.world.wiring.kinds.values())
    return {"data": [_table(kind) for kind in newest(kinds, call.limit())]}


def _table(kind: Kind[Any]) -> StateTable:
    machine, means = kind.machine, meanings(kind, kind.status_field)
    begun = ((None, move) for move in machine.initial)
    made = ((state, move) for state, row in machine.rows.items() for move in row)
    return {
        "kind": kind.name,
        "name": machine.name,
        "states": [{"state": state, "means": means.get(state, "")} for state in machine.rows],
        "moves": [
            {"from": state, "on": move.on, "when": move.when, "to": move.target, "events": list(move.events)}
            for state, move in (*begun, *made)
        ],
    }
