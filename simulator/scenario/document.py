"""A parsed file: plain values, the place of each, and what was found wrong.

It is built from the node tree of a YAML parser, whose nodes carry their marks. Scalars are read by the core schema of
YAML 1.2, so `on` is a word, `12:30` is text, and so is a date.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from io import StringIO
from typing import Any, TypeAlias

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

Path: TypeAlias = "tuple[str | int, ...]"

MAX_NODES = 100_000
_MAX_DEPTH = 64
_INTEGER = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_WORDS = {"": None, "~": None, "null": None, "Null": None, "NULL": None} | {
    word: truth for truth, words in ((True, "true True TRUE"), (False, "false False FALSE")) for word in words.split()
}


@dataclass(frozen=True)
class Problem:
    """Something wrong with a file: where (dotted path, line and column from 1) and what.

    `lacks`: the names one of which is missing in `within`; `meant`: the name that an unknown one there probably means.
    """

    path: str
    line: int
    column: int
    message: str
    within: Path = ()
    lacks: tuple[str, ...] = ()
    meant: str = ""

    def shown(self) -> dict[str, Any]:
        return {"path": self.path, "line": self.line, "column": self.column, "message": self.message}


@dataclass
class Document:
    """A parsed file: its plain value, the place of every value and of every key, and what was wrong with it."""

    value: Any = None
    places: dict[Path, tuple[int, int]] = field(default_factory=dict)
    keys: dict[Path, tuple[int, int]] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def place(self, path: Path, *, key: bool = False) -> tuple[int, int]:
        """Line and column of the nearest thing that exists at or above a path."""
        if key and path in self.keys:
            return self.keys[path]
        while path and path not in self.places:
            path = path[:-1]
        return self.places.get(path, (1, 1))

    def report(self, path: Path, message: str, *, key: bool = False) -> None:
        """Something is wrong at a path."""
        self._add(Problem(dotted(path), *self.place(path, key=key), message))

    def report_missing(self, within: Path, path: Path, lacks: tuple[str, ...], message: str) -> None:
        """One of these names is missing in a mapping."""
        self._add(Problem(dotted(path), *self.place(within), message, within, lacks))

    def report_unknown(self, path: Path, message: str, meant: str) -> None:
        """A key is unknown; `meant` is what it probably means ("" when nothing is like it)."""
        self._add(Problem(dotted(path), *self.place(path, key=True), message, path[:-1], (), meant))

    def _add(self, problem: Problem) -> None:
        if problem not in self.problems:
            self.problems.append(problem)

    def in_order(self) -> list[Problem]:
        """Every problem once, in the order of the file; what is missing because it is misspelt counts once."""
        meant = {(problem.within, problem.meant) for problem in self.problems if problem.meant}
        told = [one for one in self.problems if not any((one.within, name) in meant for name in one.lacks)]
        return sorted(told, key=lambda problem: (problem.line, problem.column))


def dotted(path: Path) -> str:
    """`rules[0].do[1].action`."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def build(root: Any, document: Document) -> None:
    """Fill a document from the root of a node tree (None: an empty file)."""
    try:
        document.value = None if root is None else _Builder(document).build(root, ())
    except _TooLarge:
        document.problems.append(Problem("", 1, 1, "the file is too large or too deep for a scenario"))


class _TooLarge(Exception):
    """The file has more values than a scenario can need (or an alias that contains itself)."""


class _Builder:
    """Turns the node tree into plain values."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._count = 0

    def build(self, node: Any, path: Path) -> Any:
        self._count += 1
        if self._count > MAX_NODES or len(path) > _MAX_DEPTH:
            raise _TooLarge
        self._document.places[path] = _start(node)
        if node.id == "mapping":
            return self._mapping(node, path)
        if node.id == "sequence":
            return [self.build(item, (*path, index)) for index, item in enumerate(node.value)]
        return self._scalar(node, path)

    def _mapping(self, node: Any, path: Path) -> dict[str, Any]:
        value: dict[str, Any] = {}
        for key_node, item in node.value:
            if key_node.id != "scalar":
                self._document.problems.append(Problem(dotted(path), *_start(key_node), "a key must be a word"))
                continue
            key = _text(key_node)
            if key in value:
                here = Problem(dotted((*path, key)), *_start(key_node), f"duplicate key `{key}`")
                self._document.problems.append(here)
                continue
            self._document.keys[(*path, key)] = _start(key_node)
            value[key] = self.build(item, (*path, key))
        return value

    def _scalar(self, node: Any, path: Path) -> Any:
        text = _text(node)
        if node.style in ("'", '"', "|", ">") or str(node.tag).endswith(":str"):
            return text
        if text in _WORDS:
            return _WORDS[text]
        if _INTEGER.fullmatch(text):
            if text[:2] in ("0o", "0x"):
                return int(text, 0)
            return int(text) if len(text) < 300 else text
        return float(text) if _FLOAT.fullmatch(text) else text


def _start(node: Any) -> tuple[int, int]:
    return node.start_mark.line + 1, node.start_mark.column + 1


def _text(node: Any) -> str:
    """The text of a scalar; JSON's surrogate pairs become the characters they stand for."""
    text: str = node.value
    if any("\ud800" <= letter <= "\udfff" for letter in text):
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def written(value: Any) -> str:
    """A plain value as YAML 1.2 that reads back as the same value; as JSON, which is YAML too, where it would not."""
    writer = YAML()
    writer.indent(mapping=2, sequence=4, offset=2)
    writer.width = 110
    writer.allow_unicode = True
    stream = StringIO()
    try:
        writer.dump(value, stream)
        text = stream.getvalue()
        document = Document()
        build(YAML(typ="rt").compose(text), document)
    except YAMLError:
        return json.dumps(value, indent=2)
    return text if document.value == value and not document.problems else json.dumps(value, indent=2)
