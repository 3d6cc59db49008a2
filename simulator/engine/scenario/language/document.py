"""A parsed file: plain values, the place of each, and what was found wrong.

It is read from the events of a YAML parser, which carry their marks; how long, how deep and how large a text may be is
bounded while it is read. Scalars are read by the core schema of YAML 1.2, so `on` is a word, `12:30` is text, and so
is a date.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import field, replace
from typing import Any, TypeAlias

import yaml

from simulator.engine.scenario.files.library import FileProblem
from simulator.engine.text.json import JsonObject
from simulator.engine.text.strict import nearest
from simulator.kernel.dataclass import dataclass

Path: TypeAlias = "tuple[str | int, ...]"

MAX_DEPTH = 64
MAX_REPORTED = 100
"""Problems beyond these are counted, not listed."""
MAX_HINTS = 20
"""For so many unknown names the near misses are looked for: it is dear, and who has more needs a manual first."""

_LONGEST_SHOWN = 100
_INT64 = range(-(1 << 63), 1 << 64)
_INTEGER = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_WORDS = {"": None, "~": None, "null": None, "Null": None, "NULL": None} | {
    word: truth for truth, words in ((True, "true True TRUE"), (False, "false False FALSE")) for word in words.split()
}
_SURROGATES = re.compile(r"\\(?:[^u]|u(?:([dD][89abAB][0-9a-fA-F]{2})(?:\\u([dD][c-fC-F][0-9a-fA-F]{2}))?)?)")
_TAG = "tag:yaml.org,2002:"
_TAGS = ("str", "int", "float", "bool", "null", "map", "seq")
_Parser: Any = getattr(yaml, "CLoader", yaml.Loader)


@dataclass(frozen=True)
class Bounds:
    """How much a text may hold: its bytes, and the values in it (those of an alias count wherever it stands)."""

    size: int
    values: int


UPLOAD = Bounds(256 * 1024, 20_000)
FILE = Bounds(16 * 1024 * 1024, 1_000_000)
"""Of what comes over the wire, and of what lies on the disk of the one who runs it."""


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

    def shown(self) -> FileProblem:
        return {"path": self.path, "line": self.line, "column": self.column, "message": self.message}


@dataclass
class Document:
    """A parsed file: its plain value, the place of every value and of every key, and what was wrong with it."""

    value: Any = None
    places: dict[Path, tuple[int, int]] = field(default_factory=dict)
    keys: dict[Path, tuple[int, int]] = field(default_factory=dict)
    problems: dict[Problem, None] = field(default_factory=dict)
    warnings: dict[Problem, None] = field(default_factory=dict)
    hints: int = MAX_HINTS

    def place(self, path: Path, *, key: bool = False) -> tuple[int, int]:
        """Line and column of the nearest thing that exists at or above a path."""
        if key and path in self.keys:
            return self.keys[path]
        while path and path not in self.places:
            path = path[:-1]
        return self.places.get(path, (1, 1))

    def part(self, path: Path) -> Document:
        """What stands at a path, as a document of its own whose places are those in this one."""
        value, depth, prefix = self.value, len(path), f"{dotted(path)}."
        for step in path:
            value = value[step]
        places, keys = (
            {at[depth:]: place for at, place in found.items() if at[:depth] == path}
            for found in (self.places, self.keys)
        )
        part = Document(value, places, keys)
        for problem in self.problems:
            if problem.path.startswith(prefix):
                part.add(replace(problem, path=problem.path.removeprefix(prefix)))
        return part

    def add(self, problem: Problem) -> None:
        self.problems[problem] = None

    def report(self, path: Path, message: str, *, key: bool = False) -> None:
        """Something is wrong at a path."""
        self.add(Problem(dotted(path), *self.place(path, key=key), message))

    def warn(self, path: Path, message: str, *, key: bool = False) -> None:
        """Something is possible, but probably not meant."""
        if len(self.warnings) < MAX_REPORTED:
            self.warnings[Problem(dotted(path), *self.place(path, key=key), message)] = None

    def report_missing(self, within: Path, path: Path, lacks: tuple[str, ...], message: str) -> None:
        """One of these names is missing in a mapping."""
        self.add(Problem(dotted(path), *self.place(within), message, within, lacks))

    def report_unknown(self, path: Path, message: str, meant: str) -> None:
        """A key is unknown; `meant` is what it probably means ("" when nothing is like it)."""
        self.add(Problem(dotted(path), *self.place(path, key=True), message, path[:-1], (), meant))

    def nearest(self, name: str, names: Iterable[str]) -> str:
        """The name that was probably meant, or ""; looked for a bounded number of times."""
        if not name or len(name) > _LONGEST_SHOWN or self.hints <= 0:
            return ""
        self.hints -= 1
        return nearest(name, names)

    def in_order(self) -> list[Problem]:
        """Every problem once, in the order of the file; what is missing because it is misspelt counts once."""
        meant = {(problem.within, problem.meant) for problem in self.problems if problem.meant}
        shown = [one for one in self.problems if not any((one.within, name) in meant for name in one.lacks)]
        shown.sort(key=lambda problem: (problem.line, problem.column))
        rest = shown[MAX_REPORTED:]
        if not rest:
            return shown
        return [*shown[:MAX_REPORTED], Problem("", rest[0].line, rest[0].column, f"and {len(rest):,} more problems")]


def dotted(path: Path) -> str:
    """`rules[0].do[1].action`."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{shortened(part)}" if text else shortened(part)
    return text


