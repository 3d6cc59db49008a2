"""The calls that a scenario can name: their methods and paths, below the base."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase

from simulator.engine.rows.operation import Operation
from simulator.engine.rows.vocabulary import Vocabulary


def operation_at(vocabulary: Vocabulary, method: str, path: str) -> Operation | None:
    """The operation that a call goes to, by its path below the base."""
    given = path.partition("?")[0].split("/")
    rows = (row for row in vocabulary.operations if row.method == method)
    return next((row for row in rows if _fits(given, row.path.split("/"))), None)


def paths(vocabulary: Vocabulary) -> list[str]:
    """The paths of all operations, each once."""
    return list(dict.fromkeys(row.path for row in vocabulary.operations))


def methods_at(vocabulary: Vocabulary, path: str) -> set[str]:
    """The methods of the operations at a path below the base; a segment with `${…}` stands for any."""
    given = path.partition("?")[0].split("/")
    return {row.method for row in vocabulary.operations if _fits(given, row.path.split("/"))}


def _fits(given: list[str], segments: Iterable[str]) -> bool:
    segments = list(segments)
    return len(given) == len(segments) and all(
        bool(one) if wanted.startswith("{") else one == wanted or "${" in one
        for one, wanted in zip(given, segments, strict=True)
    )


def is_path_glob(vocabulary: Vocabulary, glob: str) -> bool:
    """Whether a glob fits any path of the interface."""
    parts = glob.split("/")
    for path in paths(vocabulary):
        segments = path.split("/")
        pairs = zip(segments, parts, strict=False)
        likely = [part if own.startswith("{") and part else own for own, part in pairs] + segments[len(parts) :]
        if fnmatchcase("/".join(likely), glob) or fnmatchcase(path, glob):
            return True
    return False
