"""`rampsim serve --detach` starts a server in the background. `rampsim stop` stops servers that were started in this
directory or its repository.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import click

from simulator.cli.options import option
from simulator.cli.output import Exit, fail, say
from simulator.cli.server import running, settings, settings_file
from simulator.engine.clients.address import DEFAULT_URL

_ROOT = Path(__file__).resolve().parents[3]
_PROGRAM = f"import sys; sys.path.append({str(_ROOT)!r}); from simulator.cli import main; main(prog_name='rampsim')"
"""The code to run with `python -P -c`. -P excludes the working directory, which may have a package `simulator`."""
_READY = "Ready on "
_EVERY_SECONDS = 0.02
_START_SECONDS = 60.0
_STOP_SECONDS = 20.0


def start_detached(settings_file: Path | None) -> None:
    """Start this command again in the background, without --detach.

    Print the server's address once the server is ready. The server's output is written to a file in the directory for
    running servers (`.rampsim/servers`). If the server does not start, print the output and exit with the server's exit
    code.
    """
    directory = running.directory(settings_file)
    try:
        directory.mkdir(parents=True, exist_ok=True)
        number, name = tempfile.mkstemp(suffix=".log", dir=directory)
    except OSError as error:
        fail(f"--detach: cannot write to {directory}: {error.strerror or error}")
    log = Path(name)
    arguments = [one for one in sys.argv[1:] if one != "--detach"]
    environment = {name: value for name, value in os.environ.items() if name != "SIMULATOR_DETACH"}
    with os.fdopen(number, "wb") as output:
        server = subprocess.Popen(
            [sys.executable, "-P", "-c", _PROGRAM, *arguments],
            stdin=subprocess.DEVNULL, stdout=output, stderr=output, env=environment, start_new_session=True,
        )  # fmt: skip
    until = time.monotonic() + _START_SECONDS
    while (url := _address_in(log)) is None:
        if server.poll() is not None:
            say(log.read_text("utf-8", "replace").rstrip("\n"), err=True)
            log.unlink()
            sys.exit(server.returncode or Exit.REFUSED)
        if time.monotonic() > until:
            server.terminate()
            fail(f"the server was not ready after {_START_SECONDS:g} s; its output is in {log}", code=Exit.UNREACHABLE)
        time.sleep(_EVERY_SECONDS)
    say(url)
    say(f"Output: {log}. Stop the server with `rampsim stop`.", err=True)


def _address_in(log: Path) -> str | None:
    lines = log.read_text("utf-8", "replace").splitlines()
    return next((line.removeprefix(_READY) for line in lines if line.startswith(_READY)), None)


@click.command()
@option("--all", "every", is_flag=True, help="Stop all servers that were started here.")
@settings.CLIENT[0].option()
@settings_file.config_option(settings.CLIENT)
def stop(every: bool, url: str | None) -> None:
    """Stop the server that was started here.

    Here means in this directory or its repository. Only servers that `rampsim serve` started are found. If there are
    several, choose one with --url, or use --all.
    """
    servers = running.here()
    if url and not every:
        servers = [server for server in servers if server.url == url.rstrip("/")]
        if not servers:
            fail(
                f"no server at {url} was started here; stop it in the directory where it was started",
                code=Exit.UNREACHABLE,
            )
    if not servers:
        fail("no server was started here", code=Exit.UNREACHABLE)
    if len(servers) > 1 and not every:
        listed = ", ".join(server.url for server in servers)
        fail(f"several servers run here ({listed}); choose one with --url {DEFAULT_URL}, or use --all")
    for server in servers:
        _stop(server)
        say(f"Stopped {server.url}")


def _stop(server: running.Running) -> None:
    """End a server's process, and wait until the server has removed its note file, which is its last step."""
    try:
        os.kill(server.pid, signal.SIGTERM)
    except OSError as error:
        fail(f"cannot stop process {server.pid} of {server.url}: {error.strerror or error}", code=Exit.REFUSED)
    until = time.monotonic() + _STOP_SECONDS
    while server.note.exists():
        if time.monotonic() > until:
            fail(f"process {server.pid} of {server.url} is still running after {_STOP_SECONDS:g} s", code=Exit.REFUSED)
        time.sleep(_EVERY_SECONDS)
