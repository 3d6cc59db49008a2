"""Runs of any command other than pytest. Each run is a process that finds its world through environment variables."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from simulator.engine.text.json import JsonObject
from simulator.exploration.runs.aftermath import HookFailed, Hooks, follow
from simulator.exploration.runs.applications import NotReady, running
from simulator.exploration.runs.armed import ArmedWorld, assumed, beginning, variables
from simulator.exploration.runs.processes import interrupt, kill, last_lines, said_in, start
from simulator.exploration.runs.running import StopExploring
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
        """Stop the server."""


def start_stage() -> Stage:
    """Start a stage server, which hosts the worlds of runs, in its own process."""
    return Process({}, "simulator.exploration.runs.stage")


class CommandRunner:
    """Runs any command in one process for each run. A stage server hosts all worlds of the run."""

    def __init__(
        self, command: Sequence[str], seed: int, hooks: Hooks, start: Callable[[], Stage] = start_stage
    ) -> None:
        self._command = command
        self._start = start
        self._seed = seed
        self._hooks = hooks
        self._stage: Stage | None = None
        self._link: HttpLink
        self._process: subprocess.Popen[bytes] | None = None

    def run(self, task: Task) -> Result:
        begun = time.monotonic()
        if self._stage is None:
            self._stage = self._start()
            self._link = HttpLink(self._stage.url)
        link = self._link
        link.control("PUT", RUN, {"id": task.world, "seed": self._seed, "plan": task.plan or {}})
        try:
            clock = {"mode": "manual", "now": START}
            body = beginning(task.plan, {"id": task.world, "scenarios": [], "clock": clock})
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
        """Collect the evidence from all worlds that received calls, or else from the run's own world. `more`: further
        environment variables for the integrator's commands.
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
        result: Result = {"outcome": "passed", "hung": False, "failure": "", "evidence": None}
        with tempfile.NamedTemporaryFile("w") as plan, tempfile.TemporaryFile() as output:
            json.dump(task.plan or {}, plan)
            plan.flush()
            try:
                process = start(self._command, {**os.environ, **environment, PLAN: plan.name}, output)
            except OSError as error:
                raise StopExploring(f"{self._command[0]} cannot be run: {error.strerror}") from None
            self._process = process
            try:
                process.wait(task.limit)
            except subprocess.TimeoutExpired:
                return {**result, "outcome": "failed", "hung": True, "failure": NOT_IN_TIME}
            finally:
                kill(process)
                self._process = None
            if process.returncode:
                said = said_in(output)
                how, lines = _how(process.returncode), said.splitlines()
                last = lines[-1][:300] if lines else "nothing"
                result |= {"outcome": "failed", "failure": f"it {how}. Its last output: {last}"}
                result["said"] = f"it {how}. Its output:\n{last_lines(said)}"
        return result

    def interrupt(self) -> None:
        interrupt(self._process)

    def close(self, patience: float) -> None:
        if self._process is not None:
            kill(self._process)
        if self._stage is not None:
            self._link.close()
            self._stage.close()


def _how(code: int) -> str:
    return f"ended with {code}" if code > 0 else f"was ended by {signal.Signals(-code).name}"
