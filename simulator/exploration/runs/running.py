"""Runners: pytest processes that execute tests repeatedly, or one process for each run of any other command."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict
from itertools import chain
from pathlib import Path
from typing import IO, Protocol

from simulator.engine.text.json import JsonObject
from simulator.exploration.judgement.evidence import same_result
from simulator.exploration.plans import waiting
from simulator.exploration.runs.aftermath import Hooks
from simulator.exploration.runs.armed import variables
from simulator.exploration.runs.processes import interrupt, kill, last_lines, said_in, start
from simulator.exploration.runs.tasks import NOT_IN_TIME, PIPES, Result, Task
from simulator.testing.links.http_link import HttpLink
from simulator.testing.servers.server import Server

_START_SECONDS = 120.0
_END_SECONDS = 1.0
"""The time within which interrupted runs must end."""
_PATIENCE_SECONDS = 5.0
"""The time within which an idle process must end."""
_AFTER_SECONDS = 150.0
"""The time limit for the phase after a test: hooks and simulated days."""


class SuiteBroken(Exception):
    """Raised if the command cannot run, or fails without faults. The message contains the command's output."""


class StopExploring(Exception):
    """Raised if an option that the user has given is invalid. The message names the option."""


class Runner(Protocol):
    """Executes runs, one at a time, in its own thread."""

    def run(self, task: Task) -> Result: ...

    def interrupt(self) -> None:
        """Interrupt the current run."""

    def close(self, patience: float) -> None:
        """Stop the runner's idle processes. Kill them after `patience` seconds."""


def is_pytest(command: Sequence[str]) -> bool:
    """Return True if a command runs pytest directly, as `pytest`, `python -m pytest` or similar."""
    names = [Path(word).name for word in command]
    return names[0] in ("pytest", "py.test") or (
        names[0].startswith("python") and "pytest" in command and command[command.index("pytest") - 1] == "-m"
    )


class PytestRunner:
    """A pytest process that executes tests repeatedly. If it crashes, another process replaces it. `reads`: the line at
    which the suite reads variables of a world at import time, so that each run needs a new process, or "".
    """

    def __init__(self, command: Sequence[str], url: str, seed: int, hooks: Hooks) -> None:
        self._command = [
            *command, "-p", "simulator.exploration.runs.within_pytest",
            "--simulator-url", url, "--simulator-keep", "never",
            "--capture", "no", "--tb", "line",  # long tracebacks are slow, and nobody reads them
        ]  # fmt: skip
        self._server = Server(HttpLink(url))
        self._given = {"seed": seed, **asdict(hooks)}
        self._process: subprocess.Popen[bytes] | None = None
        self._output: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  `close` closes it
        self.tests: list[str] = []
        self.reads = ""

    def start(self, world: str = "") -> None:
        """Start pytest, for a world with this id if one is given, and collect the tests. Raises SuiteBroken if that
        fails.
        """
        body = {"id": world} if world else {}
        environment = variables(self._server.new_world(seed=self._given["seed"], **body))
        tasks_read, tasks_write = os.pipe()
        results_read, results_write = os.pipe()
        try:
            whole = {**os.environ, **environment, PIPES: f"{tasks_read},{results_write}"}
            self._process = start(self._command, whole, self._output, (tasks_read, results_write))
        except OSError as error:
            raise StopExploring(f"{self._command[0]} cannot be run: {error.strerror}") from None
        finally:
            os.close(tasks_read)
            os.close(results_write)
        self._tasks, self._results = tasks_write, _Lines(results_read)
        told = self._results.next(_START_SECONDS)
        if told is None:
            self._end()
            raise SuiteBroken(f"the tests cannot be collected:\n{last_lines(said_in(self._output))}")
        self.tests, self.reads = told["tests"], told["reads"]

    def run(self, task: Task) -> Result:
        if self._process is None or self.reads:
            self._end()
            self.start(task.world if self.reads else "")
        sent = {**asdict(task), **self._given}
        with suppress(BrokenPipeError):
            os.write(self._tasks, json.dumps(sent).encode() + b"\n")
        begun = time.monotonic()
        result = self._results.next(task.limit + _AFTER_SECONDS)
        if result is None:
            hung = time.monotonic() - begun >= task.limit
            self._end()
            failure = NOT_IN_TIME if hung else "the test process died"
            return {"outcome": "failed", "hung": hung, "failure": failure, "evidence": None, "seconds": task.limit}
        if result.get("hung"):
            self._end()  # also ends processes that the test has started
        if "error" in result:
            raise StopExploring(result["error"])
        return result

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            kill(process)
            with suppress(OSError):  # `close` has already closed the pipe
                os.close(self._tasks)
            self._results.close()

    def interrupt(self) -> None:
        interrupt(self._process)

    def close(self, patience: float) -> None:
        if self._process is not None:
            os.close(self._tasks)  # the process ends at the end of the task list
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(patience)
        self._end()
        self._server.stop()
        self._output.close()