def shortened(name: str) -> str:
    """A name as it is shown in a message."""
    return name if len(name) <= _LONGEST_SHOWN else name[:_LONGEST_SHOWN] + "…"


def read(text: str, bounds: Bounds = FILE) -> Document:
    """A text as a document; what is no YAML, or beyond the bounds, has that one problem and no value."""
    document = Document()
    if len(text) > bounds.size or len(text.encode("utf-8", "surrogatepass")) > bounds.size:
        document.add(Problem("", 1, 1, f"the file is larger than {_size(bounds.size)}"))
        return document
    if text.lstrip().startswith("{") and _is_json(text):
        # JSON allows tabs where YAML does not, and has none inside its strings; it writes letters as surrogate pairs.
        text = _SURROGATES.sub(_letter, text.replace("\t", " "))
    reader = _Reader(document, bounds)
    try:
        reader.read(yaml.parse(text, Loader=_Parser))
    except _Refused as refused:
        document.value = None
        document.add(Problem("", *refused.place, refused.why))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line, column = (1, 1) if mark is None else (mark.line + 1, mark.column + 1)
        why = error.problem or error.context or "it cannot be read"
        document.add(Problem("", line, column, f"not valid YAML: {why}{_unquoted(text, error)}"))
    except (yaml.reader.ReaderError, UnicodeEncodeError):
        line, column = _unprintable(text)
        document.add(Problem("", line, column, "not valid YAML: special characters are not allowed"))
    return document


def _size(count: int) -> str:
    return f"{count // 1024**2} MB" if count >= 1024**2 else f"{count // 1024} KB"


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _letter(escape: re.Match[str]) -> str:
    high, low = escape[1], escape[2]
    if high is None:
        return escape[0]
    if low is None:
        return "\\ufffd"
    return f"\\U{0x10000 + (int(high, 16) - 0xD800) * 0x400 + int(low, 16) - 0xDC00:08x}"


_UNPRINTABLE = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def _unprintable(text: str) -> tuple[int, int]:
    """Where the first character stands that no YAML may have."""
    found = _UNPRINTABLE.search(text)
    position = found.start() if found else 0
    return text.count("\n", 0, position) + 1, position - text.rfind("\n", 0, position)


def _unquoted(text: str, error: yaml.MarkedYAMLError) -> str:
    """A hint where `${…}` stands unquoted inside braces or brackets, which its own brace ends."""
    lines = text.splitlines()
    for mark in (error.problem_mark, error.context_mark):
        if mark is not None and mark.line < len(lines) and (found := _PLAIN_REFERENCE.search(lines[mark.line])):
            return f'; write text with ${{…}} in quotes inside {{ }} and [ ], as in "{found[1]}"'
    return ""


_PLAIN_REFERENCE = re.compile(r"""[\[{,:]\s*([^"'\s,{}\[\]]*\$\{[^"'\s,{}\[\]]*\}?)""")


class _Refused(Exception):
    """The text is not read further: where, and why."""

    def __init__(self, place: tuple[int, int], why: str) -> None:
        super().__init__(why)
        self.place = place
        self.why = why


