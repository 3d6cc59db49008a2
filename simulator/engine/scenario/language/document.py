"""A parsed scenario file: its value, the position of every value and key, and the problems and warnings found in it.
The reader processes the events of a YAML parser, which include positions. Scalars follow the YAML 1.2 core schema, in
which `on`, `12:30` and dates are strings.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import field, replace
from typing import Any, TypeAlias

import yaml

from simulator.engine.scenario.files.library import FileProblem
from simulator.engine.scenario.language.bounds import FILE, MAX_DEPTH, Bounds
from simulator.engine.text.json import JsonObject
from simulator.engine.text.strict import nearest
from simulator.kernel.dataclass import dataclass

Path: TypeAlias = "tuple[str | int, ...]"

MAX_REPORTED = 100
"""The maximum number of listed problems. Further problems are only counted."""
MAX_HINTS = 20
"""The maximum number of unknown names for which the nearest name is searched, because each search is slow."""

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
class Problem:
    """One problem or warning, with its position in the file."""

    path: str
    """The dotted path of the value."""
    line: int
    """The line number. Lines and columns start at 1."""
    column: int
    message: str
    within: Path = ()
    """The mapping that contains an unknown name or lacks a required one."""
    lacks: tuple[str, ...] = ()
    """The alternative names. The mapping must contain one of them."""
    meant: str = ""
    """The known name that the user probably meant."""

    def shown(self) -> FileProblem:
        return {"path": self.path, "line": self.line, "column": self.column, "message": self.message}


@dataclass
class Document:
    """A parsed file with its problems and warnings. The dictionaries of problems and warnings serve as ordered sets."""

    value: Any = None
    """The plain value, or None if the file cannot be read."""
    places: dict[Path, tuple[int, int]] = field(default_factory=dict)
    """Line and column of each value."""
    keys: dict[Path, tuple[int, int]] = field(default_factory=dict)
    """Line and column of each key."""
    problems: dict[Problem, None] = field(default_factory=dict)
    warnings: dict[Problem, None] = field(default_factory=dict)
    hints: int = MAX_HINTS
    """The remaining number of searches for the nearest name."""

    def place(self, path: Path, *, key: bool = False) -> tuple[int, int]:
        """Return the line and column of the value at a path, or of its nearest existing parent."""
        if key and path in self.keys:
            return self.keys[path]
        while path and path not in self.places:
            path = path[:-1]
        return self.places.get(path, (1, 1))

    def part(self, path: Path) -> Document:
        """Return the value at a path as a document. Line and column numbers still refer to the original file."""
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
        """Report a problem at a path."""
        self.add(Problem(dotted(path), *self.place(path, key=key), message))

    def warn(self, path: Path, message: str, *, key: bool = False) -> None:
        """Report something that is allowed but probably not intended."""
        if len(self.warnings) < MAX_REPORTED:
            self.warnings[Problem(dotted(path), *self.place(path, key=key), message)] = None

    def report_missing(self, within: Path, lacks: tuple[str, ...], message: str, path: Path | None = None) -> None:
        """Report at `path` (default: the mapping's) that a mapping contains none of the keys in `lacks`."""
        self.add(Problem(dotted(within if path is None else path), *self.place(within), message, within, lacks))

    def report_unknown(self, path: Path, message: str, meant: str) -> None:
        """Report an unknown key. `meant` is a valid key that resembles the unknown key, or ""."""
        self.add(Problem(dotted(path), *self.place(path, key=True), message, path[:-1], (), meant))

    def report_unknown_name(self, path: Path, names: Iterable[str], what: str, of: str = "") -> None:
        """Report an unknown key, and suggest the most similar name in `names`."""
        name = str(path[-1])
        meant = self.nearest(name, names)
        self.report_unknown(path, f"unknown {what} `{shortened(name)}`{of}{did_you_mean(meant)}", meant)

    def nearest(self, name: str, names: Iterable[str]) -> str:
        """Return the most similar name to suggest, or "". After `MAX_HINTS` calls, always return ""."""
        if not name or len(name) > _LONGEST_SHOWN or self.hints <= 0:
            return ""
        self.hints -= 1
        return nearest(name, names)

    def check_known(self, path: Path, name: object, known: Collection[str], what: str) -> None:
        """Report a string that is not a known name of this sort."""
        if isinstance(name, str) and name not in known:
            self.report(path, f"unknown {what} `{name}`{self.hint(name, known)}")

    def hint(self, name: str, names: Iterable[str]) -> str:
        """Return the end of a message, which suggests the most similar name. Return "" if there is no similar name."""
        return did_you_mean(self.nearest(name, names))

    def in_order(self) -> list[Problem]:
        """Return each problem once, in file order. At most `MAX_REPORTED` problems are returned."""
        # If a name is misspelt, the wrong name is unknown and the right one is missing. That is one mistake, so only
        # the unknown name is reported.
        meant = {(problem.within, problem.meant) for problem in self.problems if problem.meant}
        shown = [one for one in self.problems if not any((one.within, name) in meant for name in one.lacks)]
        shown.sort(key=lambda problem: (problem.line, problem.column))
        rest = shown[MAX_REPORTED:]
        if not rest:
            return shown
        return [*shown[:MAX_REPORTED], Problem("", rest[0].line, rest[0].column, f"and {len(rest):,} more problems")]


def did_you_mean(meant: str) -> str:
    return f"; did you mean `{meant}`?" if meant else ""


def dotted(path: Path) -> str:
    """Return a path as a string such as `rules[0].do[1].action`."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{shortened(part)}" if text else shortened(part)
    return text


def shortened(name: str) -> str:
    """Return a name, shortened for use in messages."""
    return name if len(name) <= _LONGEST_SHOWN else name[:_LONGEST_SHOWN] + "…"


def read(text: str, bounds: Bounds = FILE) -> Document:
    """Parse YAML or JSON. If the text is invalid or exceeds the bounds, the document has one problem and no value."""
    document = Document()
    if len(text) > bounds.size or len(text.encode("utf-8", "surrogatepass")) > bounds.size:
        document.add(Problem("", 1, 1, f"the file is larger than {_size(bounds.size)}"))
        return document
    if text.lstrip().startswith("{") and _is_json(text):
        # YAML rejects two things that JSON allows: tabs as indentation (JSON strings cannot contain raw tabs), and
        # characters written as surrogate pairs.
        text = _SURROGATES.sub(_letter, text.replace("\t", " "))
    reader = _Reader(document, bounds)
    try:
        reader.read(yaml.parse(text, Loader=_Parser))
    except _Refused as refused:
        document.value, ((line, column), why) = None, refused.args
        document.add(Problem("", line, column, why))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line, column = (1, 1) if mark is None else (mark.line + 1, mark.column + 1)
        why = error.problem or error.context or "it cannot be read"
        document.add(Problem("", line, column, f"not valid YAML: {why}{_unquoted(text, error)}"))
    except (yaml.reader.ReaderError, UnicodeEncodeError):
        line, column = _unprintable(text)
        document.add(Problem("", line, column, "not valid YAML: control characters are not allowed"))
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
    """Return the line and column of the first character that YAML does not allow."""
    found = _UNPRINTABLE.search(text)
    position = found.start() if found else 0
    return text.count("\n", 0, position) + 1, position - text.rfind("\n", 0, position)


def _unquoted(text: str, error: yaml.MarkedYAMLError) -> str:
    """Return a hint if a line has an unquoted `${…}`, whose brace YAML takes for the end of a mapping, otherwise ""."""
    lines = text.splitlines()
    for mark in (error.problem_mark, error.context_mark):
        if mark is not None and mark.line < len(lines) and (found := _PLAIN_REFERENCE.search(lines[mark.line])):
            return f'; write a string with ${{…}} in quotes inside {{ }} and [ ], as in "{found[1]}"'
    return ""


_PLAIN_REFERENCE = re.compile(r"""[\[{,:]\s*([^"'\s,{}\[\]]*\$\{[^"'\s,{}\[\]]*\}?)""")


class _Refused(Exception):
    """Raised with a place (line and column) and a reason if a document is refused."""


class _Node:
    """A YAML value with its position: a string, or a list of children (of a mapping: key, value, key, …)."""

    # Nodes do not refer to the parser's events. So many small live objects would lengthen garbage collection, and a
    # collection pauses every world in the process.

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
    """Converts parser events to nodes, and nodes to plain Python values, within the bounds."""

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
        """Build the nodes of a document, and return the root node. An alias is replaced with its node."""
        root: _Node | None = None
        within: list[_Node] = []
        documents = 0
        for event in events:
            if isinstance(event, yaml.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    raise _Refused(_start(event), "not valid YAML: a scenario file must have exactly one document")
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
                        raise _Refused(_start(event), f"the file is nested more than {MAX_DEPTH} levels deep")
        return root

    def _node(self, event: Any) -> _Node:
        if isinstance(event, yaml.AliasEvent):
            if event.anchor not in self._anchors:
                raise _Refused(_start(event), f"not valid YAML: undefined alias {shortened(event.anchor)!r}")
            return self._anchors[event.anchor]
        self._count += 1
        if self._count > 2 * self._most:  # keys are counted here, too
            raise _Refused(_start(event), self._too_many)
        tag = event.tag
        if tag not in (None, "!") and not (tag.startswith(_TAG) and tag.removeprefix(_TAG) in _TAGS):
            self._document.add(Problem("", *_start(event), f"unknown tag {shortened(tag)!r}"))
        node = _Node(event)
        if event.anchor is not None:
            self._anchors[event.anchor] = node
        return node

    @property
    def _too_many(self) -> str:
        return f"the file has more than {self._most:,} values"

    def _build(self, node: _Node, path: Path) -> Any:
        # Values are counted again, because a few nested aliases can expand to billions of values ("billion laughs").
        self._count += 1
        if self._count > self._most:
            raise _Refused(node.place, self._too_many)
        if len(path) > MAX_DEPTH:
            raise _Refused(node.place, f"the file is nested more than {MAX_DEPTH} levels deep")
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
                self._document.add(Problem(dotted(path), *named.place, "a key must be a string"))
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
            in_range = number in _INT64
        elif _FLOAT.fullmatch(text):
            number = float(text)
            in_range = abs(number) != float("inf")
        else:
            return text
        if not in_range:
            why = "the number has more than 64 bits; write it in quotes to use it as a string"
            self._document.report(path, why)
        return number if in_range else 0


def _start(event: Any) -> tuple[int, int]:
    return event.start_mark.line + 1, event.start_mark.column + 1
