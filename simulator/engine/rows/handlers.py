"""What operations of every room do alike: finding a record by its id, showing it, listing, picking a body's model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from simulator.engine.records.listing import ListRequest, page_of
from simulator.engine.records.records import require
from simulator.engine.rows.kind import Record
from simulator.engine.rows.operation import Call
from simulator.engine.text.fields import Body
from simulator.engine.text.shapes import Page
from simulator.kernel.store import TableKey
from simulator.kernel.world import World

RecordT = TypeVar("RecordT", bound=Record)
ShownT = TypeVar("ShownT", bound=Mapping[str, object])
ModelT = TypeVar("ModelT", bound=Body)


def by_id(key: TableKey[RecordT], what: str) -> Callable[[Call], RecordT]:
    """Finds the record that the path names by `{id}`; 404 not_found, also when it is deleted. `what`: for people."""
    return lambda call: require(call.world.store[key.of(call.environment)], call.path["id"], what)


def shown(render: Callable[[World, RecordT], ShownT]) -> Callable[[Call[None, None, RecordT]], ShownT]:
    """Shows the resource that the path names."""
    return lambda call: render(call.world, call.resource)


def listed(
    key: TableKey[RecordT], render: Callable[[World, RecordT], ShownT]
) -> Callable[[Call[None, ListRequest, None]], Page[ShownT]]:
    """Lists the account's own records of a table; what is deleted is in it no more (decision L6)."""
    return lambda call: page_of(
        call.query, call.world.store[key.of(call.environment)], lambda row: render(call.world, row)
    )


def body_by(
    member: str, models: Callable[[], Mapping[str, type[ModelT]]], otherwise: Callable[[], type[ModelT]]
) -> Callable[[Call], type[ModelT]]:
    """Picks the model of a body by a member of it as sent (`destination.type`: a member of a member).

    `otherwise` where the member is missing or none of these, so that it is what is refused.
    """
    names = member.split(".")

    def pick(call: Call) -> type[ModelT]:
        value: object = call.raw
        for name in names:
            value = value.get(name) if isinstance(value, Mapping) else None
        found = models().get(value) if isinstance(value, str) else None
        return otherwise() if found is None else found

    return pick
