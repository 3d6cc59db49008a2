"""The shipped scenarios, which come with the simulator and are read on first use. Parsing and checking YAML takes
milliseconds, so each line of `contracts/scenarios.json` contains one compiled scenario and the hash of its file. If the
file was edited later, the file is parsed instead.
"""

from __future__ import annotations

from functools import partial
from hashlib import sha256
from pathlib import Path

import orjson

from simulator.engine.scenario.files import loader
from simulator.engine.scenario.files.library import Library, ScenarioFile, files_in, source_of
from simulator.engine.vocabulary.vocabulary import Vocabulary

COMPILED = "scenarios.json"


def shipped_directory() -> Path:
    """Return the directory of the shipped scenarios: inside an installed package, or next to it in a checkout."""
    return _data("scenarios")


def _data(name: str) -> Path:
    package = Path(__file__).resolve().parents[3]
    installed = package / "_data" / name
    return installed if installed.is_dir() else package.parent / name


def shipped_library(vocabulary: Vocabulary, directory: Path | None = None, compiled: Path | None = None) -> Library:
    """Return the library of shipped scenarios. The first use of an invalid one raises `ScenarioError`."""
    directory, compiled = directory or shipped_directory(), compiled or _data("contracts") / COMPILED
    paths = {path.stem: path for path in files_in(directory)}

    def load(path: Path) -> ScenarioFile:
        return _read_compiled(path, compiled) or loader.Loader(vocabulary).load_shipped(path, paths)

    return Library({name: partial(load, path) for name, path in paths.items()})


def line_of(path: Path, file: ScenarioFile) -> bytes:
    """Return the compiled form of a scenario file: its line in `scenarios.json`."""
    digest = sha256(path.read_bytes()).hexdigest()
    row = {"of": digest, "document": file.document, "lines": file.lines, "warnings": file.warnings}
    return b"%s:%s" % (orjson.dumps(path.stem), orjson.dumps(row))


def _read_compiled(path: Path, compiled: Path) -> ScenarioFile | None:
    """Return a shipped scenario from its compiled form, or None if the file was changed after it was compiled."""
    try:
        lines = compiled.read_bytes()
    except OSError:
        return None
    key = b"\n%s:" % orjson.dumps(path.stem)
    begin = lines.find(key)
    if begin < 0:
        return None
    line = lines[begin + len(key) : lines.find(b"\n", begin + 1)]
    row = orjson.loads(line.rstrip(b","))
    text = path.read_bytes()
    if row["of"] != sha256(text).hexdigest():
        return None
    return ScenarioFile(row["document"], source_of(path), row["lines"], tuple(row["warnings"]), text.decode())
