"""A provider: everything that the engine and the tools need to know about a simulated service."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import TYPE_CHECKING, TypeAlias

from simulator.engine.records.advice import AdviceKind
from simulator.engine.rows.identity import Identity
from simulator.engine.rows.kind import Record
from simulator.engine.rows.money import Money
from simulator.engine.rows.room import Room
from simulator.engine.rows.service import Wording
from simulator.engine.rows.signing import Signing
from simulator.engine.text.json import Shown
from simulator.kernel.dataclass import dataclass
from simulator.kernel.world import World

if TYPE_CHECKING:
    from simulator.engine.worlds.alternatives import Alternatives


NetworkStatus: TypeAlias = Callable[[World, str, str], str]
"""The status of a network, by its canonical name. While it is `down`, everything that needs the network waits."""


@dataclass(frozen=True)
class Outages:
    """A provider's networks and their status. Scenario steps that need a network wait while the network is down."""

    networks: tuple[str, ...] = ()
    """The canonical names of the networks."""
    spellings: Mapping[str, str] = field(default_factory=dict)
    """The canonical name for each spelling, in lower case."""
    status: NetworkStatus = lambda world, environment, network: ""
    event: str = ""
    """The event that reports a status change."""


@dataclass(frozen=True)
class OrderNumbers:
    """Functions for resources that have a public number, such as a payment number, in addition to an id."""

    find: Callable[[World, str, str], Record | None] = lambda world, environment, number: None
    """Returns the resource with a number in an environment, or None."""
    number_of: Callable[[Record], str | None] = lambda record: None
    """Returns the number of a resource, or None if it does not have one."""


@dataclass(frozen=True, eq=False)
class Provider:
    """One simulated service. Some fields are functions because their values need modules that are slow to import."""

    name: str
    """The display name of the service."""
    rooms: tuple[Room, ...]
    """The packages (rooms). Each may import only those before it. The engine's package `webhooks` is one of them."""
    environments: Mapping[str, str]
    """The environments of an account, with their base paths. The first environment is the default."""
    environment_names: Mapping[str, str] = field(default_factory=dict, kw_only=True)
    """The names of the environments in prose, without an article. The default is "NAME environment"."""
    identity: Identity
    """The callers of the service, their keys, and the users of the platform."""
    signing: Signing
    """The service's rules for sending webhooks."""
    alternatives: Alternatives = dict
    """The assumptions about this service for which a world can select an alternative."""
    account: Callable[[str], str] = lambda environment: environment
    """The account's name in the ledger, by environment."""
    outages: Outages = Outages()
    """The networks that the service depends on."""
    orders: OrderNumbers = OrderNumbers()
    """Resource numbers in addition to ids."""
    clauses: Mapping[str, str] = field(default_factory=dict)
    """The specification clause behind each kind of advice."""
    advice: Mapping[str, AdviceKind] = field(default_factory=dict)
    """Kinds of advice that are specific to this service or have a different message for it."""
    triggers: Callable[[], object] = lambda: None
    """The ways to trigger each event, as `Triggers` of the scenario package; see `triggers_of(world)`."""
    wording: Wording = Wording()
    """Changes errors, responses and events if a world has selected alternatives to the assumptions about them."""
    put_facts: Callable[[World, Shown], None] = lambda world, facts: None
    """Replaces the reference data of a new world with facts about a running service. Call it inside a transaction."""
    malformed_fact: Callable[[Shown], tuple[str, str] | None] = lambda facts: None
    """Returns the path of the first fact that is not in the form of an observed file, and the reason."""
    money: Money = Money()
    """The operations that quote, spend or transfer money."""


def split_base(environments: Mapping[str, str], path: str) -> tuple[str, str]:
    """Return the environment of a full path ("" if no base path matches) and the path below its base path."""
    for environment, base in environments.items():
        if path.startswith(base) and (len(path) == len(base) or path[len(base)] == "/"):
            return environment, path[len(base) :]
    return "", path
