"""What tools and control interface take from a provider, beside the row that the engine reads."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from simulator.kernel.dataclass import dataclass

if TYPE_CHECKING:
    from simulator.conformance.laws import RequestHooks, Rulebook


@dataclass(frozen=True)
class Tooling:
    """All that tools get to know of a simulated service. Each member is a function, for it loads slow modules."""

    rulebook: Callable[[], Rulebook]
    """What `rampsim conform` judges by."""
    request_hooks: Callable[[], RequestHooks]
    """What `rampsim conform` has schemathesis do with its requests."""
