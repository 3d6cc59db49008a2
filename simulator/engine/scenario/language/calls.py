"""Finds the API operations for the methods and paths (below the base path) in a scenario."""

from __future__ import annotations

from fnmatch import fnmatchcase

from simulator.engine.rows.operation import Operation
from simulator.engine.rows.provider import split_base
from simulator.engine.vocabulary.vocabulary import Vocabulary


def operation_at(vocabulary: Vocabulary, method: str, path: str) -> Operation | None:
    """Return the operation that handles requests with a method and path, or None if there is none."""
    return next((row for row in _operations_at(vocabulary, path) if row.method == method), None)


def methods_at(vocabulary: Vocabulary, path: str) -> set[str]:
    """Return the methods of the operations at a path. A segment that contains `${…}` matches any segment."""
    return {row.method for row in _operations_at(vocabulary, path)}


def paths(vocabulary: Vocabulary) -> list[str]:
    """Return the distinct paths of all operations."""
    return list(dict.fromkeys(row.path for row in vocabulary.operations))


def below_base(vocabulary: Vocabulary, path: str) -> str | None:
    """Remove the base path of an environment from a path. Return None if the path does not start with a base path."""
    environment, below = split_base(vocabulary.provider.environments, path)
    return below or "/" if environment else None


def is_path_glob(vocabulary: Vocabulary, glob: str) -> bool:
    """Return True if a glob pattern matches the path of at least one operation."""
    parts = glob.split("/")
    for path in paths(vocabulary):
        segments = path.split("/")
        pairs = zip(segments, parts, strict=False)
        likely = [part if own.startswith("{") and part else own for own, part in pairs] + segments[len(parts) :]
        if fnmatchcase("/".join(likely), glob) or fnmatchcase(path, glob):
            return True
    return False


def _operations_at(vocabulary: Vocabulary, path: str) -> list[Operation]:
    given = path.partition("?")[0].split("/")
    return [row for row in vocabulary.operations if _matches(given, row.path.split("/"))]


def _matches(given: list[str], segments: list[str]) -> bool:
    return len(given) == len(segments) and all(
        bool(one) if wanted.startswith("{") else one == wanted or "${" in one
        for one, wanted in zip(given, segments, strict=True)
    )
