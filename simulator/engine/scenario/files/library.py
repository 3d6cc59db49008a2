"""Parsed scenario files, and the library: a mapping of all scenarios that a process has loaded, by name."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping
from dataclasses import field
from functools import cached_property
from pathlib import Path

from typing_extensions import TypedDict

from simulator.engine.scenario.language import schema
from simulator.engine.scenario.play.script import Script
from simulator.engine.text.json import JsonObject
from simulator.kernel.dataclass import dataclass
from simulator.kernel.patterns import compile_late

SUFFIXES = (".yaml", ".yml", ".json")


class FileProblem(TypedDict):
    """A problem or warning in a scenario file."""

    path: str
    """The path in the document."""
    line: int
    """The line number, starting at 1."""
    column: int
    """The column number, starting at 1."""
    message: str
    """The warning message."""


@dataclass(frozen=True)
class ScenarioFile:
    """A valid scenario."""

    document: JsonObject
    source: str
    """The file name, or `uploaded` for an uploaded scenario."""
    lines: Mapping[str, int]
    """The line number of each rule, timeline step, fault and `world` entry, by path such as `rules[0]`, if known."""
    warnings: tuple[FileProblem, ...] = ()
    text: str = field(default="", compare=False)
    """The text of the file, including comments. Empty if only the parsed document was saved."""

    @property
    def name(self) -> str:
        return str(self.document["name"])

    @property
    def description(self) -> str:
        return str(self.document.get("description", ""))

    @cached_property
    def script(self) -> Script:
        return Script.of(self.document)

    @cached_property
    def scenario(self) -> schema.Scenario:
        """The document as pydantic models. Raises `ValidationError` if the document is invalid."""
        return schema.Scenario.model_validate(self.document)

    def place(self, path: str) -> str:
        """Return `file:line` for the value at a path in the document, or only the file if the line is unknown."""
        line = self.lines.get(path)
        return self.source if line is None else f"{self.source}:{line}"


@dataclass(frozen=True)
class Renewal:
    """A scenario whose file changed: `before` is None if it is new, and `after` is None if it was deleted."""

    name: str
    before: ScenarioFile | None
    after: ScenarioFile | None


class Library(MutableMapping[str, ScenarioFile]):
    """The scenarios of a process by name. A shipped scenario is read when it is first used."""

    def __init__(self, files: Mapping[str, ScenarioFile | Callable[[], ScenarioFile]] = {}) -> None:
        self._files = dict(files)
        self.version = 0
        """A number that grows when a scenario is added, replaced or deleted."""

    def __getitem__(self, name: str) -> ScenarioFile:
        found = self._files[name]
        if not isinstance(found, ScenarioFile):
            found = self._files[name] = found()
        return found

    def unread(self, name: str) -> ScenarioFile | Callable[[], ScenarioFile]:
        """Return an entry without reading its file, to restore it later. Raise `KeyError` if there is none."""
        return self._files[name]

    def __setitem__(self, name: str, file: ScenarioFile | Callable[[], ScenarioFile]) -> None:
        self._files[name] = file
        self.version += 1

    def __delitem__(self, name: str) -> None:
        del self._files[name]
        self.version += 1

    def __contains__(self, name: object) -> bool:
        return name in self._files

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)


_NAME = compile_late(r"""^(?:name|\{?\s*"name")\s*:\s*["']?([\w.-]+)""", re.MULTILINE)


def names_in(paths: Iterable[Path]) -> list[str]:
    """Return the names of the scenarios in files that refer to each other. The files may be invalid."""
    names = []
    for path in paths:
        try:
            found = _NAME.search(path.read_text("utf-8-sig"))
        except (OSError, UnicodeDecodeError):
            continue
        if found is not None:
            names.append(found[1])
    return names


def files_in(directory: Path) -> list[Path]:
    """Return the paths of the scenario files in a directory, sorted by name."""
    return sorted(path for path in directory.iterdir() if path.suffix in SUFFIXES and path.is_file())


def source_of(path: Path) -> str:
    """Return the path of a shipped scenario file as shown in responses and messages: `DIRECTORY/FILE`."""
    return f"{path.parent.name}/{path.name}"
