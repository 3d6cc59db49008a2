"""Which assumptions the contract names at an operation or an event, because no field of it carries them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase

from contracts.generator.assumptions import all_assumptions
from contracts.generator.decisions import Assumption
from simulator.engine.rows.operation import Operation
from simulator.host import vocabulary

MARK = "x-assumptions"
"""The member of an operation or an event with the ids of these assumptions."""


def at_operations(rows: Iterable[Operation]) -> Mapping[str, tuple[str, ...]]:
    """The ids of assumptions by the names of operations; ValueError for a pattern that no operation matches.

    A pattern with a blank is a method and a glob of paths (`POST *`), any other without a dot a glob of names.
    """
    return _by_target({row.name: (row.name, f"{row.method} {row.path}") for row in rows}, events=False)


def at_events() -> Mapping[str, tuple[str, ...]]:
    """The ids of assumptions by event type. A pattern with a dot is a glob of types (`kyc.*`)."""
    return _by_target({name: (name,) for name in vocabulary().events}, events=True)


def _by_target(targets: Mapping[str, tuple[str, ...]], *, events: bool) -> Mapping[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {name: [] for name in targets}
    for entry in all_assumptions():
        for name in _matched(entry, targets, events):
            found[name].append(entry.id)
    return {name: tuple(ids) for name, ids in found.items()}


def _matched(entry: Assumption, targets: Mapping[str, tuple[str, ...]], events: bool) -> list[str]:
    matched: dict[str, None] = {}
    for pattern in entry.named_at:
        if ("." in pattern) is not events:
            continue
        names = [name for name, spelled in targets.items() if any(fnmatchcase(one, pattern) for one in spelled)]
        if not names:
            raise ValueError(f"{entry.id} is named at {pattern!r}, which nothing matches")
        matched |= dict.fromkeys(names)
    return list(matched)
