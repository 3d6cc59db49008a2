"""Functions shared by operations. They find a record by its id, or return a page of records from a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from simulator.engine.records.listing import ListRequest, page_of
from simulator.engine.records.records import require
from simulator.engine.rows.kind import Record
from simulator.engine.rows.operation import Call
from simulator.engine.text.shapes import Page
from simulator.kernel.store import TableKey
from simulator.kernel.world import World

RecordT = TypeVar("RecordT", bound=Record)
ShownT = TypeVar("ShownT", bound=Mapping[str, object])


def by_id(key: TableKey[RecordT], what: str) -> Callable[[Call], RecordT]:
    """Return a function that finds the record whose id is the path parameter `{id}`.

    The function raises `ApiError` 404 not_found if the record does not exist or was deleted. `what` names the
    resource in the message.
    """
    return lambda call: require(call.world.store[key.of(call.environment)], call.path["id"], what)


def page(
    call: Call[None, ListRequest, None], key: TableKey[RecordT], render: Callable[[World, RecordT], ShownT]
) -> Page[ShownT]:
    """Return a page of the account's records in a table. Deleted records are omitted (decision L6)."""
    return page_of(call.query, call.world.store[key.of(call.environment)], lambda row: render(call.world, row))
