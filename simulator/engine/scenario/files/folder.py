"""Watched directories of scenario files. Their scenarios can be used like shipped scenarios. A file is reloaded when it
changes. If it is then invalid, the version that was loaded before stays active.
"""

# Changes are detected by polling sizes and times, because directories mounted into a container emit no notifications.

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from typing_extensions import TypedDict

from simulator.engine.scenario.files import loader
from simulator.engine.scenario.files.library import Library, Renewal, ScenarioFile, files_in, names_in
from simulator.engine.vocabulary.vocabulary import Vocabulary
from simulator.kernel.dataclass import dataclass

_Stamp: TypeAlias = tuple[int, int, int]


class FolderProblem(TypedDict):
    """A problem in a file of a watched directory."""

    file: str
    """The path of the file."""
    path: str
    """The path in the document; empty if the problem concerns the whole file."""
    line: int
    """The line number, starting at 1."""
    column: int
    """The column number, starting at 1."""
    message: str
    """A description of the problem."""


@dataclass(frozen=True)
class Reading:
    """The result of reading the watched directories. To apply the changes, pass the result to `Folder.take`."""

    stamps: Mapping[Path, _Stamp]
    files: Mapping[Path, ScenarioFile]
    problems: Mapping[Path, Sequence[FolderProblem]]


class Folder:
    """The scenario files in the watched directories, as of the last time they were read."""

    def __init__(self, directories: Iterable[Path], vocabulary: Vocabulary, library: Library) -> None:
        self._directories = tuple(directories)
        self._vocabulary = vocabulary
        self._library = library
        self._shipped = {name: library.unread(name) for name in library}
        self._last = Reading({}, {}, {})
        self._seen = self._present()

    @property
    def problems(self) -> list[FolderProblem]:
        """The problems that were found when the directories were last read, sorted by file."""
        return [problem for _, problems in sorted(self._last.problems.items()) for problem in problems]

    def has_changed(self) -> bool:
        """Return True if a file was added, deleted or written since the last reading. This method opens no files."""
        # If the state differs from that of the previous call, a file may be half written. In that case, the next call
        # reports the change.
        seen, self._seen = self._seen, self._present()
        stamps, troubles = self._seen
        known = {path: problems for path, problems in self._last.problems.items() if path in self._directories}
        return seen == self._seen and (stamps, troubles) != (self._last.stamps, known)

    def read(self) -> Reading:
        """Read changed files, and invalid files, because the scenarios that these refer to may exist now."""
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
                problems[path] = [_problem(path, f"cannot be read: {error.strerror or error}")]
            except loader.ScenarioError as error:
                shown = ({name: one[name] for name in ("path", "line", "column", "message")} for one in error.errors)
                problems[path] = [{"file": str(path), **one} for one in shown]  # type: ignore[typeddict-item]  # the fields of a problem except its file
        return Reading(stamps, files, problems)

    def take(self, reading: Reading) -> list[Renewal]:
        """Apply a reading to the library, which may restore shipped scenarios. Return the changed scenarios."""
        before = {file.name: file for file in self._last.files.values()}
        after = {file.name: file for file in reading.files.values()}
        self._last = reading
        renewals = []
        for name in dict.fromkeys((*before, *after)):
            if before.get(name) is after.get(name):
                continue
            if name in after:
                self._library[name] = after[name]
            elif name in self._shipped:
                self._library[name] = self._shipped[name]
            else:
                del self._library[name]
            renewals.append(Renewal(name, before.get(name), self._library.get(name)))
        return renewals

    def _present(self) -> tuple[dict[Path, _Stamp], dict[Path, Sequence[FolderProblem]]]:
        """Return the stamp of each file, and the problems of directories that cannot be read (their stamps are old)."""
        found: dict[Path, _Stamp] = {}
        troubles: dict[Path, Sequence[FolderProblem]] = {}
        for directory in self._directories:
            try:
                paths = files_in(directory)
            except OSError as error:
                troubles[directory] = [_problem(directory, f"cannot be read: {error.strerror or error}")]
                found |= {path: stamp for path, stamp in self._last.stamps.items() if path.parent == directory}
                continue
            for path in paths:
                try:
                    seen = path.stat()
                except OSError:
                    continue  # The file was deleted after the directory was listed.
                found[path] = (seen.st_mtime_ns, seen.st_size, seen.st_ino)
        return found, troubles

    def _read(self, path: Path, known: Sequence[str], files: Mapping[Path, ScenarioFile]) -> ScenarioFile:
        """Read a file. Raise `OSError`, or `ScenarioError` if it is invalid or its name is taken."""
        file = loader.Loader(self._vocabulary).load_file(path, known)
        other = next((at for at, one in files.items() if one.name == file.name and at != path), None)
        if other is not None:
            message = f"the scenario {file.name} is already defined in {other}"
            raise loader.ScenarioError([{"path": "name", "line": 1, "column": 1, "message": message}], str(path))
        return file


def _problem(path: Path, message: str) -> FolderProblem:
    return {"file": str(path), "path": "", "line": 1, "column": 1, "message": message}
