"""Kinds of resources: the base class of records, and the row for the records of one kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from decimal import Decimal
from typing import Any, Generic

from typing_extensions import TypeVar

from simulator.engine.text.json import Shown
from simulator.kernel.dataclass import dataclass
from simulator.kernel.fields import Id, Milliseconds
from simulator.kernel.machine import Machine
from simulator.kernel.store import TableKey
from simulator.kernel.world import World


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """The common fields of resources. `owner` is empty for the account itself, else the id of another platform user.

    `environment` is empty for resources of both environments.
    """

    id: Id
    environment: str
    sequence: int
    created_at_ms: Milliseconds
    updated_at_ms: Milliseconds
    status: str = ""
    owner: str = ""

    @property
    def kind(self) -> str:
        """The name of this record's kind."""
        raise NotImplementedError

    @property
    def object_id(self) -> str:
        """The id in events: its own, unless the API knows no id of it."""
        return self.id


KindT = TypeVar("KindT", bound=Record, default=Any)


@dataclass(frozen=True, slots=True)
class Arrival:
    """An incoming transfer: `amount` of an asset by code, and the hash of the transaction (None over Lightning)."""

    asset: str
    amount: Decimal
    tx_hash: str | None
    sender_id: str


@dataclass(frozen=True, eq=False)
class Kind(Generic[KindT]):
    """A kind of resource."""

    name: str
    table: TableKey[Any]
    """The table of its rows."""
    render: Callable[[World, KindT], Shown]
    """Renders a resource for responses."""
    machine: Machine
    """Its state table."""
    shape: Callable[[], object] = lambda: None
    """Returns the shape of the resource in events."""
    example: Callable[[], Mapping[str, object]] = dict
    """Returns a realistic resource."""
    event_shapes: Mapping[str, Callable[[], object]] = field(default_factory=dict)
    """The shapes of events that show more than usual, by event type."""
    status_field: str = "status"
    """The field with its status."""
    family: str = ""
    """The common name of similar kinds."""
    listed_as: tuple[str, ...] = ()
    """Further types under which lists of resources include it."""
    listed: bool = True
    """Whether lists of resources include it."""
    prefix: str = ""
    """The prefix of its ids."""
    short: str = ""
    """A shorter name."""
    refers: tuple[str, ...] = ()
    """The fields with ids of other resources, set at creation and never changed."""
    parent: str = ""
    """The field of `refers` with the resource that it belongs to."""
    named_by: tuple[str, ...] = ()
    """The paths in objects and requests that contain its id, from where a `where` can inspect it as `root`."""
    collection: str = ""
    """The path of the operations on such resources, if there are any."""
    standing: Callable[[World, str], KindT | None] | None = None
    """Finds, by id, resources that every world has without storing them until they change."""
    receives: Callable[[World, KindT, Arrival], bool] | None = None
    """Handles an incoming transfer to a resource; returns False if it cannot receive."""
    in_events: Callable[[World, KindT], Shown] | None = None
    """Returns the fields that events have in addition to responses."""
    sole: Callable[[World], KindT] | None = None
    """Returns the only resource of its world, which is for both environments and has no id in the API."""
    put: Callable[[World, KindT], None] | None = None
    """Writes it if it is a part of a row."""

    @property
    def root(self) -> str:
        """The first part of a `where` path to it."""
        return self.family or self.name

    @property
    def types(self) -> tuple[str, ...]:
        """The types that select this kind in lists: the kind, its family and its further types."""
        return (self.name, *((self.family,) if self.family else ()), *self.listed_as)
