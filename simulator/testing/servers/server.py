"""Servers for tests: starting a server in its own process, sharing a server, and creating worlds on it."""

from __future__ import annotations

import atexit
import contextlib
import logging
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import IO, Any

from simulator.engine.clients.address import CONTROL_BASE
from simulator.engine.text.json import JsonObject
from simulator.testing import explored
from simulator.testing.errors import SimulatorError
from simulator.testing.given import Scenario, scenario_file, timestamp
from simulator.testing.links.http_link import HttpLink
from simulator.testing.links.link import Link
from simulator.testing.worlds import World

START = "2026-01-05T08:00:00.000Z"
"""The start time of worlds that the test kit creates, regardless of the server's flags."""
_START_SECONDS = 60.0
_STOP_SECONDS = 6.0


Flag = str | float | bool | Path | Sequence[str | Path] | None
"""The value of a `rampsim serve` flag: a bool for a switch, several values for a flag that can be repeated."""


class Server:
    """A running simulator that creates worlds. `stop` stops the server if it was started for the tests."""

    def __init__(
        self, link: Link, stop: Callable[[], None] | None = None, *, observed: Sequence[Path] | None = None
    ) -> None:
        """`observed`: files with observations of the real service. Worlds use them to set their assumptions. The
        default is the files in SIMULATOR_OBSERVED.
        """
        self.link = link
        self._stop = stop
        self._observed = observed

    @property
    def url(self) -> str:
        """The origin, such as `http://127.0.0.1:8642`."""
        return self.link.url

    @property
    def control_url(self) -> str:
        """The base URL of the control API."""
        return self.link.url + CONTROL_BASE

    def new_world(
        self,
        *,
        clock: str | date | Mapping[str, object] | None = None,
        scenarios: Scenario | Sequence[Scenario] = (),
        **body: object,
    ) -> World:
        """Create a world with no active scenario, a manual clock at 2026-01-05T08:00:00Z and seed 1.

        The fields of `POST /_simulator/worlds` override these defaults: `id`, `seed`, `clock`, `scenarios`,
        `settings`, … SIMULATOR_ASSUME sets assumptions that `settings` does not set. `clock` can also be a time (a
        string, `date` or `datetime`), `scenarios` can contain paths of files, and `observed` can be the path of an
        observed file, or a list of paths. Raises SimulatorError if the server refuses the request or a file is invalid.
        """
        given = [scenarios] if isinstance(scenarios, str | Path | Mapping) else list(scenarios)
        has_files = any(not isinstance(one, Mapping) and scenario_file(one) is not None for one in given)
        seed = {} if explored.is_at(self.url) else {"seed": 1}  # explore sets the seed
        begins: Mapping[str, object] = {**seed, "clock": {"mode": "manual", "now": START, **_clock(clock)}}
        if "from_snapshot" in body:  # the snapshot determines everything except the scenarios
            begins = {} if clock is None else {"clock": _clock(clock)}
        body = {**begins, **self._observing(_assuming(body)), "scenarios": [] if has_files else given}
        world = World(self.link, self.link.control("POST", "/worlds", body), self)
        if has_files:
            try:
                world.begin_with(*given)
            except BaseException:
                world.delete()
                raise
        return world

    def _observing(self, body: dict[str, object]) -> dict[str, object]:
        """Return the body, with the path of each observed file replaced by the file's content."""
        given = body.get("observed", self._observed)
        if "from_snapshot" in body and "observed" not in body:
            return body
        if given is None:
            given = [Path(name) for name in os.environ.get("SIMULATOR_OBSERVED", "").split()]
        paths = [given] if isinstance(given, str | Path) else given
        if not isinstance(paths, Sequence) or not all(isinstance(one, str | Path) for one in paths):
            return body  # `observed` is the parsed content of a file
        return {**body, "observed": observed_documents(tuple(map(Path, paths)))} if paths else body

    def stop(self) -> None:
        """Stop the server if it was started for the tests, and close its connections."""
        self.link.close()
        if self._stop is not None:
            self._stop()

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


@cache
def observed_documents(paths: tuple[Path, ...]) -> list[JsonObject]:
    """Return the contents of observed files. Raises SimulatorError for an invalid file, and warns of an old file."""
    files = import_module("simulator.evidence.observed")
    try:
        found = files.read_files(paths, import_module("simulator.service").TOOLING.alternatives())
    except files.BadObserved as error:
        raise SimulatorError(f"The observed file {error}") from None
    for warning in files.warnings_of(found):
        logging.getLogger("rampsim").warning("%s", warning)
    return [one.document for one in found]


def _assuming(body: dict[str, object]) -> dict[str, object]:
    """Return the body with the assumptions from SIMULATOR_ASSUME (`ID=ALTERNATIVE …`). Values in the body take
    precedence.
    """
    said = os.environ.get("SIMULATOR_ASSUME", "").split()
    settings = body.get("settings") or {}
    if not said or "from_snapshot" in body or not isinstance(settings, Mapping):
        return body
    assumptions = {**dict(text.partition("=")[::2] for text in said), **settings.get("assumptions", {})}
    return {**body, "settings": {**settings, "assumptions": assumptions}}


def _clock(given: str | date | Mapping[str, object] | None) -> Mapping[str, object]:
    """Return the `clock` field for a body. An object is returned unchanged, a time becomes `now`, a date midnight."""
    if given is None:
        return {}
    return given if isinstance(given, Mapping) else {"now": timestamp(given)}


