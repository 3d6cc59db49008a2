"""Registry of running servers.

When `rampsim serve` starts, it writes its address to a note file, which other commands read. The file is in the
directory `.rampsim/servers`. This directory is next to the settings file if there is one. Otherwise it is at the root
of the repository or, outside a repository, in the working directory. Commands search their directory and the
directories above, up to the root of the repository.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from simulator.cli.server.settings_file import upwards
from simulator.engine.clients import guard

DIRECTORY = Path(".rampsim") / "servers"
_SECONDS = 1.0
"""The time limit for connecting. On the same machine, connecting is immediate."""


class Running(NamedTuple):
    """The data in the note file of a running server."""

    url: str
    pid: int
    note: Path


@contextmanager
def noted(origin: str, settings_file: Path | None) -> Iterator[None]:
    """Write the note file of a server, and delete it at the end of the `with` block. Ignore errors while writing."""
    parts = urlsplit(origin)
    # A server that listens on all addresses can be reached on loopback.
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(parts.hostname or "", parts.hostname or "")
    url = f"http://[{host}]:{parts.port}" if ":" in host else f"http://{host}:{parts.port}"
    where = directory(settings_file)
    note = where / f"{parts.port}.json"
    text = json.dumps({"url": url, "pid": os.getpid()})
    with suppress(OSError):
        where.mkdir(parents=True, exist_ok=True)
        (where / ".gitignore").write_text("*\n", "utf-8")
        fresh = where / f".{os.getpid()}"
        fresh.write_text(text, "utf-8")
        fresh.replace(note)
    try:
        yield
    finally:
        with suppress(OSError):
            if note.read_text("utf-8") == text:
                note.unlink()


def directory(settings_file: Path | None) -> Path:
    """Return the directory for note files about servers that are started in the working directory."""
    if settings_file is not None:
        return settings_file.absolute().parent / DIRECTORY
    here = Path.cwd()
    return next((above for above in upwards(here) if (above / ".git").exists()), here) / DIRECTORY


def here() -> list[Running]:
    """Return the running servers of this directory or its repository. Delete note files of servers that have ended."""
    for above in upwards(Path.cwd()):
        notes = sorted((above / DIRECTORY).glob("*.json"))
        if found := [server for note in notes if (server := _read(note)) is not None]:
            return found
    return []


def _read(note: Path) -> Running | None:
    try:
        said = json.loads(note.read_text("utf-8"))
        server = Running(str(said["url"]), int(said["pid"]), note)
        guard.check_host(server.url)  # a cloned repository may contain a malicious note
    except (OSError, ValueError, KeyError, TypeError):
        return None
    if _is_alive(server.pid) and _listens(server.url):
        return server
    with suppress(OSError):
        note.unlink()
    return None


def _is_alive(pid: int) -> bool:
    if sys.platform == "win32":  # on Windows, signal 0 ends the process
        return True
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True
    return True


def _listens(url: str) -> bool:
    import socket

    parts = urlsplit(url)
    try:
        with socket.create_connection((parts.hostname or "", parts.port or 80), _SECONDS):
            return True
    except (OSError, ValueError):
        return False
