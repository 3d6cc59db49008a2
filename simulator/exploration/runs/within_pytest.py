"""The pytest plugin for explore. It executes collected tests repeatedly, each time in a world with a fault.

`running` starts pytest with this plugin (`-p simulator.exploration.runs.within_pytest`). For every run, `running` sends
one JSON line to this plugin and receives one JSON line, over two pipes. So a suite is collected only once for any
number of runs.
"""

from __future__ import annotations

import asyncio
import faulthandler
import gc
import json
import os
import signal
import time
from collections.abc import Callable, Coroutine, Generator, Mapping
from contextlib import nullcontext, suppress
from functools import partial, wraps
from math import inf
from types import FrameType
from typing import IO, Any, SupportsIndex

import pytest

from simulator.certification.sources import is_quiet
from simulator.engine.text.json import JsonObject
from simulator.exploration.runs import callers
from simulator.exploration.runs.aftermath import HookFailed, Hooks, books_of, follow
from simulator.exploration.runs.applications import NotReady, running
from simulator.exploration.runs.armed import ArmedWorld, assumed, variables
from simulator.exploration.runs.connection import ArmedLink
from simulator.exploration.runs.during import Watch
from simulator.exploration.runs.importing import Reading
from simulator.exploration.runs.tasks import NOT_IN_TIME, PIPES, Document
from simulator.exploration.runs.tracing import crashing, scenes
from simulator.exploration.runs.tracing.crashing import Tracer
from simulator.exploration.runs.tracing.holding import Holding, may_call
from simulator.exploration.runs.tracing.scenes import Scene
from simulator.exploration.runs.tracing.steps import Steps
from simulator.testing.errors import SimulatorError
from simulator.testing.explored import has_died
from simulator.testing.plugin import RUN
from simulator.testing.plugin import markers as plugin_markers
from simulator.testing.plugin.run import WORLDS, Run
from simulator.testing.quiescence import waiter
from simulator.testing.receiving.loopback import Answer
from simulator.testing.receiving.receivers import Receiver
from simulator.testing.servers import shared
from simulator.testing.servers.server import Server
from simulator.testing.worlds import World

_LONGEST_SLEEP_SECONDS = 0.05
_DEAF_SECONDS = 2.0


class Hung(BaseException):
    """Raised in a test that exceeds its time limit."""


