"""Directories of scenario files: each file is known like those that ship, and read again when it has changed.

Whether one has changed is seen by its size and times alone, for directories that are mounted into a container tell
nobody of changes. What is read anew and is not valid leaves in force what was there.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TypeAlias

from typing_extensions import TypedDict

from simulator.kernel.dataclass import dataclass
from simulator.scenario import loader
from simulator.scenario.files import Library, ScenarioFile, files_in, names_in
from simulator.wire.actions import ActionTable

_Stamp: TypeAlias = tuple[int, int, int]


class FolderProblem(TypedDict):
    """What is wrong with a file of a directory of scenarios; lines and columns from 1."""

    file: str
    """The file."""
    path: str
    """The place in the document; empty for the file as a whole."""
    line: int
    """Its line, from 1."""
    column: int
    """Its column, from 1."""
    message: str
    """What is wrong."""


@dataclass(frozen=True)
class Renewal:
    """What became of a file: the scenario of this name before (None: there was none) and now (None: there is none)."""

    name: str
    before: ScenarioFile | None
    after: ScenarioFile | None


class Folder:
    """The scenario files of some directories, as they were read last."""

    def __init__(self, directories: Iterable[Path], actions: ActionTable, library: Library) -> None:
        self._directories = tuple(directories)
        self._actions = actions
        self._library = library
        self._shipped = {name: library.held(name) for name in library}
        self._stamps: dict[Path, _Stamp] = {}
        self._files: dict[Path, ScenarioFile] = {}
        self._problems: dict[Path, list[FolderProblem]] = {}

    @property
    def problems(self) -> list[FolderProblem]:
        """What is wrong with the files as they lie there now, in the order of the files."""
        return [problem for path in sorted(self._problems) for problem in self._problems[path]]

    def has_changed(self) -> bool:
        """Whether a file came, went or was written since the last look; nothing is read for that."""
        return self._present() != self._stamps

    def look(self) -> list[Renewal]:
        """Read what has changed since the last look, and put it into the library; what became of it."""
        present, before = self._present(), dict(self._files)
        changed = [path for path, stamp in present.items() if self._stamps.get(path) != stamp]
        gone = [path for path in self._stamps if path not in present]
        self._stamps = present
        for path in gone:
            self._files.pop(path, None)
            self._problems.pop(path, None)
        known = [*self._library, *names_in(present)]
        for path in changed:
            self._read(path, known)
        return self._put(before)

    def _present(self) -> dict[Path, _Stamp]:
        found: dict[Path, _Stamp] = {}
        for directory in self._directories:
            try:
                paths = files_in(directory)
            except OSError as error:
                self._tell(directory, [_problem(directory, f"it cannot be read: {error.strerror or error}")])
                continue
            self._problems.pop(directory, None)
            for path in paths:
                try:
                    seen = path.stat()
                except OSError:
                    continue  # gone meanwhile
                found[path] = (seen.st_mtime_ns, seen.st_size, seen.st_ino)
        return found

    def _read(self, path: Path, known: Sequence[str]) -> None:
        try:
            file = loader.Loader(self._actions).load_file(path, known)
        except OSError as error:
            self._tell(path, [_problem(path, f"it cannot be read: {error.strerror or error}")])
        except loader.ScenarioError as error:
            shown = ({name: one[name] for name in ("path", "line", "column", "message")} for one in error.errors)
            self._tell(path, [{"file": str(path), **one} for one in shown])  # type: ignore[typeddict-item]
        else:
            other = next((at for at, one in self._files.items() if one.name == file.name and at != path), None)
            if other is not None:
                self._tell(path, [_problem(path, f"the scenario {file.name} is in {other} already", "name")])
                return
            self._problems.pop(path, None)
            self._files[path] = file

    def _tell(self, path: Path, problems: list[FolderProblem]) -> None:
        self._problems[path] = problems

    def _put(self, before: dict[Path, ScenarioFile]) -> list[Renewal]:
        """Bring the library in line with the files; a scenario that ships comes back when the one that hid it goes."""
        was = {file.name: file for file in before.values()}
        now = {file.name: file for file in self._files.values()}
        renewals = []
        for name in dict.fromkeys((*was, *now)):
            if was.get(name) is now.get(name):
                continue
            if name in now:
                self._library[name] = now[name]
            elif name in self._shipped:
                self._library.put_back(name, self._shipped[name])
            else:
                del self._library[name]
            renewals.append(Renewal(name, was.get(name), self._library.get(name)))
        return renewals


def _problem(path: Path, message: str, part: str = "") -> FolderProblem:
    return {"file": str(path), "path": part, "line": 1, "column": 1, "message": message}


def told(problem: FolderProblem) -> str:
    """A problem as a line: `FILE:LINE:COLUMN: path: what is wrong`."""
    part = f"{problem['path']}: " if problem["path"] else ""
    return f"{problem['file']}:{problem['line']}:{problem['column']}: {part}{problem['message']}"
