"""The lifecycle of resources. This is the only module that writes a status. Creating a resource, or changing its
status, writes the immutable row, its history and its events together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Any, TypedDict

from typing_extensions import TypeVar

from simulator.engine.clients.address import CONTROL_BASE
from simulator.engine.records import indexes
from simulator.engine.records.conditions import FEW
from simulator.engine.records.listing import ListRequest, page_of
from simulator.engine.records.origins import ORIGINS, present_origin
from simulator.engine.rows.error import ControlError, not_found
from simulator.engine.rows.event import emit
from simulator.engine.rows.kind import Kind, Record
from simulator.engine.rows.operation import Call
from simulator.engine.text.json import JsonObject, Shown
from simulator.engine.text.shapes import Page
from simulator.kernel.dataclass import replace
from simulator.kernel.journal import HistoryEntry
from simulator.kernel.machine import Move
from simulator.kernel.store import Address, TableKey, table_name
from simulator.kernel.table import Table
from simulator.kernel.world import World

R = TypeVar("R", bound=Record)
V = TypeVar("V")
ShownT = TypeVar("ShownT", bound=Mapping[str, object])


def present(value: V | None) -> V:
    """Return the value of an optional field that must be set. Raise `ValueError` if it is None."""
    if value is None:
        raise ValueError("this record lacks a field that its type always has")
    return value


INDEX = TableKey("index", str)
"""Maps the id of every record ever created to the address of its table."""


class NewFields(TypedDict):
    """The fields of `Record` that every new record gets. Constructors accept them as `**fields`."""

    id: str
    environment: str
    sequence: int
    created_at_ms: int
    updated_at_ms: int


def new_fields(world: World, environment: str, prefix: str, stream: str) -> NewFields:
    """Return the fields of a new record: id, environment, sequence and times."""
    now_ms = world.now_ms
    return {
        "id": world.streams.identifier(prefix, stream),
        "environment": environment,
        "sequence": world.next_sequence("record"),
        "created_at_ms": now_ms,
        "updated_at_ms": now_ms,
    }


def _kinds(world: World) -> Mapping[str, Kind]:
    return world.wiring.kinds


def kind_of(world: World, record: Record) -> Kind:
    return _kinds(world)[record.kind]


def render(world: World, record: Record) -> Shown:
    """Return the full resource as the API returns it now."""
    return kind_of(world, record).render(world, record)


def render_for_event(world: World, record: Record) -> JsonObject:
    """Return the full resource with its current values, in the form that events use (decision W8)."""
    return _rendered_for_event(world, kind_of(world, record), record)


def _rendered_for_event(world: World, kind: Kind, record: Record) -> JsonObject:
    shown: JsonObject = {**kind.render(world, record)}
    if kind.in_events is not None:
        shown |= kind.in_events(world, record)
    return shown


def create(world: World, record: R, on: str, when: str = "", *, announced: bool = True) -> R:
    """Create a resource with the initial transition in its state table. If `announced` is False, call `announce` after
    creating everything that belongs to the resource.
    """
    kind = kind_of(world, record)
    move = kind.machine.begin(on, when)
    if record.status != move.target:
        record = replace(record, status=move.target)
    table = _write(world, kind, record)
    if table is not None:
        # Use the table's own name string: a new string for each record would stay in memory.
        world.store[INDEX].put(record.id, table.name)
    origin = present_origin(world)
    if origin.says_something:
        world.store[ORIGINS].put(record.id, origin)
        world.journal.lasting.add(origin.body)
    world.journal.record_move(record.id, HistoryEntry(move.target, world.now_ms, move.on, world.cause))
    if announced:
        _announce(world, kind, record, move)
    return record


def announce(world: World, record: Record, on: str, when: str = "") -> None:
    """Emit the events for the initial transition of a resource, or call the listeners if it emits no event."""
    kind = kind_of(world, record)
    _announce(world, kind, record, kind.machine.begin(on, when))


def tell(world: World, record: Record, event_type: str) -> None:
    """Emit an event about a resource without a transition."""
    shown = render_for_event(world, record)
    emit(world, record.environment, event_type, shown, record.object_id)


def _announce(world: World, kind: Kind, record: Record, move: Move) -> None:
    if move.events:
        _emit(world, kind, record, move, {})
    elif not record.owner:
        for listener in world.wiring.on_created:
            listener(world, record.environment, kind.render(world, record), record.id)


def move(world: World, record: R, on: str, when: str = "", *, extra: Shown | None = None, announced: bool = True) -> R:
    """Change the status of a resource according to its state table.

    Raise `IllegalMove` and change nothing if the table has no such transition. Any field of `record` except the status
    may differ from the stored record. `extra` is data that the events include in addition to the rendered resource (the
    `run` in decision W8). If `announced` is False, no events are emitted.
    """
    kind, now_ms = kind_of(world, record), world.now_ms
    step = kind.machine.next(record.status, on, when)
    record = replace(record, status=step.target, updated_at_ms=now_ms)
    _write(world, kind, record)
    world.journal.record_move(record.id, HistoryEntry(step.target, now_ms, step.on, world.cause))
    if announced:
        _emit(world, kind, record, step, extra or {})
    return record


def save(world: World, record: R) -> R:
    """Save a record in which fields other than the status were changed."""
    table = world.store[_address(world, record)]
    if record.status != table[record.id].status:
        raise ValueError("only a transition in the state table can change a status")
    record = replace(record, updated_at_ms=world.now_ms)
    table.put(record.id, record)
    return record


def remove(world: World, record: R, on: str) -> R:
    """Delete a resource from its table. Lists then omit it, but `find` still returns it."""
    record = move(world, record, on)
    address = _address(world, record)
    world.store[address].delete(record.id)
    archive = world.store[address.of_deleted]
    archive.put(record.id, record)
    world.store[INDEX].put(record.id, archive.name)
    return record


def _address(world: World, record: Record) -> Address[Any]:
    return kind_of(world, record).table.of(record.environment, record.owner)


def forget_record(world: World, record_id: str) -> None:
    """Delete the history and the index entries, but not the row, of a record that a fork copied from another world."""
    world.journal.delete_history(record_id)
    if record_id in world.store[INDEX]:
        world.store[INDEX].delete(record_id)
    if record_id in world.store[ORIGINS]:
        world.store[ORIGINS].delete(record_id)


def find(world: World, record_id: str) -> Record | None:
    """Return any resource in the world by id, or None. Deleted resources and resources of other users are included."""
    at = world.store[INDEX].get(record_id)
    if at is not None:
        record: Record | None = world.store.written(at).get(record_id)
        return record
    for kind in _kinds(world).values():
        found: Record | None = kind.standing(world, record_id) if kind.standing is not None else None
        if found is not None:
            return found
    return None


_MOST_LOOKED_AT = 20_000
_MOST_NAMED = 3


def no_resource(world: World, given: str, param: str | None = None) -> ControlError:
    """Return a 404 error for an unknown id. It names resources that have it as their reference, a common mistake."""
    named = []
    if given:
        tables = frozenset(kind.table.name for kind in _kinds(world).values() if kind.listed)
        for record_id in islice(ids_newest_first(world, tables), _MOST_LOOKED_AT):
            record = find(world, record_id)
            if record is not None and getattr(record, "reference", None) == given:
                named.append(record)
    message = f"There is no resource with the id {given!r}"
    if named:
        shown = ", ".join(f"{one.id} ({one.kind}, {one.status})" for one in named[:_MOST_NAMED])
        more = f" and {len(named) - _MOST_NAMED} more" if len(named) > _MOST_NAMED else ""
        message += f", but {shown}{more} {'has' if len(named) == 1 else 'have'} this reference. Use an id"
    else:
        message += f". List the resources with GET {CONTROL_BASE}/resources"
    return ControlError(404, "not_found", f"{message}.", param)


def ids_newest_first(world: World, tables: frozenset[str]) -> Iterator[str]:
    """Return the ids of all resources in the tables with these names, newest first. Deleted resources are included."""
    index = world.store[INDEX]
    if len(index) <= FEW:
        return (key for key, address in reversed(index.rows.items()) if table_name(address) in tables)
    rows = index.index(indexes.TableIndex)
    return rows.keys_newest_first(rows.values(_table_names).any_of(sorted(tables)))


def _table_names(address: str) -> tuple[str]:
    return (table_name(address),)


def find_moved(world: World, record_id: str) -> Record | None:
    """Return the resource with an id from the journal of transitions, even if the API shows no id of it."""
    ones = (kind.sole(world) for kind in _kinds(world).values() if kind.sole is not None)
    return find(world, record_id) or next((one for one in ones if one.id == record_id), None)


def existing(world: World, cls: type[R], record_id: str) -> R:
    """Return a record, even if it is deleted. Raise `LookupError` if it does not exist or has another class."""
    record = find(world, record_id)
    if not isinstance(record, cls):
        raise LookupError(f"there is no {cls.__name__} with the id {record_id!r}")
    return record


def require(table: Table[R], record_id: str, what: str, param: str | None = None) -> R:
    """Return the record with the id in a request. Raise `ApiError` 404, with its kind `what`, if it is missing or
    deleted.
    """
    record = table.get(record_id)
    if record is None:
        raise not_found(what, record_id, param)
    return record


def by_id(key: TableKey[R], what: str) -> Callable[[Call], R]:
    """Return a function that finds the record whose id is the path parameter `{id}`. It raises like `require`."""
    return lambda call: require(call.world.store[key.of(call.environment)], call.path["id"], what)


def page(call: Call[None, ListRequest, None], key: TableKey[R], render: Callable[[World, R], ShownT]) -> Page[ShownT]:
    """Return a page of the account's records in a table. Deleted records are omitted (decision L6)."""
    return page_of(call.query, call.world.store[key.of(call.environment)], lambda row: render(call.world, row))


def is_deleted(world: World, record_id: str) -> bool:
    at = world.store[INDEX].get(record_id)
    return at is not None and at == _address(world, world.store.written(at)[record_id]).of_deleted.text


def _write(world: World, kind: Kind, record: Record) -> Table[Any] | None:
    """Write a record to the table of its kind. Return the table, or None if the kind stores the record itself."""
    if kind.put is not None:
        kind.put(world, record)
        return None
    table = world.store[kind.table.of(record.environment, record.owner)]
    table.put(record.id, record)
    return table


def _emit(world: World, kind: Kind, record: Record, move: Move, extra: Shown) -> None:
    if record.owner:
        return
    for environment in (record.environment,) if record.environment else world.environments:
        for event_type in move.events:
            shown = _rendered_for_event(world, kind, record)
            shown.update(extra)
            emit(world, environment, event_type, shown, record.object_id)
