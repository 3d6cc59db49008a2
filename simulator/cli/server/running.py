"""Which servers run here: a note that `rampsim serve` keeps while it listens, by which other commands find it.

It lies in `.rampsim/servers`, beside the settings file, else at the root of the repository, else where the server was
started. Commands look there, and in the directories above them up to the root of the repository.
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
"""How long a server may take to accept a connection; on one machine that takes none."""


class Running(NamedTuple):
    """A server that has said that it listens."""

    url: str
    pid: int
    note: Path


@contextmanager
def noted(origin: str, settings_file: Path | None) -> Iterator[None]:
    """Keep the note of a server that listens at an origin. Where it cannot be written, there is none."""
    parts = urlsplit(origin)
    # One that listens everywhere is found on loopback.
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(parts.hostname or "", parts.hostname or "")
    url = f"http://[{host}]:{parts.port}" if ":" in host else f"http://{host}:{parts.port}"
    directory = _home(settings_file) / DIRECTORY
    note = directory / f"{parts.port}.json"
    text = json.dumps({"url": url, "pid": os.getpid()})
    with suppress(OSError):
        directory.mkdir(parents=True, exist_ok=True)
        (directory / ".gitignore").write_text("*\n", "utf-8")
        fresh = directory / f".{os.getpid()}"
        fresh.write_text(text, "utf-8")
        fresh.replace(note)
    try:
        yield
    finally:
        with suppress(OSError):
            if note.read_text("utf-8") == text:
                note.unlink()


def _home(settings_file: Path | None) -> Path:
    if settings_file is not None:
        return settings_file.absolute().parent
    here = Path.cwd()
    return next((directory for directory in upwards(here) if (directory / ".git").exists()), here)


def here() -> list[Running]:
    """The servers that were started here and still listen, by their addresses; notes of others are removed."""
    for directory in upwards(Path.cwd()):
        notes = sorted((directory / DIRECTORY).glob("*.json"))
        if found := [server for note in notes if (server := _read(note)) is not None]:
            return found
    return []


def _read(note: Path) -> Running | None:
    try:
        said = json.loads(note.read_text("utf-8"))
        server = Running(str(said["url"]), int(said["pid"]), note)
        guard.check_host(server.url)  # a note may have come along with a repository
    except (OSError, ValueError, KeyError, TypeError):
        return None
    if _lives(server.pid) and _listens(server.url):
        return server
    with suppress(OSError):
        note.unlink()
    return None


def _lives(pid: int) -> bool:
    if sys.platform == "win32":  # there that signal ends the process
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
