"""Finds the row (such as an operation) for a path and method, using a tree of path segments."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field
from typing import Generic, Protocol, TypeVar

from simulator.kernel.dataclass import dataclass


class Row(Protocol):
    """Protocol for objects that have a method and a path, such as operations."""

    @property
    def method(self) -> str: ...

    @property
    def path(self) -> str: ...


R = TypeVar("R", bound=Row)


@dataclass
class _Branch(Generic[R]):
    literals: dict[str, _Branch[R]] = field(default_factory=dict)
    variable: tuple[str, _Branch[R]] | None = None
    rows: dict[str, R] = field(default_factory=dict)


class Router(Generic[R]):
    """Finds the rows for a path. The paths of rows can contain variable segments such as `{name}`. A literal segment
    takes precedence over a variable segment.

    If `turns_back` is False, a variable segment is never tried after a literal segment has matched. In that case, a
    path can be unknown although a variable segment would lead to a match.
    """

    def __init__(self, rows: Iterable[R], *, turns_back: bool = False) -> None:
        self._root: _Branch[R] = _Branch()
        self._turns_back = turns_back
        for row in rows:
            node = self._root
            for segment in row.path.split("/")[1:]:
                node = self._child(node, segment)
            if row.method in node.rows:
                raise ValueError(f"two rows for {row.method} {row.path}")
            node.rows[row.method] = row

    @staticmethod
    def _child(node: _Branch[R], segment: str) -> _Branch[R]:
        if not segment.startswith("{"):
            return node.literals.setdefault(segment, _Branch())
        if node.variable is None:
            node.variable = (segment[1:-1], _Branch())
        return node.variable[1]

    def find(self, path: str) -> tuple[dict[str, R], dict[str, str]] | None:
        """Return the rows for a path, by method, and the values of path variables. Return None for an unknown path."""
        node, variables = self._root, {}
        for segment in path.split("/")[1:]:
            literal = node.literals.get(segment)
            if literal is not None:
                node = literal
            elif node.variable is not None and segment:
                variables[node.variable[0]] = segment
                node = node.variable[1]
            else:
                break
        else:
            if node.rows:
                return node.rows, variables
        return self._any(self._root, path.split("/")[1:], {}) if self._turns_back else None

    def _any(
        self, node: _Branch[R], segments: list[str], variables: dict[str, str]
    ) -> tuple[dict[str, R], dict[str, str]] | None:
        """Search a node of the tree and all its branches for the remaining segments of a path."""
        if not segments:
            return (node.rows, variables) if node.rows else None
        segment, literal = segments[0], node.literals.get(segments[0])
        found = None if literal is None else self._any(literal, segments[1:], variables)
        if found is None and node.variable is not None and segment:
            name, below = node.variable
            found = self._any(below, segments[1:], {**variables, name: segment})
        return found
