"""Copies of frozen rows with some of their fields changed: what `dataclasses.replace` does, for rows that have slots.

A change of the world is a row put in place of another, so this is done several times in everything that happens.
`dataclasses.replace` reads all fields by name and sets each past the guard of a frozen class: 10 µs for the 40 fields
of a transaction. Here the copy is made as an instance of a twin, the open class that new rows are made in. Python
fills it slot by slot in a tenth of that, and then it becomes one of the row's own class.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

from simulator.kernel.dataclass import open_class

_Copier: TypeAlias = Callable[[Any, Mapping[str, object]], Any]

if TYPE_CHECKING:
    from dataclasses import replace as replace  # so that mypy checks the fields that are named

else:

    def replace(row, /, **changes):
        """A copy of a frozen dataclass with these fields changed; AttributeError for one that it does not have."""
        return _copier(row.__class__)(row, changes)


@cache
def _copier(kind: Any) -> _Copier:
    """The function that copies rows of a class."""
    names = [field.name for field in dataclasses.fields(kind)]
    slots = kind.__dict__.get("__slots__")
    if slots is None or kind.__dictoffset__ or hasattr(kind, "__post_init__"):
        return lambda row, changes: dataclasses.replace(row, **changes)
    copying = [
        "def copied(row, changes):",
        "    made = new(twin)",
        *(f"    made.{name} = row.{name}" for name in names),
        "    for name in changes:",
        "        setattr(made, name, changes[name])",
        "    made.__class__ = kind",
        "    return made",
    ]
    made: dict[str, Any] = {"new": object.__new__, "twin": open_class(kind), "kind": kind}
    exec("\n".join(copying), made)  # from the names of fields alone, as the methods of a dataclass are made
    copier: _Copier = made["copied"]
    return copier
