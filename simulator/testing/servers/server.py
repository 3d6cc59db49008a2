"""Servers for tests: one in a process of its own, and what makes worlds in a server."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import IO

from simulator.engine.clients.address import CONTROL_BASE
from simulator.testing import explored
from simulator.testing.errors import SimulatorError
from simulator.testing.given import Scenario, scenario_file, timestamp
from simulator.testing.links.http_link import HttpLink
from simulator.testing.links.link import Link
from simulator.testing.worlds import World

START = "2026-01-05T08:00:00.000Z"
"""When worlds of the test kit begin, whatever the server was told."""
_START_SECONDS = 60.0
_STOP_SECONDS = 6.0


Flag = str | float | bool | Path | Sequence[str | Path] | None
"""What a flag of `rampsim serve` may be: True and False for those that are on or off, several for a repeatable one."""


class Server:
    """A simulator that runs: what makes worlds in it. `stop` ends it where it was started for the tests."""

    def __init__(self, link: Link, stop: Callable[[], None] | None = None) -> None:
        self.link = link
        self._stop = stop

    @property
    def url(self) -> str:
        """The origin, for example `http://127.0.0.1:8642`."""
        return self.link.url

    @property
    def control_url(self) -> str:
        """Where the control interface begins."""
        return self.link.url + CONTROL_BASE

    def new_world(
        self,
        *,
        clock: str | date | Mapping[str, object] | None = None,
        scenarios: Scenario | Sequence[Scenario] = (),
        **body: object,
    ) -> World:
        """Make a world: no scenario active, a manual clock at 2026-01-05T08:00:00Z, the seed 1.

        The members of `POST /_simulator/worlds` say otherwise: `id`, `seed`, `clock`, `scenarios`, `settings`, …
        SIMULATOR_ASSUME says what they assume where `settings` does not.
        `clock` may also be the moment alone, as text, `date` or `datetime`; `scenarios` may name files.
        SimulatorError when the server refuses it.
        """
        given = [scenarios] if isinstance(scenarios, str | Path | Mapping) else list(scenarios)
        has_files = any(not isinstance(one, Mapping) and scenario_file(one) is not None for one in given)
        seed = {} if explored.is_at(self.url) else {"seed": 1}  # there it is that of the run
        begins: Mapping[str, object] = {**seed, "clock": {"mode": "manual", "now": START, **_clock(clock)}}
        if "from_snapshot" in body:  # but for its scenarios it goes on as that was
            begins = {} if clock is None else {"clock": _clock(clock)}
        body = {**begins, **_assuming(body), "scenarios": [] if has_files else given}
        world = World(self.link, self.link.control("POST", "/worlds", body), self)
        if has_files:
            try:
                world.begin_with(*given)
            except BaseException:
                world.delete()
                raise
        return world

    def stop(self) -> None:
        """End the server where it was started for the tests, and let go of its connections."""
        self.link.close()
        if self._stop is not None:
            self._stop()

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


def _assuming(body: dict[str, object]) -> dict[str, object]:
    """The body with what SIMULATOR_ASSUME says (`ID=ALTERNATIVE …`); what the body itself says comes before it."""
    said = os.environ.get("SIMULATOR_ASSUME", "").split()
    settings = body.get("settings") or {}
    if not said or "from_snapshot" in body or not isinstance(settings, Mapping):
        return body
    assumptions = {**dict(text.partition("=")[::2] for text in said), **settings.get("assumptions", {})}
    return {**body, "settings": {**settings, "assumptions": assumptions}}


def _clock(given: str | date | Mapping[str, object] | None) -> Mapping[str, object]:
    """`clock` of the body: an object as it is, a moment as its `now`, a day as its beginning."""
    if given is None:
        return {}
    return given if isinstance(given, Mapping) else {"now": timestamp(given)}


class Process:
    """A server in a process of its own, which ends with this one, however this one ends.

    It ends when its standard input does, and that is a pipe to this process. `url` is its origin.
    """

    def __init__(self, flags: Mapping[str, Flag], program: str = "simulator.cli") -> None:
        """Start one on a free loopback port, under a manual clock; it listens when this returns.

        `flags` are those of `rampsim serve`, with underscores; `program` is the module with the `main` that serves.
        SimulatorError with the server's own words when it does not start.
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
        """The origin, from the line by which a server says that it listens."""
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.startswith(b"Ready on "):
                return line.removeprefix(b"Ready on ").strip().decode()
        self._process.wait()
        self._words.seek(0)
        words = self._words.read().decode("utf-8", "replace").strip()
        self.close()
        raise SimulatorError(
            f"The simulator did not start; it says:\n{words or f'(nothing within {_START_SECONDS:g} s)'}"
        )

    def close(self) -> None:
        """End it; nothing when it has ended."""
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
    """Without the directory of the tests in front (-P): there may be a `simulator` of their own in it."""
    return f"import sys; sys.path.append({str(_ROOT)!r}); from {module} import main; main(prog_name='rampsim')"


def _arguments(flags: Mapping[str, object]) -> Iterator[str]:
    """The flags of `rampsim serve`: `rate_limit="5/60"` is `--rate-limit 5/60`, `strict=True` is `--strict`."""
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
    """A server in a process of its own, on a free loopback port, under a manual clock; it ends with the block.

    `flags` are those of `rampsim serve` with underscores: `serve(rate_limit="5/60", strict=True)`. It ends with this
    process too, however that ends. SimulatorError with the server's own words when it does not start.
    """
    process = Process({"control_token": control_token, **flags})
    with contextlib.closing(process), Server(HttpLink(process.url, control_token), process.close) as server:
        yield server
