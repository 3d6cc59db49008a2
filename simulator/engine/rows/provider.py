"""A provider: everything that engine and tools know about a simulated service."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import TYPE_CHECKING

from simulator.engine.records.advice import AdviceKind
from simulator.engine.rows.identity import Identity
from simulator.engine.rows.kind import Record
from simulator.engine.rows.money import Money
from simulator.engine.rows.outages import Outages
from simulator.engine.rows.room import Room
from simulator.engine.rows.signing import Signing
from simulator.engine.rows.wording import Wording
from simulator.kernel.dataclass import dataclass
from simulator.kernel.world import World

if TYPE_CHECKING:
    from simulator.engine.worlds.alternatives import Alternatives


@dataclass(frozen=True)
class OrderNumbers:
    """The public numbers of resources besides their ids."""

    find: Callable[[World, str, str], Record | None] = lambda world, environment, number: None
    """Returns the resource of an environment by its number, or None."""
    number_of: Callable[[Record], str | None] = lambda record: None
    """Returns the number of a resource, or None."""


@dataclass(frozen=True, eq=False)
class Provider:
    """One simulated service. Fields that load slow modules are functions."""

    name: str
    """The name of the service for people."""

    rooms: tuple[Room, ...]
    """Its rooms, in the order in which they may import each other, including the engine's room `webhooks`."""

    environments: Mapping[str, str]
    """The environments of an account with their base paths. The first environment is the default."""

    environment_names: Mapping[str, str] = field(default_factory=dict, kw_only=True)
    """The names of its environments for people, without an article; "NAME environment" by default."""

    identity: Identity
    """Its callers, their keys and its users."""

    signing: Signing
    """Its rules for sending webhooks."""

    alternatives: Alternatives = dict
    """The assumptions that its worlds can switch."""

    account: Callable[[str], str] = lambda environment: environment
    """The name of the account in the ledger, by environment."""

    outages: Outages = Outages()
    """The networks that the service depends on."""

    orders: OrderNumbers = OrderNumbers()
    """Numbers of resources besides their ids."""

    clauses: Mapping[str, str] = field(default_factory=dict)
    """The clause of the specification behind each kind of advice that its rooms note."""

    advice: Mapping[str, AdviceKind] = field(default_factory=dict)
    """The kinds of advice that only this service can give, or words otherwise."""

    triggers: Callable[[], object] = lambda: None
    """The paths to its events, `Triggers` of the scenario package; `triggers_of(world)` returns them typed."""

    wording: Wording = Wording()
    """Its wording of refusals, responses and events under switched assumptions."""

    money: Money = Money()
    """Its operations that quote, spend or move money."""
