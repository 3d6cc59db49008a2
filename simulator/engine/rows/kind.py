"""Kinds of resources: what a record is, and the row that says all about the records of one kind."""

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
    """What every resource has. `owner` is empty for the account itself, else the id of another platform user.

    `environment` is empty for what belongs to both.
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
        """The id by which events tell of it: its own, but for what has none in the interface."""
        return self.id


KindT = TypeVar("KindT", bound=Record, default=Any)


@dataclass(frozen=True, slots=True)
class Arrival:
    """What was sent: `amount` of an asset by code, and the hash of the transaction (None over Lightning)."""

    asset: str
    amount: Decimal
    tx_hash: str | None
    sender_id: str


def _nothing() -> None:
    return None


@dataclass(frozen=True, eq=False)
class Kind(Generic[KindT]):
    """A kind of resource."""

    name: str
    table: TableKey[Any]
    """The table that its rows lie in."""
    render: Callable[[World, KindT], Shown]
    """Shows a resource as answers have it."""
    machine: Machine
    """The table of its states."""
    shape: Callable[[], object] = _nothing
    """Returns what events show of it."""
    example: Callable[[], Mapping[str, object]] = dict
    """Returns a realistic resource."""
    event_shapes: Mapping[str, Callable[[], object]] = field(default_factory=dict)
    """The shapes of events that show more than the others, by event type."""
    status_field: str = "status"
    """The member that shows its status."""
    family: str = ""
    """The common name of alike kinds."""
    listed_as: tuple[str, ...] = ()
    """Further types under which lists of resources have it."""
    listed: bool = True
    """Lists of resources have it."""
    prefix: str = ""
    """The beginning of its ids."""
    short: str = ""
    """A shorter name."""
    refers: tuple[str, ...] = ()
    """The fields with ids of other resources, set when it is made and never changed."""
    parent: str = ""
    """The field of `refers` with the resource that it belongs to."""
    named_by: tuple[str, ...] = ()
    """The paths in objects and requests that have its id; then a `where` can look at it from there, as at `root`."""
    collection: str = ""
    """The path under which its account moves such resources, where it can."""
    standing: Callable[[World, str], KindT | None] | None = None
    """Finds, by id, resources that every world has without storing them until they are changed."""
    receives: Callable[[World, KindT, Arrival], bool] | None = None
    """Lets money that was sent to a resource arrive; returns False where it cannot."""
    in_events: Callable[[World, KindT], Shown] | None = None
    """Returns the members that its events carry besides what answers show."""
    sole: Callable[[World], KindT] | None = None
    """Returns the only one of its world, for both environments and without an id in the interface."""
    put: Callable[[World, KindT], None] | None = None
    """Writes it, where it is a part of a row."""

    @property
    def root(self) -> str:
        """What a path of a `where` begins with that leads to it."""
        return self.family or self.name

    @property
    def types(self) -> tuple[str, ...]:
        """What resources of this kind can be asked for by: the kind, its family and what else it is listed as."""
        return (self.name, *((self.family,) if self.family else ()), *self.listed_as)
