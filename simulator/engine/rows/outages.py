"""Network outages: the networks on which a simulated service depends, and their status."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import TypeAlias

from simulator.kernel.dataclass import dataclass
from simulator.kernel.world import World

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