class _Sleeping:
    """Limits `time.sleep` and `asyncio.sleep` in this process while a test is running.

    The limits are installed before the suite is imported, so that they also apply to `from time import sleep`.
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
    _reading.begin()
    crashing.begin()


class _ExploringRun(Run):
    """Provides the worlds that the test kit's fixtures use.

    A test's first world is created before the test. The run's fault is injected into the world that the plan names.
    """

    def __init__(self, config: pytest.Config) -> None:
        super().__init__(config)
        self.armed: list[ArmedWorld] = []
        self.task: Document = {}
        self._found: Server | None = None
        self._link: ArmedLink | None = None
        self._unclaimed: World | None = None
        self._first: World | None = None
        """The world of the test's fixtures."""
        self._item: pytest.Item | None = None
        self.tracer: Tracer | None = None
        """Traces the application's lines if the application dies in this run, or if the places are recorded."""

    def server(self) -> Server:
        if self._found is None:
            self._link = ArmedLink(self._config.getoption("simulator_url"))
            self._found = self._make(self._link, outlives=True)
        return self._found

    def server_in_process(self) -> Server:
        return self.server()

    def prepare(self, item: pytest.Item, task: Document) -> World:
        """Create the world that a test's markers specify."""
        self.armed, self.task, self._item = [], task, item
        crash, hold = ((task["plan"] or {}).get(name) for name in ("crash", "hold"))
        own = getattr(getattr(item, "function", None), "__code__", None)
        hook = super().quiesce_hook(item) if task["quiesce"] is None else None
        holding = Holding(hold, self._drain, hook) if hold or task["records"] else None
        self.tracer = Tracer(crash, own, holding) if crash or holding else None
        server = self.server()
        assert self._link is not None
        self._link.plan = task["plan"]
        self._link.before_control = lambda path: holding is None or may_call(holding, path)
        body = {"seed": task["seed"], **plugin_markers.body_of(item), "id": task["world"], "replace": True}
        self._first = self._unclaimed = server.new_world(**body)
        return self._first

    def new_world(self, item: pytest.Item, server: Server) -> World:
        world, self._unclaimed = self._unclaimed, None
        if world is None:
            return super().new_world(item, server)
        item.stash.setdefault(WORLDS, list[World]()).append(world)
        self.wait_for_application(item, world)
        return world

    def wait_for_application(self, item: pytest.Item, world: World) -> None:
        """Make `advance` wait until the application's queue is empty. If `--quiesce` is given, use its check."""
        given: str | None = self.task["quiesce"]
        if given is None:
            super().wait_for_application(item, world)
        else:
            world.on_advance.append(waiter(lambda: is_quiet(given, os.environ)))

    def quiesce_hook(self, item: pytest.Item) -> Callable[[], object] | None:
        hook = super().quiesce_hook(item)
        return None if hook is None else scenes.within_queue(crashing.restarted(hook, self.after_death))

    def _begin(self, world: World) -> None:
        super()._begin(world)
        world.outlives = True  # keep the world for the verdict, even if the test deletes it
        one = ArmedWorld(world, self.task.get("plan"), f"-{len(self.armed)}" if self.armed else "")
        one.arm()
        self.armed.append(one)
        assert self._link is not None
        self._link.armed[world.id] = one
        tolerated: int | None = self.task.get("tolerated_ms")
        if tolerated is not None:
            self._link.watches[world.id] = Watch(one, self._books_now, tolerated)

    def _sections(self, item: pytest.Item) -> Any:
        return iter(())

    def _books_now(self) -> list[Document] | None:
        """Return the integrator's books while the test is still running, or None if they cannot be read yet."""
        rows: list[Document] | None = books_of(self._hooks(), [variables(self._one)], must_work=False).get("books")
        return rows

    @property
    def _one(self) -> World:
        assert self._first is not None
        return self._first

    def _hooks(self) -> Hooks:
        settle, books, quiesce = (self._hook(name, self._one) for name in ("settle", "books", "quiesce"))
        return Hooks(settle, books, here=True, mode=self.task["mode"], quiesce=quiesce)

    def follow(self, environment: Mapping[str, str]) -> JsonObject:
        """Collect the results of a test (such as its history) from those of its worlds that still exist."""
        assert self._link is not None
        for watch in self._link.watches.values():
            watch.look()
        late = [row for watch in self._link.watches.values() for row in watch.rows()]
        self._link.watches.clear()
        self._link.armed.clear()
        living = self.armed
        if len(living) > 1:  # worlds that the test created itself may have been deleted
            known = {row["id"] for row in self._link.control("GET", "/worlds")["data"]}
            living = [one for one in living if one.world.id in known]
        more = {"story": self.task["story"], "effects": self.task["effects"]}
        found = follow(living, self._hooks(), [environment], **more)
        if late:
            found["late"] = late
        if self.task["app"]:
            found["app"] = True
        if self.tracer is not None:
            found |= {"hits": found["hits"] + self.tracer.deaths, "lines": self.tracer.places}
            if self._holding is not None:
                found |= {"hits": found["hits"] + self._holding.times, "holds": self._holding.places}
        return found

    def begin_work(self, kind: str, event: str = "") -> Scene:
        """Begin a piece of the application's work: the handling of an event, or the call phase of the test."""
        scene = scenes.begin(kind, event)
        if self._holding is not None:
            self._holding.begun(scene)
        return scene

    def end_work(self, scene: Scene) -> None:
        """End the handling of an event or the call phase of the test."""
        if self._holding is not None:
            self._holding.ended(scene)

    async def handle(self, event: str, answer: Coroutine[Any, Any, Answer]) -> Answer:
        """Run a coroutine that handles an event, as a piece of the application's work."""
        scene = self.begin_work(scenes.HANDLER, event)
        try:
            if self._holding is None or self.tracer is None:
                return await answer
            return await Steps(self._holding, self.tracer.databases).handle(scene, answer)
        finally:
            self.end_work(scene)

    @property
    def _holding(self) -> Holding | None:
        return None if self.tracer is None else self.tracer.holding

    def _drain(self, seconds: float) -> bool:
        """Wait until no delivery to the test's worlds is in flight. Return False if that takes longer."""
        assert self._link is not None
        try:
            for one in list(self.armed):
                self._link.control("POST", "/settle", {}, world=one.world.id, timeout_seconds=seconds)
        except SimulatorError:
            return False
        return True

    def after_death(self) -> None:
        """Roll back the uncommitted writes of an application that has crashed, and call the suite's hook that recreates
        the application.
        """
        if self.tracer is not None and self._item is not None:
            self.tracer.bury()
            self._item.ihook.pytest_rampsim_restart(item=self._item)

    def _hook(self, name: str, world: World) -> str | Callable[[], object] | None:
        """Return the integrator's hook with this name: a command from an option, a function from a conftest.py, or
        None.
        """
        given: str | None = self.task[name]
        if given is not None:
            return given
        assert self._item is not None
        hook = getattr(self._item.ihook, f"pytest_rampsim_{name}")
        given_to = {"item": self._item} if name == "quiesce" else {"item": self._item, "world": world}
        return partial(hook, **given_to) if hook.get_hookimpls() else None

    def end(self) -> None:
        for one in self.armed:
            self._open.pop(one.world.id, None)
            one.world.outlives = False
            with suppress(SimulatorError):
                one.world.delete()


