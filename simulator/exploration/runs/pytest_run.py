"""The test kit's part in an explored pytest run: worlds with the run's fault, and the phase after each test."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import cached_property, partial

import pytest

from simulator.certification.sources import is_quiet
from simulator.engine.text.json import JsonObject
from simulator.exploration.runs.aftermath import Hooks, books_of, follow
from simulator.exploration.runs.armed import ArmedWorld, variables
from simulator.exploration.runs.connection import ArmedLink
from simulator.exploration.runs.during import Watch
from simulator.exploration.runs.tasks import Document
from simulator.exploration.runs.tracing import crashing, scenes
from simulator.exploration.runs.tracing.work import Work
from simulator.testing.errors import SimulatorError
from simulator.testing.plugin import markers as plugin_markers
from simulator.testing.plugin.run import WORLDS, Run
from simulator.testing.quiescence import waiter
from simulator.testing.servers.server import Server
from simulator.testing.worlds import World


class ExploringRun(Run):
    """Provides the worlds of the test kit's fixtures. A test's first world is created before the test. The run's fault
    is injected into the world that the plan names.
    """

    def __init__(self, config: pytest.Config) -> None:
        super().__init__(config)
        self.armed: list[ArmedWorld] = []
        self.task: Document = {}
        self.work = Work({})
        self._unclaimed: World | None = None
        self._first: World
        """The world of the test's fixtures."""
        self._item: pytest.Item

    @cached_property
    def _link(self) -> ArmedLink:
        return ArmedLink(self._config.getoption("simulator_url"))

    @cached_property
    def _server(self) -> Server:
        return self._make(self._link, outlives=True)

    def server(self) -> Server:
        return self._server

    def server_in_process(self) -> Server:
        return self._server

    def prepare(self, item: pytest.Item, task: Document) -> World:
        """Create the world that a test's markers specify."""
        self.armed, self.task, self._item = [], task, item
        own = getattr(getattr(item, "function", None), "__code__", None)
        hook = super().quiesce_hook(item) if task["quiesce"] is None else None
        self.work = Work(task["plan"] or {}, records=task["records"], own=own, drain=self._drain, hook=hook)
        self._link.plan, self._link.before_control = task["plan"], self.work.may_call
        body = {"seed": task["seed"], **plugin_markers.body_of(item), "id": task["world"], "replace": True}
        self._first = self._unclaimed = self._server.new_world(**body)
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
        self._link.armed[world.id] = one
        tolerated: int | None = self.task.get("tolerated_ms")
        if tolerated is not None:
            self._link.watches[world.id] = Watch(one, self._books_now, tolerated)

    def _sections(self, item: pytest.Item) -> Iterator[tuple[str, str]]:
        return iter(())

    def _books_now(self) -> list[Document] | None:
        """Return the integrator's books while the test is still running, or None if they cannot be read yet."""
        rows: list[Document] | None = books_of(self._hooks(), [variables(self._first)], must_work=False).get("books")
        return rows

    def _hooks(self) -> Hooks:
        settle, books, quiesce = map(self._hook, ("settle", "books", "quiesce"))
        return Hooks(settle, books, here=True, mode=self.task["mode"], quiesce=quiesce)

    def follow(self, environment: Mapping[str, str]) -> JsonObject:
        """Collect the results of a test (such as its history) from those of its worlds that still exist."""
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
        self.work.add_to(found)
        return found

    def _drain(self, seconds: float) -> bool:
        """Wait until no delivery to the test's worlds is in flight. Return False if that takes longer."""
        try:
            for one in list(self.armed):
                self._link.control("POST", "/settle", {}, world=one.world.id, timeout_seconds=seconds)
        except SimulatorError:
            return False
        return True

    def after_death(self) -> None:
        """After a crash, roll back uncommitted writes, and call the suite's hook that recreates the application."""
        if self.work.bury():
            self._item.ihook.pytest_rampsim_restart(item=self._item)

    def _hook(self, name: str) -> str | Callable[[], object] | None:
        """Return a hook of the integrator: a command from an option, a function from a conftest.py, or None."""
        given: str | None = self.task[name]
        if given is not None:
            return given
        hook = getattr(self._item.ihook, f"pytest_rampsim_{name}")
        world = {} if name == "quiesce" else {"world": self._first}
        return partial(hook, item=self._item, **world) if hook.get_hookimpls() else None

    def end(self) -> None:
        for one in self.armed:
            self._open.pop(one.world.id, None)
            one.world.outlives = False
            with suppress(SimulatorError):
                one.world.delete()
