"""What the scenarios that ship showed when they were run: once for all tests of a process."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from contracts.generator.evidence import Evidence, ObservedCall, collect

GROUP = "scenarios that ship"
"""The tests that look at them run in one process, so that the scenarios run once: `xdist_group`."""


@cache
def shown() -> Mapping[str, Evidence]:
    """Every scenario that ships, run against a server of this process; what each showed, by name."""
    return collect()


def observed_calls() -> list[ObservedCall]:
    """Every call that the scenarios made of an operation of the interface, in their order."""
    return [call for one in shown().values() for call in one.calls if call.operation]
