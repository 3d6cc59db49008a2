"""The scenarios that ship: known by the names of their files, and read when they are asked for.

YAML takes milliseconds a file to read and to judge, so what came of that ships too, in `contracts/scenarios.json`, one
scenario a line. A line counts for a file of exactly these bytes: one that was edited since is read itself.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from hashlib import sha256
from pathlib import Path

import orjson

from simulator.engine.rows.vocabulary import Vocabulary
from simulator.engine.scenario.files import loader
from simulator.engine.scenario.files.library import Library, ScenarioFile, files_in, source_of

READ = "scenarios.json"


def shipped_directory() -> Path:
    """Where the scenarios lie that ship with the package: beside it in a checkout, inside it when installed."""
    return _data("scenarios")


def _data(name: str) -> Path:
    package = Path(__file__).resolve().parents[3]
    installed = package / "_data" / name
    return installed if installed.is_dir() else package.parent / name


def shipped_library(vocabulary: Vocabulary, directory: Path | None = None, read: Path | None = None) -> Library:
    """The scenarios that ship, by name; whoever asks for one that is broken gets a ScenarioError."""
    directory, read = directory or shipped_directory(), read or _data("contracts") / READ
    paths = {path.stem: path for path in files_in(directory)}

    def judged(path: Path) -> ScenarioFile:
        return _read_before(path, read) or loader.Loader(vocabulary).load_shipped(path, paths)

    shipped: dict[str, Callable[[], ScenarioFile]] = {name: partial(judged, path) for name, path in paths.items()}
    return Library(shipped=shipped)


def line_of(path: Path, file: ScenarioFile) -> bytes:
    """A file that was read, as a line of `scenarios.json`."""
    kept = {
        "of": sha256(path.read_bytes()).hexdigest(),
        "document": file.document,
        "lines": file.lines,
        "warnings": file.warnings,
    }
    return b"%s:%s" % (orjson.dumps(path.stem), orjson.dumps(kept))


def _read_before(path: Path, read: Path) -> ScenarioFile | None:
    """What came of a file when it was read before; None when it has changed since, or was not."""
    try:
        lines = read.read_bytes()
    except OSError:
        return None
    key = b"\n%s:" % orjson.dumps(path.stem)
    begin = lines.find(key)
    if begin < 0:
        return None
    line = lines[begin + len(key) : lines.find(b"\n", begin + 1)]
    kept = orjson.loads(line.rstrip(b","))
    text = path.read_bytes()
    if kept["of"] != sha256(text).hexdigest():
        return None
    return ScenarioFile(kept["document"], source_of(path), kept["lines"], tuple(kept["warnings"]), text.decode())