class Process:
    """A server in its own process. It stops when this process ends for any reason, because the pipe to its standard
    input closes. `url` is its origin.
    """

    def __init__(self, flags: Mapping[str, Flag], program: str = "simulator.cli") -> None:
        """Start a server on a free loopback port with a manual clock, and wait until it accepts connections.

        `flags` are the flags of `rampsim serve` with underscores. `program` is the module whose `main` runs the server.
        Raises SimulatorError with the server's output if it does not start.
        """
        self._words: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  `close` closes it
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", _program(program), "serve", "--end-with-stdin", *_arguments(flags)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._words,
        )
        hung = threading.Timer(_START_SECONDS, self._process.kill)
        hung.daemon = True
        hung.start()
        try:
            self.url = self._ready()
        finally:
            hung.cancel()

    @property
    def pid(self) -> int:
        return self._process.pid

    def _ready(self) -> str:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.startswith(b"Ready on "):
                return line.removeprefix(b"Ready on ").strip().decode()
        self._process.wait()
        self._words.seek(0)
        words = self._words.read().decode("utf-8", "replace").strip()
        self.close()
        raise SimulatorError(
            f"The simulator did not start. Its output:\n{words or f'(nothing within {_START_SECONDS:g} s)'}"
        )

    def close(self) -> None:
        """Stop the server. Does nothing if it has stopped."""
        process = self._process
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        try:
            process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        self._words.close()


_ROOT = Path(__file__).resolve().parents[3]


def _program(module: str) -> str:
    """Return Python code that runs `main` of a module. The flag -P excludes the test directory, which may contain
    another `simulator`, from the module search path. This code adds the project's root directory.
    """
    return f"import sys; sys.path.append({str(_ROOT)!r}); from {module} import main; main(prog_name='rampsim')"


def _arguments(flags: Mapping[str, object]) -> Iterator[str]:
    """Yield the flags for `rampsim serve`: `rate_limit="5/60"` becomes `--rate-limit 5/60`, and `strict=True`
    `--strict`.
    """
    for name, value in {"host": "127.0.0.1", "port": 0, "clock": "manual", **flags}.items():
        flag = "--" + name.replace("_", "-")
        if value is None:
            continue
        if isinstance(value, bool):
            yield flag if value else flag.replace("--", "--no-", 1)
        elif isinstance(value, list | tuple):
            for one in value:
                yield from (flag, str(one))
        else:
            yield from (flag, str(value))


@contextlib.contextmanager
def serve(*, control_token: str | None = None, **flags: Flag) -> Iterator[Server]:
    """Run a server for a `with` block: in its own process, on a free loopback port and with a manual clock.

    `flags` are the flags of `rampsim serve` with underscores: `serve(rate_limit="5/60", strict=True)`. The server also
    stops when this process ends. If the server does not start, raises SimulatorError with the server's output.
    """
    process = Process({"control_token": control_token, **flags})
    with contextlib.closing(process), Server(HttpLink(process.url, control_token), process.close) as server:
        yield server


@contextlib.contextmanager
def world(server: Server | str | None = None, *, in_process: bool = False, **body: Any) -> Iterator[World]:
    """Create a fresh world for the block.

    If SIMULATOR_URL is the base URL of a world, `http://HOST:PORT/_worlds/ID`, that world is used and continues after
    the block. In a run of `rampsim explore`, a fresh world is created on that server instead. Otherwise the world is
    created on `server` (a Server or a URL) if given, then on the server at SIMULATOR_URL, then on a server that starts
    on first use and stops with this process. If `in_process` is True, the world is created in this process, without
    sockets. `body` is the request body of `POST /_simulator/worlds`, as for `Server.new_world`.
    """
    own = "" if server is not None or in_process or explored.run() else explored.own_world()
    if own:
        yield _entered(own, **body)
        return
    made = server_for(server, in_process=in_process).new_world(**body)
    try:
        yield made
    finally:
        made.delete()


def _entered(world_id: str, *, scenarios: Scenario | Sequence[Scenario] = (), **body: Any) -> World:
    """Return an existing world after activating these scenarios. `body`, the options for a new world, has no effect."""
    server = server_for()
    world = World(server.link, server.link.control("GET", f"/worlds/{world_id}"), server)
    world.outlives = True
    if scenarios:
        world.scenario(*([scenarios] if isinstance(scenarios, str | Path | Mapping) else scenarios))
    return world


def server_for(server: Server | str | None = None, *, in_process: bool = False) -> Server:
    """Return the server for the arguments of `world`. This process starts at most one server, which worlds share."""
    if isinstance(server, Server):
        return server
    if in_process and not explored.run():
        return _shared("", os.getpid(), in_process=True)
    return _shared(server or os.environ.get("SIMULATOR_URL") or "", os.getpid())


@cache
def _shared(url: str, pid: int, *, in_process: bool = False) -> Server:
    """Return the server that the worlds of a process share. A forked process must not stop its parent's server."""
    if in_process:
        server = Server(import_module("simulator.testing.links.in_process").InProcessLink())
    elif url:
        server = Server(HttpLink(url, os.environ.get("SIMULATOR_CONTROL_TOKEN")))
    else:
        process = Process({})
        server = Server(HttpLink(process.url), process.close)
    atexit.register(server.stop)
    return server
