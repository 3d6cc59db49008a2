"""Outages: the networks that a simulated service depends on, and their status."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import TypeAlias

from simulator.kernel.dataclass import dataclass
from simulator.kernel.world import World

NetworkStatus: TypeAlias = Callable[[World, str, str], str]
"""The status of a network in an environment, by its canonical name. `down` holds everything that needs it."""


@dataclass(frozen=True)
class Outages:
    """The networks of a provider, whose outages hold and stretch the steps of scenarios."""

    networks: tuple[str, ...] = ()
    """Their canonical names."""
    spellings: Mapping[str, str] = field(default_factory=dict)
    """Canonical names by any spelling, in lower case."""
    status: NetworkStatus = lambda world, environment, network: ""
    event: str = ""
    """The event for a change of status."""
