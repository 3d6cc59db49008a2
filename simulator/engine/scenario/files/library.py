"""Scenario files that were read, and the scenarios of a process by name."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping
from dataclasses import field
from functools import cached_property
from pathlib import Path
from typing import NotRequired

from typing_extensions import TypedDict

from simulator.engine.scenario.language import schema
from simulator.engine.scenario.play.script import Script
from simulator.engine.text.json import JsonObject
from simulator.kernel.dataclass import dataclass

SUFFIXES = (".yaml", ".yml", ".json")


class FileProblem(TypedDict):
    """A problem as it is answered: lines and columns from 1; `file` where several were read."""

    path: str
    line: int
    column: int
    message: str
    file: NotRequired[str]


@dataclass(frozen=True)
class ScenarioFile:
    """A scenario that was read and found valid: the document as written, where it came from, and its lines.

    `lines` has the line (from 1) of every rule, timeline step, fault and entry of `world` by path (`rules[0]`); it is
    empty for a scenario that came inside another document.
    `text` is the file's own, with its comments; empty where only the document was kept.
    `warnings` are {path, line, column, message} of what is possible but probably not meant.
    """

    document: JsonObject
    source: str
    lines: Mapping[str, int]
    warnings: tuple[FileProblem, ...] = ()
    text: str = field(default="", compare=False)

    @property
    def name(self) -> str:
        name: str = self.document["name"]
        return name

    @property
    def description(self) -> str:
        description: str = self.document.get("description", "")
        return description

    @cached_property
    def script(self) -> Script:
        """What of it is carried out."""
        return Script.of(self.document)

    @cached_property
    def scenario(self) -> schema.Scenario:
        """All of it, by the models of the language; ValidationError."""
        return schema.Scenario.model_validate(self.document)

    def place(self, path: str) -> str:
        """`file:line` of a part; the file alone where the line is not known."""
        line = self.lines.get(path)
        return self.source if line is None else f"{self.source}:{line}"


class Library(MutableMapping[str, ScenarioFile]):
    """Scenarios by name. Of those that ship the names are known, and each is read when it is first asked for."""

    def __init__(
        self,
        files: Mapping[str, ScenarioFile] | None = None,
        shipped: Mapping[str, Callable[[], ScenarioFile]] | None = None,
    ) -> None:
        self._files: dict[str, ScenarioFile | Callable[[], ScenarioFile]] = {**(shipped or {}), **(files or {})}

    def __getitem__(self, name: str) -> ScenarioFile:
        found = self._files[name]
        if not isinstance(found, ScenarioFile):
            found = self._files[name] = found()
        return found

    def held(self, name: str) -> ScenarioFile | Callable[[], ScenarioFile]:
        """A scenario as it lies here, read or not: for `put_back`. KeyError."""
        return self._files[name]

    def put_back(self, name: str, held: ScenarioFile | Callable[[], ScenarioFile]) -> None:
        self._files[name] = held

    def __setitem__(self, name: str, file: ScenarioFile) -> None:
        self._files[name] = file

    def __delitem__(self, name: str) -> None:
        del self._files[name]

    def __contains__(self, name: object) -> bool:
        return name in self._files

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)


_NAME = re.compile(r"""^(?:name|\{?\s*"name")\s*:\s*["']?([\w.-]+)""", re.MULTILINE)


def names_in(paths: Iterable[Path]) -> list[str]:
    """The names that files give to their scenarios, so that they may hand over to each other before all are valid."""
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
    """The scenario files of a directory, in order."""
    return sorted(path for path in directory.iterdir() if path.suffix in SUFFIXES and path.is_file())


def source_of(path: Path) -> str:
    """How a shipped file is called in answers and messages."""
    return f"{path.parent.name}/{path.name}"
