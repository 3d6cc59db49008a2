"""Finds the API operations for the methods and paths (below the base path) in a scenario."""

from __future__ import annotations

from simulator.engine.rows.operation import Operation
from simulator.engine.rows.provider import split_base
from simulator.engine.vocabulary.vocabulary import Vocabulary


def operations_at(vocabulary: Vocabulary, path: str) -> dict[str, Operation]:
    """Return the operations at a path by method. A segment that contains `${…}` matches any segment."""
    found: dict[str, Operation] = {}
    given = path.partition("?")[0].split("/")
    for row in vocabulary.operations:
        if _matches(given, row.path.split("/")):
            found.setdefault(row.method, row)
    return found


def paths(vocabulary: Vocabulary) -> list[str]:
    """Return the distinct paths of all operations."""
    return list(dict.fromkeys(row.path for row in vocabulary.operations))


def below_base(vocabulary: Vocabulary, path: str) -> str | None:
    """Remove the base path of an environment from a path. Return None if the path does not start with a base path."""
    environment, below = split_base(vocabulary.provider.environments, path)
    return below or "/" if environment else None


def _matches(given: list[str], segments: list[str]) -> bool:
    return len(given) == len(segments) and all(
        bool(one) if wanted.startswith("{") else one == wanted or "${" in one
        for one, wanted in zip(given, segments, strict=True)
    )
