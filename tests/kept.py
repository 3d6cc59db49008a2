"""A cache for expensive values that depend only on the sources. It is shared by all processes and runs.

The file name contains a digest of everything that the value depends on, so a file is never outdated, and a changed
source creates a new value. If several processes need a missing value at the same time, one creates it and the others
wait.
"""

from __future__ import annotations

import fcntl
import os
import pickle
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import TypeVar, cast

from tests.places import ROOT

DIRECTORY = ROOT / ".pytest_cache" / "kept"
SOURCES = tuple(ROOT / name for name in ("simulator", "scenarios", "contracts", "requirements.lock"))
_BESIDE = ("__pycache__", "node_modules")
_DIGEST_SIZE = sha256().digest_size

T = TypeVar("T")


def kept(name: str, make: Callable[[], T], *, sources: Iterable[Path] = SOURCES, directory: Path = DIRECTORY) -> T:
    """The value that `make` gives for these sources: from its file, or made now. `name` is one word."""
    file = directory / f"{name}-{digest(sources)}.pickle"
    held = _read(file)
    if held:
        return cast(T, held[0])
    directory.mkdir(parents=True, exist_ok=True)
    with (directory / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        held = _read(file)
        if held:
            return cast(T, held[0])
        value = make()
        _write(file, value)
        for older in directory.glob(f"{name}-*.pickle"):
            if older != file:
                older.unlink(missing_ok=True)
    return value


def forget(directory: Path = DIRECTORY) -> None:
    """Throw away all that is kept: a run that measures coverage has to see how it is made."""
    for file in directory.glob("*.pickle"):
        file.unlink(missing_ok=True)


def digest(sources: Iterable[Path]) -> str:
    """One word for the contents of files and folders, and for the Python that reads them."""
    found = sha256(sys.version.encode())
    for source in sources:
        for path in sorted(_files(source)):
            raw = path.read_bytes()
            found.update(f"{path.relative_to(source.parent)} {len(raw)}\n".encode() + raw)
    return found.hexdigest()[:32]


def _files(source: Path) -> Iterator[Path]:
    if source.is_file():
        yield source
    for folder, folders, names in os.walk(source):
        folders[:] = [name for name in folders if name not in _BESIDE]
        yield from (Path(folder, name) for name in names)


def _read(file: Path) -> tuple[object] | None:
    """Return the content of a file, or None if it is missing or incomplete."""
    try:
        raw = file.read_bytes()
    except FileNotFoundError:
        raw = b""
    stored = raw[_DIGEST_SIZE:]
    if not stored or sha256(stored).digest() != raw[:_DIGEST_SIZE]:
        return None
    return (pickle.loads(stored),)


def _write(file: Path, value: object) -> None:
    """Write the file atomically: rename it when it is complete."""
    stored = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    with tempfile.NamedTemporaryFile(dir=file.parent, prefix=f".{file.stem}-", delete=False) as fresh:
        fresh.write(sha256(stored).digest() + stored)
    Path(fresh.name).replace(file)
