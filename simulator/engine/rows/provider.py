"""A provider: all that engine and tools get to know of a simulated service."""

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
    from simulator.engine.worlds.alternatives import Alternatives, Switches


def _is_owner(environment: str) -> str:
    return environment


def _no_alternatives() -> Switches:
    return {}


def _no_triggers() -> object:
    return None


def _not_numbered(world: World, environment: str, number: str) -> Record | None:
    return None


def _no_number(record: Record) -> str | None:
    return None


@dataclass(frozen=True)
class OrderNumbers:
    """The public numbers that resources have besides their ids."""

    find: Callable[[World, str, str], Record | None] = _not_numbered
    """The resource of an environment by its number; None for an unknown one."""
    number_of: Callable[[Record], str | None] = _no_number
    """The number of a resource; None where it has none."""


@dataclass(frozen=True, eq=False)
class Provider:
    """One simulated service, in one row. A member that loads slow modules is a function."""

    name: str
    """What people call the service."""

    rooms: tuple[Room, ...]
    """Its rooms, in the order in which they may import each other; room `webhooks` of the engine among them."""

    environments: Mapping[str, str]
    """The environments of an account with their base paths. The first environment is the default."""

    environment_names: Mapping[str, str] = field(default_factory=dict, kw_only=True)
    """What people call its environments, without an article; "NAME environment" where nothing is given."""

    identity: Identity
    """Its callers, their keys and its users."""

    signing: Signing
    """How it sends webhooks."""

    alternatives: Alternatives = _no_alternatives
    """The assumptions that its worlds can switch."""

    account: Callable[[str], str] = _is_owner
    """The name of the account in the ledger, by environment."""

    outages: Outages = Outages()
    """The networks that the service rests on."""

    orders: OrderNumbers = OrderNumbers()
    """Numbers of resources besides their ids."""

    clauses: Mapping[str, str] = field(default_factory=dict)
    """The clause of the specification behind each kind of advice that its rooms note."""

    advice: Mapping[str, AdviceKind] = field(default_factory=dict)
    """The kinds of advice that only this service can give, or words otherwise."""

    triggers: Callable[[], object] = _no_triggers
    """Returns the `Triggers` of the scenario package; `triggers_of(world)` returns them with their type."""

    wording: Wording = Wording()
    """How it words refusals, answers and events under other assumptions than usual."""

    money: Money = Money()
    """Its operations that quote, spend or move money."""
