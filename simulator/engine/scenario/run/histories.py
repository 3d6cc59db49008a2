"""Types that describe example payments over several simulated days. `POST /_simulator/seed` creates such payments to
give a world a history.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from simulator.kernel.dataclass import dataclass
from simulator.kernel.world import World

if TYPE_CHECKING:
    from simulator.engine.scenario.run.drive import Drive, DriveAction


@dataclass(frozen=True, slots=True)
class Episode:
    """One payment: the steps that create it, and the third-party actions that complete it."""

    drive: Drive
    """The steps that create the order. If one of them is refused, the later steps are omitted."""
    later: tuple[tuple[int, DriveAction], ...] = ()
    """The actions of third parties, each with its delay after the previous step, in milliseconds."""


@dataclass(frozen=True, slots=True)
class History:
    """A provider's functions that generate the payments of an account over several days."""

    mixes: Mapping[str, str]
    """The mixes of outcomes, each with its description."""
    begin: Callable[[World, str, int], Drive]
    """Returns the steps before the first order, given the world, an environment and the number of days."""
    episode: Callable[[World, str, str, int], Episode]
    """Returns an order, given the world, an environment, a mix and the order's number.

    Random choices are derived from the world's seed.
    """
    hours: tuple[int, int]
    """The hours of the day, in UTC, between which orders are created."""