class _Lines:
    """Lines of JSON from a pipe, with a time limit for each line."""

    def __init__(self, pipe: int) -> None:
        self._pipe = pipe
        self._rest = b""

    def next(self, seconds: float) -> JsonObject | None:
        """Return the next line, or None after a timeout or at the end of the stream."""
        ends_at = time.monotonic() + seconds
        while b"\n" not in self._rest:
            ready, _, _ = select.select([self._pipe], [], [], max(0.0, ends_at - time.monotonic()))
            chunk = os.read(self._pipe, 1 << 20) if ready else b""
            if not chunk:
                return None
            self._rest += chunk
        line, _, self._rest = self._rest.partition(b"\n")
        told: JsonObject = json.loads(line)
        return told

    def close(self) -> None:
        os.close(self._pipe)


class Crew:
    """The runners of an exploration, each in its own thread while runs remain. If there are several, extra runners are
    added for runs that mostly wait (see `plans.waiting`).
    """

    def __init__(self, runners: Sequence[Runner], make: Callable[[], Runner] | None = None) -> None:
        self._runners = runners
        self._make = make
        self._waiters: list[Runner] = []
        self.size = len(runners)
        self.notes: list[str] = []
        """Notes for the suite's author."""

    def run(
        self, tasks: Sequence[Task], tell: Callable[[int, Result], None] = lambda number, result: None
    ) -> list[Result]:
        """Execute all runs. Return the results in task order. `tell` is called for each result, one at a time."""
        work = _Work(tasks, tell)
        if self._make is not None and self.size > 1:
            wanted = min(waiting(self.size), sum(task.waits for task in tasks))
            self._waiters += [self._make() for _ in range(wanted - len(self._waiters))]
        runners = [*((one, False) for one in self._runners), *((one, True) for one in self._waiters)]
        threads = [
            threading.Thread(target=work.done_by, args=[one], kwargs={"waits": waits}, daemon=True)
            for one, waits in runners
        ]
        for thread in threads:
            thread.start()
        try:
            for thread in threads:
                thread.join()
        except KeyboardInterrupt as stop:
            work.failures.append(stop)  # after a failure, no runner begins another run
            for one in (*self._runners, *self._waiters):
                one.interrupt()
            ends_at = time.monotonic() + _END_SECONDS
            for thread in threads:
                thread.join(max(0.0, ends_at - time.monotonic()))
            raise
        if work.failures:
            raise work.failures[0]
        return [work.results[number] for number in range(len(tasks))]

    def __enter__(self) -> Crew:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        for one in (*self._runners, *self._waiters):
            one.close(_PATIENCE_SECONDS if kind is None else 0.0)


class _Work:
    """A queue of runs that several runners share."""

    def __init__(self, tasks: Sequence[Task], tell: Callable[[int, Result], None]) -> None:
        self._tasks = tasks
        self._tell = tell
        self._turn = threading.Lock()
        self._left = {
            waits: iter([number for number, task in enumerate(tasks) if task.waits == waits]) for waits in (False, True)
        }
        self.results: dict[int, Result] = {}
        self.failures: list[BaseException] = []

    def done_by(self, runner: Runner, *, waits: bool) -> None:
        """Execute runs with one runner until no run is left. `waits`: True if it executes only runs that mostly wait
        for a response. Other runners execute these runs last.
        """
        mine = self._left[True] if waits else chain(self._left[False], self._left[True])
        while True:
            with self._turn:
                number = next(mine, None)
            if number is None or self.failures:
                return
            try:
                result = same_result(runner.run(self._tasks[number]))
            except BaseException as error:
                self.failures.append(error)
                return
            with self._turn:
                self.results[number] = result
                self._tell(number, result)


def executable(command: Sequence[str]) -> list[str]:
    """Return the command. A `python` at its start is replaced with the path of this interpreter."""
    return [sys.executable, *command[1:]] if command[0] == "python" else list(command)