class _Worker:
    """Runs tasks one after another."""

    def __init__(self, config: pytest.Config, tasks: IO[str], results: IO[str]) -> None:
        self._config = config
        self._tasks = tasks
        self._results = results
        self._run = _ExploringRun(config)
        config.stash[RUN] = self._run
        config.pluginmanager.register(self._run, "rampsim-run")
        # `simulator.testing.world()` creates worlds with the same fault as the worlds of the fixtures.
        shared.server_for = lambda *given, **more: self._run.server()
        Receiver.refuses_forged = True  # a receiver that replaces the application must not accept forgeries
        Receiver.handling = staticmethod(self._run.handle)
        Receiver.after_death = staticmethod(self._run.after_death)
        self._begun = False
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
        _reading.end()
        self._tell({"tests": list(items), "reads": _reading.place})
        for line in self._tasks:
            task = json.loads(line)
            item = items.get(task["test"])
            if item is None:
                self._tell({"error": f"pytest did not find {task['test']} again"})
                continue
            self._tell(self._enter(item, task))
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
            follows = self._run.tracer.following() if self._run.tracer is not None else nullcontext()
            with running(task["app"], self._environment, world, task["plan"]) as more, follows, calls:
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
        # A test may not react to the signal because it waits in C code or catches all exceptions. Then the process is
        # killed.
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
        scene = self._run.begin_work(scenes.CALL)
        try:
            return (yield)
        except BaseException as error:
            if has_died(error):
                self._run.after_death()
            raise
        finally:
            self._run.end_work(scene)
            scenes.end()

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> Generator[None, None, None]:
        """Run everything that happens after a test, such as the integrator's job and several simulated days, before the
        test's fixtures are torn down.
        """
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
    """Return the reason why a test failed, in one line."""
    crash = getattr(report.longrepr, "reprcrash", None)
    text = crash.message if crash is not None else str(report.longrepr)
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[0].strip()[:300] if lines else ""


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Start the worker that executes tasks.

    Disables pytest-xdist, because it cannot execute distributed tests repeatedly.
    """
    if hasattr(config.option, "numprocesses"):
        config.option.numprocesses, config.option.dist, config.option.tx = 0, "no", []
    tasks, results = (int(number) for number in os.environ.pop(PIPES).split(","))
    config.pluginmanager.register(
        _Worker(config, os.fdopen(tasks, "r"), os.fdopen(results, "w")), "rampsim-explore-worker"
    )
