"""Kinds of resources: the base class for records, and the class that describes a kind."""

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
    """The common fields of resources. `owner` is empty for resources of the account itself. Otherwise, `owner` is the
    id of another platform user. `environment` is empty for resources that exist in both environments.
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
        """The id of the resource in events. Kinds whose resources have no id in the API override it."""
        return self.id


KindT = TypeVar("KindT", bound=Record, default=Any)


@dataclass(frozen=True, slots=True)
class Arrival:
    """An incoming transfer: the amount, the code of its asset, and the transaction hash (None for Lightning)."""

    asset: str
    amount: Decimal
    tx_hash: str | None
    sender_id: str


@dataclass(frozen=True, eq=False)
class Kind(Generic[KindT]):
    """A kind of resource."""

    name: str
    table: TableKey[Any]
    """The table in which its records are stored."""
    render: Callable[[World, KindT], Shown]
    """Renders a resource for responses."""
    machine: Machine
    """The state table of resources of this kind."""
    shape: Callable[[], object] = lambda: None
    """Returns the response shape of the resource in events."""
    example: Callable[[], Mapping[str, object]] = dict
    """Returns a realistic example of the resource."""
    event_shapes: Mapping[str, Callable[[], object]] = field(default_factory=dict)
    """The shapes of events that contain additional fields, by event type."""
    status_field: str = "status"
    """The field that contains the status."""
    family: str = ""
    """The name that several similar kinds share."""
    listed_as: tuple[str, ...] = ()
    """Additional values of the type filter that include this kind in resource lists."""
    listed: bool = True
    """True if resource lists include this kind."""
    prefix: str = ""
    """The id prefix."""
    short: str = ""
    """A shorter name for the kind."""
    refers: tuple[str, ...] = ()
    """The fields that contain ids of other resources. They are set when the resource is created and never change."""
    parent: str = ""
    """The field in `refers` that contains the id of the parent resource."""
    named_by: tuple[str, ...] = ()
    """Paths to the id of such a resource in objects and requests. A rule's `where` on them can check it as `root`."""
    collection: str = ""
    """The API path of resources of this kind, if there are operations on them."""
    standing: Callable[[World, str], KindT | None] | None = None
    """Returns a resource by id if it exists in every world and is stored only after its first change."""
    receives: Callable[[World, KindT, Arrival], bool] | None = None
    """Handles an incoming transfer to a resource. Returns False if the resource cannot receive transfers."""
    in_events: Callable[[World, KindT], Shown] | None = None
    """Returns the fields that events contain in addition to those in responses."""
    sole: Callable[[World], KindT] | None = None
    """Returns the only resource of this kind, if that exists in both environments without an id in the API."""
    put: Callable[[World, KindT], None] | None = None
    """Writes a resource that is stored as a part of another row."""

    @property
    def root(self) -> str:
        """The word with which a path to a resource of this kind begins in a scenario's `where`."""
        return self.family or self.name

    @property
    def types(self) -> tuple[str, ...]:
        """The values of the filter `type` that select this kind: its name, its family and `listed_as`."""
        return (self.name, *((self.family,) if self.family else ()), *self.listed_as)
