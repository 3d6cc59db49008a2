"""Measures of the source code that the architecture page states. `python -m tests.measures` prints them.

Lines are all lines of Python in the package. `Any` is counted where it is used, not where it is imported.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import TypeVar, cast

from tests.places import ROOT

PACKAGE = ROOT / "simulator"


@dataclass(frozen=True)
class Measures:
    """The measures of the package."""

    files: int
    lines: int
    longest_file: int
    anys: int
    casts: int
    comments: int
    circles: int

    @property
    def anys_per_100_lines(self) -> float:
        return round(100 * self.anys / self.lines, 2)


def sources() -> list[Path]:
    """Return the modules of the package, without recipes, which belong to other projects."""
    recipes = PACKAGE / "docs" / "recipes"
    return sorted(path for path in PACKAGE.rglob("*.py") if not path.is_relative_to(recipes))


@cache
def text_of(path: Path) -> str:
    return path.read_text("utf-8")


@cache
def tree_of(path: Path) -> ast.Module:
    """Return the syntax tree of a module. Cached."""
    return ast.parse(text_of(path), str(path))


@cache
def _nodes_by_kind(path: Path) -> dict[type[ast.AST], list[ast.AST]]:
    found = defaultdict[type[ast.AST], list[ast.AST]](list)
    for node in ast.walk(tree_of(path)):
        found[type(node)].append(node)
    return dict(found)


Node = TypeVar("Node", bound=ast.AST)


def nodes_of(path: Path, kind: type[Node]) -> list[Node]:
    """All nodes of one kind in a module, the outer before the inner; a module is walked through once."""
    return cast("list[Node]", _nodes_by_kind(path).get(kind, []))


@cache
def measured() -> Measures:
    texts = [text_of(path) for path in sources()]
    lengths = [text.count("\n") for text in texts]
    names = [name for path in sources() for name in _names(path)]
    return Measures(
        files=len(texts),
        lines=sum(lengths),
        longest_file=max(lengths),
        anys=names.count("Any"),
        casts=names.count("cast"),
        comments=sum(_comments(text) for text in texts),
        circles=int(circle() is not None),
    )


@dataclass(frozen=True)
class Part:
    """Size of one part of the package: the kernel, the engine, the provider, or a tool."""

    lines: int
    code_lines: int
    anys: int

    @property
    def anys_per_100_lines(self) -> float:
        return round(100 * self.anys / self.lines, 2)


@cache
def parts() -> dict[str, Part]:
    """Each part by its folder: kernel, engine, providers, then the tools; the modules at the top are `host`."""
    grouped = defaultdict[str, list[Path]](list)
    for path in sources():
        first = path.relative_to(PACKAGE).parts[0]
        grouped["host" if first.endswith(".py") else first].append(path)
    order = ["kernel", "engine", "providers", *sorted(grouped.keys() - {"kernel", "engine", "providers"})]
    return {
        name: Part(
            lines=sum(text_of(path).count("\n") for path in grouped[name]),
            code_lines=sum(_code_lines(path) for path in grouped[name]),
            anys=sum(found == "Any" for path in grouped[name] for found in _names(path)),
        )
        for name in order
    }


def _code_lines(path: Path) -> int:
    """Lines that hold neither a blank, nor a comment, nor a docstring or another string that stands alone."""
    texts = {
        line
        for node in nodes_of(path, ast.Expr)
        if isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }
    lines = enumerate(text_of(path).splitlines(), start=1)
    return sum(
        number not in texts and line.strip() != "" and not line.strip().startswith("#") for number, line in lines
    )


def _names(path: Path) -> Iterator[str]:
    """Every name in use: those of import statements are left out, those in quoted annotations are not."""
    yield from (node.id for node in nodes_of(path, ast.Name))
    for node in nodes_of(path, ast.Constant):
        if isinstance(node.value, str) and "[" in node.value:
            try:
                yield from (inner.id for inner in ast.walk(ast.parse(node.value)) if isinstance(inner, ast.Name))
            except SyntaxError:
                continue


def _comments(text: str) -> int:
    """Lines that are a comment, which says something: neither a type remark nor a rule to be left out."""
    return len(re.findall(r"^ *# (?!type:|noqa)", text, re.MULTILINE))


@cache
def circle() -> list[str] | None:
    """Modules that import each other in a circle, wherever in a file the import stands; None when there is none."""
    modules = {_name(path): path for path in sources()}
    graph = {name: set(_imports(name, path, modules)) for name, path in modules.items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        found: list[str] = error.args[1]
        return found
    return None


def _name(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def _imports(name: str, path: Path, modules: dict[str, Path]) -> Iterator[str]:
    found = {alias.name for node in nodes_of(path, ast.Import) for alias in node.names}
    for node in nodes_of(path, ast.ImportFrom):
        if node.module:
            inner = [f"{node.module}.{alias.name}" for alias in node.names]
            found |= {one if one in modules else node.module for one in inner}
    yield from (one for one in sorted(found) if one in modules and one != name)


def table() -> list[str]:
    """The rows of the table of parts in `simulator/ARCHITECTURE.md`."""
    return [
        f"| {name} | {part.lines:,} | {part.code_lines:,} | {part.anys_per_100_lines} |"
        for name, part in parts().items()
    ]


def main() -> None:
    found = measured()
    sys.stdout.write(
        f"{found.lines:,} lines in {found.files} files, the longest {found.longest_file}\n"
        f"Any: {found.anys}, {found.anys_per_100_lines} per 100 lines; casts: {found.casts}\n"
        f"comments: {found.comments}; import circles: {found.circles}\n"
    )
    for row in table():
        sys.stdout.write(f"{row}\n")


if __name__ == "__main__":
    main()
