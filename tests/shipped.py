"""What the scenarios that ship showed when they were run: once for all tests of a process."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from contracts.generator.evidence import Evidence, collect


@cache
def shown() -> Mapping[str, Evidence]:
    """Every scenario that ships, run against a server of this process; what each showed, by name."""
    return collect()
