"""Directories of scenario files: each file is known like those that ship, and read again when it has changed.

Whether one has changed is seen by its size and times alone, for directories that are mounted into a container tell
nobody of changes. What is read anew and is not valid leaves in force what was there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from typing_extensions import TypedDict

from simulator.engine.rows.vocabulary import Vocabulary
from simulator.engine.scenario.files import loader
from simulator.engine.scenario.files.library import Library, ScenarioFile, files_in, names_in
from simulator.kernel.dataclass import dataclass

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


@dataclass(frozen=True)
class Reading:
    """The directories as they were found, and what was read of their files; nothing has come of it yet."""

    stamps: Mapping[Path, _Stamp]
    files: Mapping[Path, ScenarioFile]
    problems: Mapping[Path, Sequence[FolderProblem]]


class Folder:
    """The scenario files of some directories, as they were read last."""

    def __init__(self, directories: Iterable[Path], vocabulary: Vocabulary, library: Library) -> None:
        self._directories = tuple(directories)
        self._vocabulary = vocabulary
        self._library = library
        self._shipped = {name: library.held(name) for name in library}
        self._last = Reading({}, {}, {})
        self._seen = self._present()

    @property
    def problems(self) -> list[FolderProblem]:
        """What is wrong with the files as they lie there now, in the order of the files."""
        return [problem for _, problems in sorted(self._last.problems.items()) for problem in problems]

    def has_changed(self) -> bool:
        """Whether a file came, went or was written since the last reading; nothing is read for that.

        What differs from one call to the next is still being written, or replaced, and has not changed yet.
        """
        seen, self._seen = self._seen, self._present()
        stamps, troubles = self._seen
        known = {path: problems for path, problems in self._last.problems.items() if path in self._directories}
        return seen == self._seen and (stamps, troubles) != (self._last.stamps, known)

    def look(self) -> list[Renewal]:
        """Read what has changed, and put it into the library; what became of it."""
        return self.take(self.read())

    def read(self) -> Reading:
        """Read what has changed since the last reading, and what was wrong there: it may be right among other files."""
        stamps, troubles = self._present()
        files = {path: file for path, file in self._last.files.items() if path in stamps}
        problems: dict[Path, Sequence[FolderProblem]] = dict(troubles)
        known = [*self._library, *names_in(stamps)]
        for path, stamp in stamps.items():
            if self._last.stamps.get(path) == stamp and path not in self._last.problems:
                continue
            try:
                files[path] = self._read(path, known, files)
            except OSError as error:
                problems[path] = [_problem(path, f"it cannot be read: {error.strerror or error}")]
            except loader.ScenarioError as error:
                shown = ({name: one[name] for name in ("path", "line", "column", "message")} for one in error.errors)
                problems[path] = [{"file": str(path), **one} for one in shown]  # type: ignore[typeddict-item]  # the members of a problem but its file
        return Reading(stamps, files, problems)

    def take(self, reading: Reading) -> list[Renewal]:
        """Bring the library in line with it; a scenario that ships comes back when the one that hid it goes."""
        was = {file.name: file for file in self._last.files.values()}
        now = {file.name: file for file in reading.files.values()}
        self._last = reading
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

    def _present(self) -> tuple[dict[Path, _Stamp], dict[Path, Sequence[FolderProblem]]]:
        """The files that are there, and directories that cannot be read: their files are taken to be as they were."""
        found: dict[Path, _Stamp] = {}
        troubles: dict[Path, Sequence[FolderProblem]] = {}
        for directory in self._directories:
            try:
                paths = files_in(directory)
            except OSError as error:
                troubles[directory] = [_problem(directory, f"it cannot be read: {error.strerror or error}")]
                found |= {path: stamp for path, stamp in self._last.stamps.items() if path.parent == directory}
                continue
            for path in paths:
                try:
                    seen = path.stat()
                except OSError:
                    continue  # gone meanwhile
                found[path] = (seen.st_mtime_ns, seen.st_size, seen.st_ino)
        return found, troubles

    def _read(self, path: Path, known: Sequence[str], files: Mapping[Path, ScenarioFile]) -> ScenarioFile:
        """A file; OSError, ScenarioError, which is also for one whose scenario another file has."""
        file = loader.Loader(self._vocabulary).load_file(path, known)
        other = next((at for at, one in files.items() if one.name == file.name and at != path), None)
        if other is not None:
            message = f"the scenario {file.name} is in {other} already"
            raise loader.ScenarioError([{"path": "name", "line": 1, "column": 1, "message": message}], str(path))
        return file


def _problem(path: Path, message: str) -> FolderProblem:
    return {"file": str(path), "path": "", "line": 1, "column": 1, "message": message}


def told(problem: FolderProblem) -> str:
    """A problem as a line: `FILE:LINE:COLUMN: path: what is wrong`."""
    part = f"{problem['path']}: " if problem["path"] else ""
    return f"{problem['file']}:{problem['line']}:{problem['column']}: {part}{problem['message']}"
