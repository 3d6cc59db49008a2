"""A PostgreSQL server for a test run, in its own directory, on a free port of loopback."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

LACKING = "PostgreSQL is not installed: `apt-get install --no-install-recommends postgresql`"


def programs() -> Path | None:
    """Return the directory of `initdb` and `postgres`, which Debian does not put on the path, or None."""
    found = shutil.which("initdb")
    places = [Path(found).resolve().parent] if found else []
    places += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((place for place in places if (place / "postgres").exists()), None)


def require() -> Path:
    """Return that directory. Without it, skip the test, or fail it if NEEDS_POSTGRES is set, as in CI."""
    place = programs()
    if place is None:
        (pytest.fail if os.environ.get("NEEDS_POSTGRES") else pytest.skip)(LACKING)
    return place


@contextmanager
def postgres(*settings: str) -> Iterator[str]:
    """Run a server for a block, and give its URL. A setting is written like `fsync=off`."""
    place = require()
    # It refuses to run as root, and cannot enter a directory of root's.
    user = "postgres" if os.geteuid() == 0 else None
    home = Path(tempfile.mkdtemp(prefix="rampsim-postgres-"))
    try:
        if user is not None:
            os.chown(home, pwd.getpwnam(user).pw_uid, -1)
        data, log = home / "data", home / "log"
        made: list[str | Path] = [
            place / "initdb",
            "-D",
            data,
            "-U",
            "rampsim",
            "-A",
            "trust",
            "-E",
            "UTF8",
            "--no-locale",
            "--no-sync",
        ]
        subprocess.run(made, user=user, cwd=home, check=True, capture_output=True)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        chosen = [
            "listen_addresses=127.0.0.1",
            f"port={port}",
            "unix_socket_directories=",
            "max_connections=200",
            *settings,
        ]
        command: list[str | Path] = [place / "postgres", "-D", data, *(part for one in chosen for part in ("-c", one))]
        with log.open("wb") as told:
            server = subprocess.Popen(command, user=user, cwd=home, stdout=told, stderr=subprocess.PIPE)
        try:
            assert server.stderr is not None
            lines = []
            for line in server.stderr:
                lines.append(line.decode(errors="replace"))
                if "ready to accept connections" in lines[-1]:
                    break
            else:
                raise AssertionError("".join(lines))
            drain = subprocess.Popen(["cat"], stdin=server.stderr, stdout=subprocess.DEVNULL)
            server.stderr.close()
            yield f"postgresql://rampsim@127.0.0.1:{port}/postgres"
        finally:
            server.send_signal(2)  # fast: it ends its sessions
            server.wait(20)
        drain.wait(20)
    finally:
        shutil.rmtree(home, ignore_errors=True)
