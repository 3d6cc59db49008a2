"""The connection of a run's worlds to their server."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from simulator.exploration.runs.armed import SCENARIO, ArmedWorld, beginning
from simulator.exploration.runs.during import Watch
from simulator.exploration.runs.tasks import Document
from simulator.testing.errors import ActionRefused
from simulator.testing.links.http_link import HttpLink


class ArmedLink(HttpLink):
    """A connection to a server that can replace a test's action with another outside event."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self.armed: dict[str, ArmedWorld] = {}
        self.watches: dict[str, Watch] = {}
        """The worlds whose books are read during the test."""
        self.plan: Document | None = None
        self.before_control: Callable[[str], bool] = lambda path: True
        """Called with the path of each control call. Returns False if the call must not be made."""

    def control(self, method: str, path: str, body: Any = None, *, world: str | None = None, **more: Any) -> Any:
        if not self.before_control(path):
            return {"deliveries": 0}
        if (method, path) == ("POST", "/worlds"):
            return super().control(method, path, beginning(self.plan, body or {}), world=world, **more)
        watch = self.watches.get(world or "")
        if watch is not None and (method, path) == ("POST", "/clock/advance"):
            once = super().control
            return watch.advance(lambda given: once(method, path, given, world=world, **more), body or {})
        armed = self.armed.get(world or "")
        if armed is not None and isinstance(body, Mapping):
            if (method, path) == ("PUT", "/scenarios/active") and armed.plan.get("rules"):
                body = {"names": [*(name for name in body["names"] if name != SCENARIO), SCENARIO]}
            target = body.get("target")
            steps = armed.instead_of(path.removeprefix("/actions/"), target) if method == "POST" else None
            if steps is not None:
                return self._done_instead(path, target, steps, world, **more)
        return super().control(method, path, body, world=world, **more)

    def _done_instead(self, path: str, target: Any, steps: Any, world: str | None, **more: Any) -> Any:
        answer = None
        for step in steps:
            parameters = {name: value for name, value in step.items() if name != "action"}
            asked = {"target": target, **parameters}
            try:
                answer = super().control("POST", f"/actions/{step['action']}", asked, world=world, **more)
            except ActionRefused:
                if answer is None:
                    raise  # the requested action is illegal; an illegal later step is skipped, as in a scenario
        if answer is None:
            story = super().control("GET", f"/resources/{target}", world=world)
            now = super().control("GET", "/clock", world=world)["now"]
            name = path.removeprefix("/actions/")
            answer = {"action": name, "target": target, "at": now, "resource": story["resource"], "events": []}
        return answer
