"""Runs of any command other than pytest. Each run is a process that finds its world through environment variables."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, Protocol

from simulator.engine.text.json import JsonObject
from simulator.exploration.runs.aftermath import HookFailed, Hooks, follow
from simulator.exploration.runs.applications import NotReady, running
from simulator.exploration.runs.armed import ArmedWorld, assumed, beginning, variables
from simulator.exploration.runs.running import StopExploring, interrupt, kill, last_lines
from simulator.exploration.runs.tasks import NOT_IN_TIME, RUN, Played, Result, Task
from simulator.testing.errors import SimulatorError
from simulator.testing.links.http_link import HttpLink
from simulator.testing.servers.server import START, Process
from simulator.testing.worlds import World

PLAN = "SIMULATOR_PLAN"
"""The environment variable that contains the path of the file with a run's fault."""


class Stage(Protocol):
    """A stage server, which hosts the worlds of one run at a time."""

    url: str

    def close(self) -> None:
        """Stop the server that hosts the runs' worlds."""


def start_stage() -> Stage:
    """Start a stage server, which hosts the worlds of runs, in its own process."""
    return Process({}, "simulator.exploration.runs.stage")


class _Running(NamedTuple):
    """A running stage server, which hosts all worlds of a run."""

    stage: Stage
    link: HttpLink


class CommandRunner:
    """Runs any command in one process for each run. A stage server hosts all worlds of the run."""

    def __init__(
        self, command: Sequence[str], seed: int, hooks: Hooks, start: Callable[[], Stage] = start_stage
    ) -> None:
        self._command = command
        self._start = start
        self._seed = seed
        self._hooks = hooks
        self._stage: _Running | None = None
        self._process: subprocess.Popen[bytes] | None = None

    def run(self, task: Task) -> Result:
        begun = time.monotonic()
        if self._stage is None:
            stage = self._start()
            self._stage = _Running(stage, HttpLink(stage.url))
        link = self._stage.link
        link.control("PUT", RUN, {"id": task.world, "seed": self._seed, "plan": task.plan or {}})
        try:
            body = beginning(task.plan, {"id": task.world, "scenarios": [], "clock": _CLOCK})
            own = World(link, link.control("POST", "/worlds", body))
            environment = {**variables(own), **assumed(task.plan)}
            try:
                with running(self._hooks.app, environment, own, task.plan) as more:
                    result = self._told(task, {**environment, **more})
                    try:
                        result["evidence"] = self._follow(link, task, own, more)
                    except SimulatorError as error:
                        result["failure"] = f"the money in its world cannot be checked: {error}"
            except (HookFailed, NotReady) as error:
                raise StopExploring(str(error)) from None
        finally:
            link.control("DELETE", RUN)
        return {**result, "seconds": time.monotonic() - begun}

    def _follow(self, link: HttpLink, task: Task, own: World, more: Mapping[str, str]) -> JsonObject:
        """Collect the evidence from all worlds that received calls. If there are none, use the run's own world.

        `more`: further environment variables for the integrator's commands.
        """
        armed: list[ArmedWorld] = []
        played: list[Played] = link.control("GET", RUN)["worlds"]
        for row in played:
            world = own if row["id"] == own.id else World(link, link.control("GET", f"/worlds/{row['id']}"))
            one = ArmedWorld(world, task.plan, row["name"])
            one.has_been_armed(row["faults"], row["hits"], row["swapped"])
            armed.append(one)
        used = [one for one in armed if one.world.requests()] or [one for one in armed if one.world.id == own.id]
        environments = [{**variables(one.world), **assumed(task.plan), **more} for one in used]
        found = follow(used, self._hooks, environments, story=task.story, effects=task.effects)
        if self._hooks.app is not None:
            found["app"] = True
        return found

    def _told(self, task: Task, environment: Mapping[str, str]) -> Result:
        with tempfile.NamedTemporaryFile("w") as plan:
            json.dump(task.plan or {}, plan)
            plan.flush()
            return self._ran({**os.environ, **environment, PLAN: plan.name}, task.limit)

    def _ran(self, environment: Mapping[str, str], limit: float) -> Result:
        result: Result = {"outcome": "passed", "hung": False, "failure": "", "evidence": None}
        with tempfile.TemporaryFile() as output:
            try:
                process = subprocess.Popen(
                    self._command,
                    env=environment,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
            except OSError as error:
                raise StopExploring(f"{self._command[0]} cannot be run: {error.strerror}") from None
            self._process = process
            try:
                process.wait(limit)
            except subprocess.TimeoutExpired:
                return {**result, "outcome": "failed", "hung": True, "failure": NOT_IN_TIME}
            finally:
                kill(process)
                self._process = None
            if process.returncode:
                output.seek(0)
                said = output.read().decode("utf-8", "replace").strip()
                result |= {"outcome": "failed", "failure": _failure(process.returncode, said)}
                result["said"] = f"it {_how(process.returncode)}. Its output:\n{last_lines(said)}"
        return result

    def interrupt(self) -> None:
        if self._process is not None:
            interrupt(self._process)

    def close(self, patience: float) -> None:
        if self._process is not None:
            kill(self._process)
        if self._stage is not None:
            self._stage.link.close()
            self._stage.stage.close()


def _how(code: int) -> str:
    return f"ended with {code}" if code > 0 else f"was ended by {signal.Signals(-code).name}"


def _failure(code: int, said: str) -> str:
    """Return the reason why a command failed, in one line."""
    lines = said.splitlines()
    return f"it {_how(code)}. Its last output: {lines[-1][:300] if lines else 'nothing'}"


_CLOCK = {"mode": "manual", "now": START}
