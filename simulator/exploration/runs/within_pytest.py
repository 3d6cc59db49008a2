"""The pytest plugin for explore. It executes collected tests repeatedly, each time in a world with a fault.

`running` starts pytest with this plugin. For every run, it sends one JSON line to the plugin and receives one JSON
line, over two pipes. So a suite is collected only once for any number of runs.
"""

from __future__ import annotations

import asyncio
import faulthandler
import gc
import json
import os
import signal
import time
from collections.abc import Generator
from contextlib import nullcontext
from functools import wraps
from math import inf
from types import FrameType
from typing import IO, Any, SupportsIndex

import pytest

from simulator.engine.text.json import JsonObject
from simulator.exploration.runs import callers
from simulator.exploration.runs.aftermath import HookFailed
from simulator.exploration.runs.applications import NotReady, running
from simulator.exploration.runs.armed import assumed, variables
from simulator.exploration.runs.importing import Reading
from simulator.exploration.runs.pytest_run import ExploringRun
from simulator.exploration.runs.tasks import NOT_IN_TIME, PIPES, Document
from simulator.exploration.runs.tracing import scenes, writes
from simulator.testing.errors import SimulatorError
from simulator.testing.explored import has_died
from simulator.testing.plugin import RUN
from simulator.testing.receiving.receivers import Receiver
from simulator.testing.servers import server as servers

_LONGEST_SLEEP_SECONDS = 0.05
_DEAF_SECONDS = 2.0


class Hung(BaseException):
    """Raised in a test that exceeds its time limit."""


class _Sleeping:
    """Limits `time.sleep` and `asyncio.sleep` in this process while a test is running. The limits are installed before
    the suite is imported, so that they also apply to `from time import sleep`.
    """

    longest_seconds = inf

    @classmethod
    def begin(cls) -> None:
        sleep, asleep = time.sleep, asyncio.sleep

        @wraps(sleep)
        def shorter(seconds: float | SupportsIndex, /) -> None:
            sleep(min(float(seconds), cls.longest_seconds))

        @wraps(asleep)
        async def shorter_in_a_loop(delay: float, result: Any = None) -> Any:
            return await asleep(min(delay, cls.longest_seconds), result)

        time.sleep = shorter
        asyncio.sleep = shorter_in_a_loop


_reading = Reading()


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests() -> None:
    _Sleeping.begin()
    _reading.patch.start()
    writes.begin()


class _Worker:
    def __init__(self, config: pytest.Config, tasks: IO[str], results: IO[str]) -> None:
        self._config = config
        self._tasks = tasks
        self._results = results
        self._run = run = ExploringRun(config)
        config.stash[RUN] = self._run
        config.pluginmanager.register(self._run, "rampsim-run")
        # `simulator.testing.world()` creates worlds with the same fault as the worlds of the fixtures.
        servers.server_for = lambda *given, **more: run.server()
        Receiver.refuses_forged = True  # a receiver that replaces the application must not accept forgeries
        Receiver.handling = staticmethod(lambda event, answer: run.work.handle(event, answer))
        Receiver.after_death = staticmethod(run.after_death)
        self._result: JsonObject = {}
        self._environment: dict[str, str] = {}

    def _tell(self, what: Document) -> None:
        self._results.write(json.dumps(what) + "\n")
        self._results.flush()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        if session.testsfailed or session.config.option.collectonly:
            return None
        gc.freeze()  # collected tests are permanent, and scanning them in each run takes time
        items = {item.nodeid: item for item in session.items}
        _reading.patch.stop()
        self._tell({"tests": list(items), "reads": _reading.place})
        for line in self._tasks:
            task = json.loads(line)
            item = items.get(task["test"])
            lost = {"error": f"pytest did not find {task['test']} again"}
            self._tell(lost if item is None else self._enter(item, task))
        return True

    def _enter(self, item: pytest.Item, task: Document) -> JsonObject:
        self._result = {"outcome": "passed", "hung": False, "failure": "", "evidence": None}
        begun = time.monotonic()
        kept = dict(os.environ)
        try:
            world = self._run.prepare(item, task)
            self._environment = {**variables(world), **assumed(task["plan"])}
            os.environ.update(self._environment)
            self._watch()
            # If there is no next test, all fixtures end with this test, regardless of scope.
            calls = callers.named() if task["story"] else nullcontext()
            app = running(task["app"], self._environment, world, task["plan"])
            with app as more, self._run.work.following(), calls:
                os.environ.update(more)
                self._config.hook.pytest_runtest_protocol(item=item, nextitem=None)
        except NotReady as error:
            self._result["error"] = str(error)
        except (SimulatorError, Hung, ValueError, pytest.fail.Exception) as error:
            self._result |= {"outcome": "failed", "failure": str(error)}
        finally:
            self._unwatch()
            self._run.end()
            os.environ.clear()
            os.environ.update(kept)
        return {**self._result, "seconds": time.monotonic() - begun}

    def _watch(self) -> None:
        """Start the time limit for a test or its teardown, and limit how long it may sleep at once."""
        limit = self._run.task["limit"]
        signal.signal(signal.SIGALRM, self._ring)
        signal.setitimer(signal.ITIMER_REAL, limit, 1.0)
        # If a test does not react to the signal, as in C code or if it catches all exceptions, the process is killed.
        faulthandler.dump_traceback_later(limit + _DEAF_SECONDS, exit=True)
        _Sleeping.longest_seconds = _LONGEST_SLEEP_SECONDS

    def _unwatch(self) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0)
        faulthandler.cancel_dump_traceback_later()
        _Sleeping.longest_seconds = inf

    def _ring(self, number: int, frame: FrameType | None) -> None:
        self._result["hung"] = True
        raise Hung(NOT_IN_TIME)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, None, None]:
        """Mark the call of the test function as work of the application, so that a crash can be injected in it."""
        scene = self._run.work.begin(scenes.CALL)
        try:
            return (yield)
        except BaseException as error:
            if has_died(error):
                self._run.after_death()
            raise
        finally:
            self._run.work.end(scene)
            scenes.end()

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> Generator[None, None, None]:
        """Run everything that happens after a test before its fixtures are torn down."""
        self._unwatch()
        try:
            self._result["evidence"] = self._run.follow(self._environment)
        except HookFailed as error:
            self._result["error"] = str(error)
        except SimulatorError as error:
            self._result["failure"] = f"the money in its world cannot be checked: {error}"
        self._watch()
        return (yield)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed and self._result["outcome"] != "failed":
            self._result["outcome"] = "failed"
            self._result["failure"] = _last_line(report)
        elif report.skipped and self._result["outcome"] == "passed":
            self._result["outcome"] = "skipped"


def _last_line(report: pytest.TestReport) -> str:
    crash = getattr(report.longrepr, "reprcrash", None)
    text = crash.message if crash is not None else str(report.longrepr)
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[0].strip()[:300] if lines else ""


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Start the worker that executes tasks, without pytest-xdist, which cannot execute tests repeatedly."""
    if hasattr(config.option, "numprocesses"):
        config.option.numprocesses, config.option.dist, config.option.tx = 0, "no", []
    tasks, results = (int(number) for number in os.environ.pop(PIPES).split(","))
    worker = _Worker(config, os.fdopen(tasks, "r"), os.fdopen(results, "w"))
    config.pluginmanager.register(worker, "rampsim-explore-worker")