class _Node:
    """A value as it is written: where, and its text, or what is in it (of a mapping key and value in turn).

    The parser's events are not kept: they are many, and whoever keeps many small objects makes everybody wait.
    """

    __slots__ = ("children", "is_mapping", "is_text", "place", "text")

    def __init__(self, event: Any) -> None:
        self.place = _start(event)
        self.text: str | None = None
        self.is_text = self.is_mapping = False
        self.children: list[_Node] = []
        if isinstance(event, yaml.ScalarEvent):
            self.text = event.value
            self.is_text = event.style in ("'", '"', "|", ">") or event.tag in (f"{_TAG}str", "!")
        else:
            self.is_mapping = isinstance(event, yaml.MappingStartEvent)


class _Reader:
    """Turns the events of a parser into nodes, and those into plain values; bounded in depth and count."""

    def __init__(self, document: Document, bounds: Bounds) -> None:
        self._document = document
        self._most = bounds.values
        self._count = 0
        self._anchors: dict[str, _Node] = {}

    def read(self, events: Iterator[Any]) -> None:
        root = self._compose(events)
        self._count = 0
        self._document.value = None if root is None else self._build(root, ())

    def _compose(self, events: Iterator[Any]) -> _Node | None:
        """The one document of a stream as nodes; an alias is the node that it names."""
        root: _Node | None = None
        within: list[_Node] = []
        documents = 0
        for event in events:
            if isinstance(event, yaml.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    raise _Refused(_start(event), "not valid YAML: a scenario file has one document")
            elif isinstance(event, yaml.CollectionEndEvent):
                within.pop()
            elif isinstance(event, yaml.NodeEvent):
                node = self._node(event)
                if within:
                    within[-1].children.append(node)
                else:
                    root = node
                if isinstance(event, yaml.CollectionStartEvent):
                    within.append(node)
                    if len(within) > MAX_DEPTH:
                        raise _Refused(_start(event), f"the file is nested more than {MAX_DEPTH} deep")
        return root

    def _node(self, event: Any) -> _Node:
        if isinstance(event, yaml.AliasEvent):
            if event.anchor not in self._anchors:
                raise _Refused(_start(event), f"not valid YAML: found undefined alias {shortened(event.anchor)!r}")
            return self._anchors[event.anchor]
        self._tally(event)
        tag = event.tag
        if tag not in (None, "!") and not (tag.startswith(_TAG) and tag.removeprefix(_TAG) in _TAGS):
            self._document.add(Problem("", *_start(event), f"a scenario has no tags like {shortened(tag)!r}"))
        node = _Node(event)
        if event.anchor is not None:
            self._anchors[event.anchor] = node
        return node

    def _tally(self, event: Any) -> None:
        self._count += 1
        if self._count > 2 * self._most:  # keys are counted here too
            raise _Refused(_start(event), self._too_many)

    @property
    def _too_many(self) -> str:
        return f"the file has more than {self._most:,} values"

    def _build(self, node: _Node, path: Path) -> Any:
        self._count += 1
        if self._count > self._most:
            raise _Refused(node.place, self._too_many)
        if len(path) > MAX_DEPTH:
            raise _Refused(node.place, f"the file is nested more than {MAX_DEPTH} deep")
        self._document.places[path] = node.place
        if node.text is not None:
            return self._scalar(node.text, node.is_text, path)
        if node.is_mapping:
            return self._mapping(node, path)
        return [self._build(item, (*path, index)) for index, item in enumerate(node.children)]

    def _mapping(self, node: _Node, path: Path) -> JsonObject:
        value: JsonObject = {}
        for named, item in zip(node.children[::2], node.children[1::2], strict=True):
            key = named.text
            if key is None:
                self._document.add(Problem(dotted(path), *named.place, "a key must be a word"))
                continue
            if key in value:
                self._document.add(Problem(dotted((*path, key)), *named.place, f"duplicate key `{shortened(key)}`"))
                continue
            self._document.keys[(*path, key)] = named.place
            value[key] = self._build(item, (*path, key))
        return value

    def _scalar(self, text: str, is_text: bool, path: Path) -> Any:
        if is_text:
            return text
        if text in _WORDS:
            return _WORDS[text]
        number: int | float
        if _INTEGER.fullmatch(text):
            number = int(text, 0 if text[:2] in ("0o", "0x") else 10) if len(text) <= 32 else 1 << 64
            fits = number in _INT64
        elif _FLOAT.fullmatch(text):
            number = float(text)
            fits = abs(number) != float("inf")
        else:
            return text
        if not fits:
            why = "the number is too large (64 bits at most); write it in quotes to keep it as text"
            self._document.report(path, why)
        return number if fits else 0


def _start(event: Any) -> tuple[int, int]:
    return event.start_mark.line + 1, event.start_mark.column + 1
