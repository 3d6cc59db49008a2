"""The client for TypeScript as a package that npm installs from a running simulator."""

from __future__ import annotations

import gzip
import io
import tarfile
from functools import cache

from simulator.contract.files import contracts_directory
from simulator.engine.text.json import JsonObject, loads


@cache
def packed_client() -> bytes:
    """What `npm pack` makes of it: a gzipped archive, of the same bytes at any time."""
    directory = contracts_directory() / "clients" / "typescript"
    package: JsonObject = loads((directory / "package.json").read_bytes())
    named = [directory / "package.json", *(directory / name for name in package["files"])]
    files = [path for one in named for path in (sorted(one.iterdir()) if one.is_dir() else [one])]
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for path in files:
            entry = tarfile.TarInfo(f"package/{path.relative_to(directory).as_posix()}")
            entry.size = path.stat().st_size
            with path.open("rb") as content:
                archive.addfile(entry, content)
    return gzip.compress(packed.getvalue(), mtime=0)
